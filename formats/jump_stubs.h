/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jump_stubs.h - code that a linker makes to jump where a word says
 *
 * Calls of functions of other files, and of those that a program chooses when
 * it starts, go through such code, one piece for each.  The word, its slot, is
 * what a loader fills in.
 *
 * Source: System V ABI, AMD64 and Intel386 supplements, "Procedure Linkage
 * Table"; those of AArch64 and of Arm; what GNU ld and lld make, with and
 * without marks of branches.
 */
#ifndef CPREC_FORMATS_JUMP_STUBS_H
#define CPREC_FORMATS_JUMP_STUBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JUMP_STUB_MOST 20u	/* bytes that are looked at */

struct jump_stub {
	const uint8_t *code;
	size_t size;		/* bytes that are there */
	uint64_t addr;		/* where it is */
	uint64_t table;		/* where slots are that code finds by a
				   register; 0: not known */
};

/*
 * Where the slot is.  False if it is no such code, or this build does not know
 * the architecture.
 */
bool jump_stub_slot(unsigned arch, const struct jump_stub *stub,
		    uint64_t *out);

#endif
