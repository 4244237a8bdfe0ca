/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ordered_arm64.c - loads that acquire and stores that release must be aligned
 *
 * As exclusive ones must, which the engine checks by itself.  It is asked to
 * check these, too, when it generates their accesses.
 *
 * Source: Arm Architecture Reference Manual, B2.5.2 (alignment); C4.1.94, for
 * the encodings.
 */
#include "vm/engine/build/disguise.h"
#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/* Of an access of the engine's: as aligned as it is large (QEMU: MO_ALIGN). */
#define ALIGNED 0x70u

/* The word that is being translated, on this thread. */
static _Thread_local uint32_t word;

typedef uint32_t fetch_fn(void *state, uint64_t addr);
REPLACES(fetch_fn, cpu_ldl_code_aarch64);
uint32_t cpu_ldl_code_aarch64(void *state, uint64_t addr)
{
	if (!disguise_is_at(addr, &word, sizeof(word)))
		word = engine_cpu_ldl_code_aarch64(state, addr);
	return word;
}

/* LDAR, STLR, LDLAR, STLLR, of all sizes. */
static bool is_ordered(void)
{
	return (word & 0x3fa00000) == 0x08800000;
}

unsigned ordered_access(unsigned access)
{
	return is_ordered() ? access | ALIGNED : access;
}
