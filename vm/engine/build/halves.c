/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * halves.c - registers whose upper half an instruction leaves alone
 *
 * A write to 32 bits of a register clears the other 32; but what does not write
 * at all leaves them alone: the accumulator behind CMPXCHG that has exchanged,
 * its other register behind one that has not, and BSF or BSR of zero.  The
 * engine writes all the same.  The functions by which it makes its translation
 * of these instructions are defined here, too: each is recognized by the calls
 * that it consists of, and the last, the write, becomes a conditional one.
 *
 * Source: Intel 64 SDM volume 1, 3.4.1.1; volume 2, CMPXCHG, BSF, BSR.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "formats/region.h"
#include "vm/engine/build/disguise.h"
#include "vm/engine/build/generate.h"
#include "vm/engine/build/replaces.h"

/* Of the engine: equal; the size of a memory access, 32 bits. */
#define COND_EQUAL 8
#define ACCESS_SIZE 3u
#define ACCESS_32 2u

typedef void extend_fn(void *context, name to, name from);
typedef void move_if_fn(void *context, int condition, name to, name left,
			name right, name if_true, name if_false);
typedef void exchange_fn(void *context, name old, name addr, name expected,
			 name new, uintptr_t index, unsigned access);
typedef void count_fn(void *context, name to, name from, name if_zero);

/* What the next extension of 32 bits is. */
enum awaited {
	AWAITED_NOTHING,
	AWAITED_ACCUMULATOR,	/* of CMPXCHG, written with the old value */
	AWAITED_REGISTER,	/* of CMPXCHG, with the new one */
	AWAITED_COUNT,		/* of BSF or BSR */
};

static _Thread_local struct {
	enum awaited awaited;
	bool in_memory;		/* CMPXCHG's other operand */
	name old, expected, new;
	name count;
	name extended[2];	/* in place, the newest first */
} seen;

/*
 * Each instruction begins with a byte that is fetched; its operations follow.
 */
typedef uint32_t fetch_fn(void *state, uint64_t addr);
REPLACES(fetch_fn, cpu_ldub_code_x86_64);
uint32_t cpu_ldub_code_x86_64(void *state, uint64_t addr)
{
	uint8_t other;

	memset(&seen, 0, sizeof(seen));
	if (disguise_waits(addr)) {
		engine_cpu_ldub_code_x86_64(state,
					    (addr | (GUEST_PAGE - 1)) + 1);
		disguise_settle();
	}
	if (disguise_is_at(addr, &other, sizeof(other)))
		return other;
	return engine_cpu_ldub_code_x86_64(state, addr);
}

REPLACES(extend_fn, tcg_gen_ext32u_i64_x86_64);
REPLACES(move_if_fn, tcg_gen_movcond_i64_x86_64);

static void extend(void *context, name to, name from)
{
	engine_tcg_gen_ext32u_i64_x86_64(context, to, from);
}

static void move_if_equal(void *context, name to, name left, name right,
			  name if_equal, name if_not)
{
	engine_tcg_gen_movcond_i64_x86_64(context, COND_EQUAL, to, left, right,
					  if_equal, if_not);
}

/* Whether the write has been made conditional. */
static bool write_if_needed(void *context, name to, name from,
			    enum awaited awaited)
{
	if (awaited == AWAITED_ACCUMULATOR && from == seen.old) {
		extend(context, seen.expected, seen.expected);
		move_if_equal(context, to, seen.old, seen.expected, to,
			      seen.old);
		seen.awaited = seen.in_memory ? AWAITED_NOTHING :
						AWAITED_REGISTER;
		return true;
	}
	if (awaited == AWAITED_REGISTER && from == seen.new) {
		extend(context, seen.new, seen.new);
		move_if_equal(context, to, seen.old, seen.expected, seen.new,
			      to);
		return true;
	}
	if (awaited == AWAITED_COUNT && from == seen.count) {
		/* All of it: a number below 32, or the register as it was. */
		move_if_equal(context, to, from, from, from, from);
		return true;
	}
	return false;
}

void tcg_gen_ext32u_i64_x86_64(void *context, name to, name from)
{
	enum awaited awaited = seen.awaited;

	seen.awaited = AWAITED_NOTHING;
	if (awaited != AWAITED_NOTHING &&
	    write_if_needed(context, to, from, awaited))
		return;
	seen.extended[1] = to == from ? seen.extended[0] : 0;
	seen.extended[0] = to == from ? to : 0;
	extend(context, to, from);
}

REPLACES(exchange_fn, tcg_gen_atomic_cmpxchg_i64_x86_64);
void tcg_gen_atomic_cmpxchg_i64_x86_64(void *context, name old, name addr,
				       name expected, name new,
				       uintptr_t index, unsigned access)
{
	engine_tcg_gen_atomic_cmpxchg_i64_x86_64(context, old, addr, expected,
						 new, index, access);
	seen.awaited = AWAITED_NOTHING;
	if ((access & ACCESS_SIZE) != ACCESS_32)
		return;
	seen.awaited = AWAITED_ACCUMULATOR;
	seen.in_memory = true;
	seen.old = old;
	seen.expected = expected;
}

/* Without LOCK: both compared values are first extended in place. */
void tcg_gen_movcond_i64_x86_64(void *context, int condition, name to,
				name left, name right, name if_true,
				name if_false)
{
	engine_tcg_gen_movcond_i64_x86_64(context, condition, to, left, right,
					  if_true, if_false);
	seen.awaited = AWAITED_NOTHING;
	if (condition != COND_EQUAL || to != if_true ||
	    left != if_false || seen.extended[1] != left ||
	    seen.extended[0] != right)
		return;
	seen.awaited = AWAITED_ACCUMULATOR;
	seen.in_memory = false;
	seen.old = left;
	seen.expected = right;
	seen.new = to;
}

void halves_note_store(void)
{
	seen.in_memory = true;
}

/* Of 32 bits: it is extended before. */
#define DEFINE_COUNT(name_)                                                    \
	REPLACES(count_fn, name_);                                             \
	void name_(void *context, name to, name from, name if_zero)            \
	{                                                                      \
		engine_##name_(context, to, from, if_zero);          \
		seen.awaited = seen.extended[0] == from ?       \
				       AWAITED_COUNT : AWAITED_NOTHING;        \
		seen.count = to;                                               \
	}

DEFINE_COUNT(tcg_gen_ctz_i64_x86_64)
DEFINE_COUNT(tcg_gen_clz_i64_x86_64)
