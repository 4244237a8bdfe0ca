/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact.h - floating point computed by the host's processor
 *
 * The engine computes each instruction of floating point by a function of its
 * own, which translated code calls; functions of ours replace them.  The host computes
 * addition, multiplication, comparisons and conversions as every processor of
 * this kind must, down to flags and NaNs, so they are done with its own
 * instructions.  What is left to the maker of a processor is not.
 *
 * The functions get the engine's state, which begins with RAX, and find in it
 * what they need by offsets.
 */
#ifndef CPREC_VM_ENGINE_BUILD_EXACT_H
#define CPREC_VM_ENGINE_BUILD_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <unicorn/unicorn.h>

struct vm;

/*
 * A function of the engine's that is defined here in its place; its own can be
 * called as engine_NAME.  It stands in vm/engine/build/manifest.inc.
 */
#define REPLACES(type, name)                                                   \
	type name;                                                             \
	extern type engine_##name

/* The first offset, above `behind`, that a register's value changes; or 0. */
size_t exact_offset(struct vm *vm, uc_x86_reg reg, uint64_t value,
		    size_t behind);

/*
 * Comparisons set all the flags that arithmetic sets: ZF, PF and CF to this, the
 * others to 0.  The engine computes them from what it keeps there.
 */
#define EXACT_CONDITIONS 0x45u
extern size_t exact_conditions;

static inline void exact_put_conditions(uint8_t *state, uint64_t flags)
{
	flags &= EXACT_CONDITIONS;
	memcpy(state + exact_conditions, &flags, sizeof(flags));
}

/* Its parts, sse.c and x87.c. */
bool sse_find(struct vm *vm);
bool x87_find(struct vm *vm);
void x87_run(void);

/* halves.c: nothing has been translated yet. */
void halves_start(void);

/* Flags of exceptions, in MXCSR as in the status word of x87. */
enum {
	RAISED_INVALID = 1, RAISED_DENORMAL = 2, RAISED_DIVIDED = 4,
	RAISED_OVERFLOW = 8, RAISED_UNDERFLOW = 16, RAISED_INEXACT = 32,
	RAISED_ALL = 63,
};

#endif
