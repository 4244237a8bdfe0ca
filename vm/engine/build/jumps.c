/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jumps.c - where indirect jumps go
 *
 * After each return, indirect call and indirect jump, translated code asks the
 * engine for the translation at the new address.  The engine's answer reads
 * three places of memory that are seldom in the caches: measured, a quarter of
 * the time of a large program.  The function that it calls is replaced here, of
 * each architecture: helper_lookup_tb_ptr() answers from one place, and asks the
 * engine's own only for what is not there.
 *
 * Two addresses that are used in turn may have the same place there.  So an
 * answer that gives way to another goes to a second table, which is read before
 * the engine is asked.
 *
 * An answer holds as long as the engine's own short cuts would: until a
 * translation or a page of the TLB is dropped.  The functions that do so are
 * replaced, too, only to note it.
 *
 * Some of the addresses that are not there are counted: about how many
 * different ones the program goes to, and so how much of its code it executes.
 */
#include <string.h>

#include "vm/engine/build/jumps.h"
#include "vm/engine/build/layout.h"
#include "vm/engine/build/replaces.h"

/* What an empty entry has: so it is right to go there from address 0. */
#define JUMPS_NOTHING ((const void *)(uintptr_t)jumps_ask)

#define REPLACED_SHIFT 48	/* of the hash of an address */
_Static_assert(REPLACED_JUMPS == 1 << (64 - REPLACED_SHIFT), "by the hash");

#define COUNTED_SHARE 8		/* one of so many */
#define SHARE_SHIFT 32		/* of the hash of an address */
#define TARGET_SHIFT 47		/* leaves the number of a bit */

static inline struct known_jump *known_place(struct jumps *jumps, uint64_t pc)
{
	return &jumps->known[(pc ^ pc >> JUMPS_FOLD) % KNOWN_JUMPS];
}

void jumps_begin(struct jumps *jumps)
{
	for (uint32_t i = 0; i < KNOWN_JUMPS; i++)
		jumps->known[i] = (struct known_jump){ .code = JUMPS_NOTHING };
}

void jumps_forget(struct jumps *jumps)
{
	for (uint32_t i = 0; i < jumps->use_count; i++)
		jumps->known[jumps->in_use[i]] =
			(struct known_jump){ .code = JUMPS_NOTHING };
	jumps->use_count = 0;
	jumps->age++;
}

void jumps_move(struct jumps *jumps, uint64_t pc, const void *from,
		const void *to)
{
	struct known_jump *known = known_place(jumps, pc);

	if (known->pc == pc && known->code == from)
		known->code = to;
}

uint64_t engine_jumps_missed(const struct engine *engine)
{
	return engine->jumps.missed;
}

const uint8_t *engine_way_out(const struct engine *engine)
{
	return engine->jumps.way_out;
}

static uint64_t hash(uint64_t pc)
{
	return pc * UINT64_C(0x9e3779b97f4a7c15);
}

/*
 * Whether an address is of those that are counted, which have to be forgotten
 * for that: a share of them, another one each time, is enough.
 */
static bool is_counted(const struct jumps *jumps, uint64_t pc)
{
	return (hash(pc) >> SHARE_SHIFT) % COUNTED_SHARE ==
	       jumps->counts % COUNTED_SHARE;
}

void engine_count_targets(struct engine *engine)
{
	struct jumps *jumps = &engine->jumps;
	uint32_t left = 0;

	jumps->counts++;
	for (uint32_t i = 0; i < jumps->use_count; i++) {
		uint32_t place = jumps->in_use[i];

		if (is_counted(jumps, jumps->known[place].pc))
			jumps->known[place].code = JUMPS_NOTHING;
		else
			jumps->in_use[left++] = place;
	}
	jumps->use_count = left;
	memset(jumps->targets, 0, sizeof(jumps->targets));
	jumps->target_count = 0;
}

uint32_t engine_targets(const struct engine *engine)
{
	return engine->jumps.target_count * COUNTED_SHARE;
}

static struct replaced_jump *replaced_place(struct jumps *jumps, uint64_t pc)
{
	return &jumps->replaced[hash(pc) >> REPLACED_SHIFT];
}

static void remember(struct jumps *jumps, uint64_t pc, const void *code)
{
	struct known_jump *known = known_place(jumps, pc);

	if (known->code == JUMPS_NOTHING)
		jumps->in_use[jumps->use_count++] =
			(uint32_t)(known - jumps->known);
	else
		*replaced_place(jumps, known->pc) =
			(struct replaced_jump){ *known, jumps->age };
	*known = (struct known_jump){ .pc = pc, .code = code };
}

static void note_target(struct jumps *jumps, uint64_t pc)
{
	uint64_t bit = hash(pc) >> TARGET_SHIFT;
	uint64_t *word = &jumps->targets[bit / 64];
	uint64_t mask = UINT64_C(1) << bit % 64;

	if (!is_counted(jumps, pc))
		return;
	jumps->target_count += !(*word & mask);
	*word |= mask;
}

/* ------- what the engine calls ------- */

typedef void *lookup_fn(void *state);

static void *ask(struct jumps *jumps, void *state, lookup_fn *engines_own)
{
	jumps->missed++;
	return engines_own(state);
}

/* `alone`: it is the only translation of that address. */
__attribute__((noinline)) static void *look_up(struct jumps *jumps, void *state,
					       uint64_t pc, bool alone,
					       lookup_fn *engines_own)
{
	const struct replaced_jump *was = replaced_place(jumps, pc);
	uint8_t *code;

	if (!jumps->are_ours)
		return ask(jumps, state, engines_own);
	note_target(jumps, pc);
	if (alone && was->jump.pc == pc && was->jump.code &&
	    was->age == jumps->age) {
		code = (void *)(uintptr_t)was->jump.code;
		remember(jumps, pc, code);
		return code;
	}
	code = ask(jumps, state, engines_own);
	if (!jumps->way_out || code <= jumps->way_out)
		jumps->way_out = code;
	else if (alone)
		remember(jumps, pc, code);
	return code;
}

static inline void *answer(struct jumps *jumps, void *state, uint64_t pc,
			   bool alone, lookup_fn *engines_own)
{
	const struct known_jump *known = known_place(jumps, pc);

	if (known->pc == pc && known->code != JUMPS_NOTHING && alone)
		return (void *)(uintptr_t)known->code;
	return look_up(jumps, state, pc, alone, engines_own);
}

/* Flags that choose among translations of one address: TF, IOPL, RF, VM, AC. */
#define FLAGS_THAT_MATTER 0x73100u

static uint32_t flags_of(const uint8_t *state)
{
	uint32_t flags;

	memcpy(&flags, state + layout.flags, sizeof(flags));
	return flags & FLAGS_THAT_MATTER;
}

bool jumps_are_plain(const struct engine *engine)
{
	return !flags_of(engine->state);
}

REPLACES(lookup_fn, helper_lookup_tb_ptr_x86_64);
void *helper_lookup_tb_ptr_x86_64(void *state)
{
	uint64_t pc;

	memcpy(&pc, (const uint8_t *)state + layout.pc, sizeof(pc));
	return answer(&engine_back()->jumps, state, pc, !flags_of(state),
		      engine_helper_lookup_tb_ptr_x86_64);
}

/* Nothing that chooses among translations can be changed at EL0. */
REPLACES(lookup_fn, helper_lookup_tb_ptr_aarch64);
void *helper_lookup_tb_ptr_aarch64(void *state)
{
	struct engine *engine = engine_back();

	return answer(&engine->jumps, state, *engine->arm.pc, true,
		      engine_helper_lookup_tb_ptr_aarch64);
}

/* What chooses among translations of an address, T and IT of CPSR for one. */
extern void cpu_get_tb_cpu_state_arm(void *state, uint32_t *pc,
				     uint32_t *other, uint32_t *flags);

uint32_t jumps_flags_arm(void *state)
{
	uint32_t pc, other, flags;

	cpu_get_tb_cpu_state_arm(state, &pc, &other, &flags);
	return flags;
}

REPLACES(lookup_fn, helper_lookup_tb_ptr_arm);
void *helper_lookup_tb_ptr_arm(void *state)
{
	uint32_t pc, other, flags;

	cpu_get_tb_cpu_state_arm(state, &pc, &other, &flags);
	return answer(&engine_back()->jumps, state,
		      (uint64_t)(flags & ~FLAGS_THUMB_ARM) << FLAGS_AT_ARM |
			      pc | !!(flags & FLAGS_THUMB_ARM),
		      true, engine_helper_lookup_tb_ptr_arm);
}

/*
 * Translated code calls functions at any time, so its stack is as it must be
 * for a call.
 */
static __attribute__((used)) void *jumps_look_up(void)
{
	struct engine *engine = engine_back();

	return engine->kind->generator == &generator_x86 ?
		       helper_lookup_tb_ptr_x86_64(engine->state) :
	       engine->kind->generator == &generator_arm64 ?
		       helper_lookup_tb_ptr_aarch64(engine->state) :
		       helper_lookup_tb_ptr_arm(engine->state);
}

__asm__(".pushsection .text\n"
	".globl jumps_ask\n"
	".type jumps_ask, @function\n"
	"jumps_ask:\n\t"
	"call jumps_look_up\n\t"
	"jmp *%rax\n"
	".size jumps_ask, . - jumps_ask\n"
	".popsection");

/* ------- what ends an answer ------- */

/*
 * Code that is executing drops its own engine's translations; who calls an
 * engine from outside, those of the engine that was entered.
 */
static void forget(void)
{
	if (engine_entered && !engine_entered->jumps.stay)
		jumps_forget(&engine_entered->jumps);
	if (engine_executing && engine_executing != engine_entered)
		jumps_forget(&engine_executing->jumps);
}

/*
 * The engine's function of this name, whatever its arguments: as many of them
 * as go into registers are passed on.
 */
typedef uintptr_t any_fn(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
			 uintptr_t);

#define FORGETS_IN(name)                                                       \
	REPLACES(any_fn, name);                                                \
	uintptr_t name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,     \
		       uintptr_t e, uintptr_t f)                               \
	{                                                                      \
		forget();                                                      \
		return engine_##name(a, b, c, d, e, f);                        \
	}
#define FORGETS(name)                                                          \
	FORGETS_IN(name##_x86_64)                                              \
	FORGETS_IN(name##_aarch64)                                             \
	FORGETS_IN(name##_arm)

/*
 * Whatever drops a translation takes it out of the engine's table of them.  A
 * store into a page that has some mostly drops none.
 */
FORGETS_IN(qht_remove)
FORGETS(tb_flush)
FORGETS(tb_flush_jmp_cache)
FORGETS(tlb_flush)
FORGETS(tlb_flush_by_mmuidx)
FORGETS(tlb_flush_page)
FORGETS(tlb_flush_page_by_mmuidx)
