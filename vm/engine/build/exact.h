/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact.h - floating point computed by the host's processor
 *
 * The engine computes each instruction of floating point by a function of its
 * own, which translated code calls; functions of ours replace them.  The host
 * computes addition, multiplication, comparisons and conversions as every
 * processor of this kind must, down to flags and NaNs, so they are done with
 * its own instructions.  What is left to the maker of a processor is not.
 */
#ifndef CPREC_VM_ENGINE_BUILD_EXACT_H
#define CPREC_VM_ENGINE_BUILD_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vm/engine/build/layout.h"
#include "vm/engine/build/replaces.h"

/*
 * Comparisons set all the flags that arithmetic sets: ZF, PF and CF to this,
 * the others to 0.  The engine computes them from what it keeps there.
 */
#define EXACT_CONDITIONS 0x45u

static inline void exact_put_conditions(uint8_t *state, uint64_t flags)
{
	flags &= EXACT_CONDITIONS;
	memcpy(state + layout.conditions, &flags, sizeof(flags));
}

/* Flags of exceptions, in MXCSR as in the status word of x87. */
enum {
	RAISED_INVALID = 1, RAISED_DENORMAL = 2, RAISED_DIVIDED = 4,
	RAISED_OVERFLOW = 8, RAISED_UNDERFLOW = 16, RAISED_INEXACT = 32,
	RAISED_ALL = 63,
};

#endif
