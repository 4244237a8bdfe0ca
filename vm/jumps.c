/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jumps.c - where indirect jumps go
 *
 * After each return, indirect call and indirect jump, translated code asks the
 * engine for the translation at the new address.  The engine's answer takes
 * three places of memory that are seldom near, and every fourth nanosecond of
 * a large program.  The engine is a shared library, so what it calls by name
 * can be defined here, as with malloc(): helper_lookup_tb_ptr_x86_64() answers
 * from one place, and asks the engine's own only for what is not there.
 *
 * An answer holds as long as the engine's own short cuts would: until a
 * translation or a page of the TLB is dropped.  The functions that do so are
 * defined here too, only to note it.
 *
 * What is not there is also the place to count to how many addresses the program
 * goes, about: how much of its code it executes.
 *
 * If the engine's state is not laid out as found out at the start, or the
 * engine is linked so that it keeps to its own functions, all stays as it is.
 */
#include "vm/vm_internal.h"

#ifdef __x86_64__

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "vm/x86_exact.h"

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
	size_t pc_at, flags_at;	/* places in it; 0: not known */
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
void jumps_start(struct vm *vm)
{
	size_t first = x86_changed_by(vm, UC_X86_REG_RAX, 1);
	size_t pc = x86_changed_by(vm, UC_X86_REG_RIP, 1);
	size_t flags = x86_changed_by(vm, UC_X86_REG_RFLAGS, 2 | FLAG_TRAP);

	jumps_forget();
	jumps.state = NULL;
	jumps.pc_at = jumps.flags_at = 0;
	if (!first || pc <= first || flags <= first || getenv("CPREC_NO_JUMPS"))
		return;
	jumps.pc_at = pc - first;
	jumps.flags_at = flags - 1 - first;	/* TF is in the second byte */
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
	static lookup_fn *original;
	uint8_t *code;

	if (!original)
		original = (lookup_fn *)engine_function("helper_lookup_tb_ptr_x86_64");
	jumps.missed++;
	code = original(state);
	if (!jumps.pc_at)
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

void *helper_lookup_tb_ptr_x86_64(void *state);
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
#define FORGETS(name)                                                          \
	uintptr_t name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,     \
		       uintptr_t e, uintptr_t f);                              \
	uintptr_t name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,     \
		       uintptr_t e, uintptr_t f)                               \
	{                                                                      \
		typedef uintptr_t fn(uintptr_t, uintptr_t, uintptr_t,          \
				     uintptr_t, uintptr_t, uintptr_t);         \
		static fn *original;                                           \
									       \
		if (!original)                                                 \
			original = (fn *)engine_function(#name);                       \
		jumps_forget();                                                \
		return original(a, b, c, d, e, f);                             \
	}

FORGETS(tb_check_watchpoint_x86_64)
FORGETS(tb_flush_x86_64)
FORGETS(tb_flush_jmp_cache_x86_64)
FORGETS(tb_invalidate_phys_addr_x86_64)
FORGETS(tb_invalidate_phys_page_fast_x86_64)
FORGETS(tb_invalidate_phys_page_range_x86_64)
FORGETS(tb_invalidate_phys_range_x86_64)
FORGETS(tb_phys_invalidate_x86_64)
FORGETS(tlb_flush_x86_64)
FORGETS(tlb_flush_by_mmuidx_x86_64)
FORGETS(tlb_flush_page_x86_64)
FORGETS(tlb_flush_page_by_mmuidx_x86_64)

#else

void jumps_start(struct vm *vm)
{
	(void)vm;
}

void jumps_forget(void)
{
}

uint64_t jumps_missed(void)
{
	return 0;
}

void vm_count_targets(struct vm *vm)
{
	(void)vm;
}

uint32_t vm_targets(const struct vm *vm)
{
	(void)vm;
	return 0;
}

#endif
