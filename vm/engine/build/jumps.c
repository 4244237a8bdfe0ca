/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jumps.c - where indirect jumps go
 *
 * After each return, indirect call and indirect jump, translated code asks the
 * engine for the translation at the new address.  The engine's answer takes
 * three places of memory that are seldom near, and every fourth nanosecond of
 * a large program.  The function that it calls is replaced here:
 * helper_lookup_tb_ptr_x86_64() answers from one place, and asks the engine's
 * own only for what is not there.
 *
 * An answer holds as long as the engine's own short cuts would: until a
 * translation or a page of the TLB is dropped.  The functions that do so are
 * replaced, too, only to note it.
 *
 * What is not there is also the place to count to how many addresses the program
 * goes, about: how much of its code it executes.
 */
#include "vm/vm_internal.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "vm/engine/build/exact.h"

#define KNOWN_JUMPS 16384
#define TARGET_BITS (1u << 17)
#define TARGET_SHIFT 47		/* leaves the number of one */
#define AGE_SHIFT 48
#define AGE_MOST 0xffffu

/* Flags that choose among translations of one address: TF, IOPL, RF, VM, AC. */
#define FLAGS_THAT_MATTER 0x73100u
#define FLAG_TRAP 0x100u

struct known_jump {
	uint64_t pc;
	uint64_t code;		/* host address, and above it the age */
};

static struct {
	const uint8_t *state;	/* of the engine that the jumps are of */
	size_t pc_at, flags_at;	/* places in it */
	bool are_ours;		/* not so with CPREC_NO_JUMPS */
	uint64_t age;
	/* Where translated code goes back to the engine: what it answers if
	 * there is no translation; in front of them all. */
	const uint8_t *way_out;
	uint64_t missed;
	struct known_jump known[KNOWN_JUMPS];
	/* Where jumps went since vm_count_targets(): one bit for each address,
	 * by its hash. */
	uint64_t targets[TARGET_BITS / 64];
	uint32_t target_count;
} jumps;

typedef void *lookup_fn(void *state);
REPLACES(lookup_fn, helper_lookup_tb_ptr_x86_64);

void jumps_forget(void)
{
	if (++jumps.age <= AGE_MOST)
		return;
	memset(jumps.known, 0, sizeof(jumps.known));
	jumps.age = 1;
}

uint64_t jumps_missed(void)
{
	return jumps.missed;
}

void vm_count_targets(struct vm *vm)
{
	(void)vm;
	jumps_forget();
	memset(jumps.targets, 0, sizeof(jumps.targets));
	jumps.target_count = 0;
}

uint32_t vm_targets(const struct vm *vm)
{
	(void)vm;
	return jumps.target_count;
}

static void note_target(uint64_t pc)
{
	uint64_t bit = pc * UINT64_C(0x9e3779b97f4a7c15) >> TARGET_SHIFT;
	uint64_t *word = &jumps.targets[bit / 64];
	uint64_t mask = UINT64_C(1) << bit % 64;

	jumps.target_count += !(*word & mask);
	*word |= mask;
}

/* ------- the layout of the engine's state ------- */

/* The engine's state begins with RAX. */
bool jumps_find(struct vm *vm)
{
	size_t first = x86_changed_by(vm, UC_X86_REG_RAX, 1);
	size_t pc = x86_changed_by(vm, UC_X86_REG_RIP, 1);
	size_t flags = x86_changed_by(vm, UC_X86_REG_RFLAGS, 2 | FLAG_TRAP);

	jumps_forget();
	jumps.state = NULL;
	jumps.are_ours = !getenv("CPREC_NO_JUMPS");
	if (!first || pc <= first || flags <= first)
		return false;
	jumps.pc_at = pc - first;
	jumps.flags_at = flags - 1 - first;	/* TF is in the second byte */
	return true;
}

/* ------- what the engine calls ------- */

static uint32_t flags_of(const uint8_t *state)
{
	uint32_t flags;

	memcpy(&flags, state + jumps.flags_at, sizeof(flags));
	return flags & FLAGS_THAT_MATTER;
}

__attribute__((noinline)) static void *
look_up(void *state, uint64_t pc, struct known_jump *known)
{
	uint8_t *code = engine_helper_lookup_tb_ptr_x86_64(state);

	jumps.missed++;
	if (!jumps.are_ours)
		return code;
	note_target(pc);
	if (jumps.state != state) {
		jumps_forget();
		jumps.state = state;
		jumps.way_out = code;
	}
	if (code <= jumps.way_out)
		jumps.way_out = code;
	else if (!flags_of(state))
		*known = (struct known_jump){
			.pc = pc,
			.code = (uintptr_t)code | jumps.age << AGE_SHIFT,
		};
	return code;
}

void *helper_lookup_tb_ptr_x86_64(void *state)
{
	struct known_jump *known;
	uint64_t pc;

	memcpy(&pc, (const uint8_t *)state + jumps.pc_at, sizeof(pc));
	known = &jumps.known[(pc ^ pc >> 14) % KNOWN_JUMPS];
	if (known->pc == pc && known->code >> AGE_SHIFT == jumps.age &&
	    jumps.state == state && !flags_of(state))
		return (void *)(uintptr_t)(known->code &
					   ((UINT64_C(1) << AGE_SHIFT) - 1));
	return look_up(state, pc, known);
}

/*
 * The engine's function of this name, whatever its arguments: as many of them
 * as go into registers are passed on.
 */
typedef uintptr_t any_fn(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
			 uintptr_t);

#define FORGETS(name)                                                          \
	REPLACES(any_fn, name);                                                \
	uintptr_t name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,     \
		       uintptr_t e, uintptr_t f)                               \
	{                                                                      \
		jumps_forget();                                                \
		return engine_##name(a, b, c, d, e, f);                        \
	}

FORGETS(tb_flush_x86_64)
FORGETS(tb_flush_jmp_cache_x86_64)
FORGETS(tb_invalidate_phys_page_fast_x86_64)
FORGETS(tb_invalidate_phys_range_x86_64)
FORGETS(tb_phys_invalidate_x86_64)
FORGETS(tlb_flush_x86_64)
FORGETS(tlb_flush_by_mmuidx_x86_64)
FORGETS(tlb_flush_page_x86_64)
FORGETS(tlb_flush_page_by_mmuidx_x86_64)
