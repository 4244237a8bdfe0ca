/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aligned_arm.c - accesses of 32-bit ARM that must be aligned
 *
 * Exclusive ones must be, which the engine checks by itself.  So must those of
 * the registers of floating point, to words; and those of elements of vectors
 * as their instructions say.  The engine is asked to check these, too, when it
 * generates their accesses.
 *
 * Source: Arm Architecture Reference Manual for ARMv7-A, A3.2.1 (alignment);
 * A7.7 and A8.8.320 to 328, for what VLD1 and the like say.
 */
#include "vm/engine/build/disguise.h"
#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/* Of an access of the engine's: a logarithm (QEMU: MO_ASHIFT). */
#define ALIGNED(shift) ((shift) << 4)
#define ACCESS_SIZE 3u		/* the lowest bits: its logarithm */

/* The instruction that is being translated, on this thread. */
static _Thread_local struct {
	uint64_t addr;
	uint32_t word;
	bool is_half;		/* the second half follows */
	bool is_thumb;
	unsigned accesses;	/* that it has made */
} insn;

typedef uint32_t fetch_fn(void *state, uint32_t addr);

REPLACES(fetch_fn, cpu_ldl_code_arm);
uint32_t cpu_ldl_code_arm(void *state, uint32_t addr)
{
	if (!disguise_is_at(addr, &insn.word, sizeof(insn.word)))
		insn.word = engine_cpu_ldl_code_arm(state, addr);
	insn.is_half = insn.is_thumb = false;
	insn.accesses = 0;
	return insn.word;
}

/* It may look at the first half more than once. */
REPLACES(fetch_fn, cpu_lduw_code_arm);
uint32_t cpu_lduw_code_arm(void *state, uint32_t addr)
{
	uint16_t other;
	uint32_t half = disguise_is_at(addr, &other, sizeof(other)) ?
				other : engine_cpu_lduw_code_arm(state, addr);

	if (insn.is_half && addr == insn.addr + 2) {
		insn.word = insn.word << 16 | half;
		insn.is_half = false;
		return half;
	}
	insn.addr = addr;
	insn.word = half;
	insn.is_half = half >= 0xe800;
	insn.is_thumb = true;
	insn.accesses = 0;
	return half;
}

/* VLDR, VSTR, VLDM, VSTM. */
static bool is_of_floats(uint32_t word)
{
	if (insn.is_thumb)
		return (word & 0xfe000e00) == 0xec000a00;
	return (word & 0x0e000e00) == 0x0c000a00 && word >> 28 != 15;
}

static bool is_of_elements(uint32_t word)
{
	return (word & 0xff100000) == (insn.is_thumb ? 0xf9000000 : 0xf4000000);
}

/* One lane: the element's size and what stands behind its index. */
static unsigned lane_shift(unsigned count, unsigned size, unsigned bits)
{
	if (count == 1)
		return size == 1 ? bits & 1 : size == 2 && bits == 3 ? 2 : 0;
	if (count == 2)
		return bits & 1 ? size + 1 : 0;
	if (count == 3)
		return 0;
	if (size == 2)
		return bits ? bits + 2 : 0;
	return bits & 1 ? size + 2 : 0;
}

/* All lanes. */
static unsigned lanes_shift(unsigned count, unsigned size, unsigned bits)
{
	if (!(bits & 1) || count == 3)
		return 0;
	if (count == 4)
		return size == 0 ? 2 : size == 3 ? 4 : 3;
	return count == 2 ? size + 1 : size;
}

static unsigned element_shift(uint32_t word)
{
	unsigned count = (word >> 8 & 3) + 1, bits = word >> 4 & 3;

	if (!(word & 0x00800000))
		return bits ? bits + 2 : 0;
	return (word >> 10 & 3) == 3 ?
		       lanes_shift(count, word >> 6 & 3, bits) :
		       lane_shift(count, word >> 10 & 3, bits);
}

/*
 * ARMv7-M: whatever CCR says, LDM and STM, LDRD and STRD must be aligned to
 * words; with UNALIGN_TRP, all.
 */
static bool must_be_words(void)
{
	return engine_entered && engine_entered->kind == &engine_kind_cortex_m;
}

static bool must_all(void)
{
	return engine_entered && engine_entered->arm.align_all;
}

/* LDM, STM, PUSH, POP of 16 bits. */
static unsigned aligned_list(unsigned access)
{
	bool is_list = (insn.word & 0xf000) == 0xc000 ||
		       (insn.word & 0xf600) == 0xb400;

	return is_list ? access | ALIGNED(2u) : access;
}

/* LDM, STM, LDRD, STRD of 32 bits. */
static bool is_of_words(uint32_t word)
{
	return (word & 0xfe400000) == 0xe8000000 ||
	       (word & 0xff400000) == 0xe9400000 ||
	       (word & 0xff600000) == 0xe8600000;
}

/* Of elements the first access is at the address itself. */
unsigned aligned_access(unsigned access)
{
	bool is_first = !insn.accesses++;

	if (must_all())
		return access | ALIGNED(access & ACCESS_SIZE);
	if (insn.is_thumb && insn.word < 0x10000)
		return must_be_words() ? aligned_list(access) : access;
	if (must_be_words() && is_of_words(insn.word))
		return access | ALIGNED(2u);
	if (is_of_floats(insn.word))
		return access | ALIGNED(2u);
	if (is_first && is_of_elements(insn.word))
		return access | ALIGNED(element_shift(insn.word));
	return access;
}

/* LDRD. */
static bool is_pair(uint32_t word)
{
	if (insn.is_thumb)
		return (word & 0xfe500000) == 0xe8500000 && word & 0x01200000;
	return (word & 0x0e1000f0) == 0x000000d0 && word >> 28 != 15;
}

/* Thumb code has no offset in a register. */
static bool is_of_index(uint32_t word)
{
	return !insn.is_thumb && !(word & 0x00400000);
}

bool access_takes_base(void)
{
	uint32_t word = insn.word, loaded = word >> 12 & 15;

	return insn.accesses == 1 && is_pair(word) &&
	       (loaded == (word >> 16 & 15) ||
		(is_of_index(word) && loaded == (word & 15)));
}

/*
 * What is stored across a boundary, the engine stores byte by byte by this, and
 * asks each to be aligned.  `how` has the access, and below it four other bits.
 */
#define ACCESS_AT 4
#define SIZE_OF(how) ((how) >> ACCESS_AT & 3)

typedef void store_byte_fn(void *state, uint32_t addr, uint8_t byte,
			   uint32_t how, uintptr_t from);
REPLACES(store_byte_fn, helper_ret_stb_mmu_arm);
void helper_ret_stb_mmu_arm(void *state, uint32_t addr, uint8_t byte,
			    uint32_t how, uintptr_t from)
{
	access_note(from);
	if (SIZE_OF(how))
		how &= ~(ALIGNED(7u) << ACCESS_AT);
	engine_helper_ret_stb_mmu_arm(state, addr, byte, how, from);
}
