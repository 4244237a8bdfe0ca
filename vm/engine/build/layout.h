/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout.h - what lies where in the engine's state
 *
 * The functions that replace some of the engine's get its state, which begins
 * with RAX, and find in it what they need by these offsets.  They are the same
 * for all engines of a process, and are set before the first one runs.
 */
#ifndef CPREC_VM_ENGINE_BUILD_LAYOUT_H
#define CPREC_VM_ENGINE_BUILD_LAYOUT_H

#include <stddef.h>

struct layout {
	size_t pc, flags;	/* what jumps depend on */
	size_t conditions;	/* what flags of arithmetic are computed from */
	struct {
		size_t mxcsr, raised;
		size_t flush;	/* whether the unit flushes to zero */
	} sse;
	struct {
		size_t raised, flush;
		size_t top;	/* 4 bytes: which register is ST(0) */
		size_t status, control;	/* 2 bytes each; status without top */
		size_t empty;	/* a byte per register */
		size_t registers;	/* 16 bytes each */
	} x87;
};
extern struct layout layout;

#endif
