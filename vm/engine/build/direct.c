/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * direct.c - translated code that accesses memory without asking the TLB
 *
 * In place of the engine's operation for a load or a store, which looks its
 * address up, one is generated that it has for its own state: an instruction of
 * the host.  The arena begins at a constant of 31 bits, which is part of it.
 *
 * In place of an address of 2^46 or more it gets 2^46, where nothing is, so
 * whatever the guest takes for a pointer, it does not reach cprec's own memory:
 * that is above the arena, and there is nothing below it.  One that is not
 * aligned as the access says is made one of 2^47 or more, which no program can
 * have.  An address of 32 bits cannot be outside the arena.  One with a tag is
 * an address of 2^46 or more, too.
 *
 * Many addresses need no such check (proven.c).
 *
 * The host refuses what must not be accessed directly.  So that the guest's
 * registers are right then, the engine must have written them back in front of
 * the access, and must not leave out a load whose value nobody uses: its table
 * of operations gets to say that these have side effects.
 */
#include "vm/engine/build/direct.h"

#include <string.h>

#include "vm/engine/build/accesses.h"
#include "vm/engine/engine_internal.h"

#define LIMIT (UINT64_C(1) << ENGINE_DIRECT_BITS)

/* How many loads and stores there are, one behind the other. */
#define OPS_32 8u
#define OPS_64 11u

/* Of an access: bytes in another order, and how its address must be aligned:
 * to a power of two, or to its size. */
#define ACCESS_SIGNED 4u
#define ACCESS_SWAPPED 8u
#define ALIGNED_AT 4
#define ALIGNED_MOST 7u

#define HAS_SIDE_EFFECTS 8u

/* The context has the engine's address, behind that of the table. */
#define CONTEXT_WORDS 65536u

/* ------- the engine's table ------- */

static struct op_kind *find_table(const struct engine *engine,
				  void *const *context)
{
	for (size_t i = 1; i < CONTEXT_WORDS; i++)
		if (context[i] == engine->uc)
			return context[i - 1];
	return NULL;
}

static void mark(struct op_kind *first, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		first[i].flags |= HAS_SIDE_EFFECTS;
}

/* Whether all is as it should be; the first time, marks operations. */
static bool prepare(struct engine *engine, void *context)
{
	struct op_kind *table;

	if (engine->direct.context)
		return true;
	table = find_table(engine, context);
	if (!table || strcmp(table[OP_DISCARD].name, "discard") != 0 ||
	    strcmp(table[OP_LOADS_32].name, "ld8u_i32") != 0 ||
	    strcmp(table[OP_STORE_64].name, "st_i64") != 0) {
		engine->direct.is_on = false;
		return false;
	}
	mark(table + OP_LOADS_32, OPS_32);
	mark(table + OP_LOADS_64, OPS_64);
	engine->direct.context = context;
	engine->direct.kinds = table;
	return true;
}

static bool is_direct(void *context, unsigned access)
{
	struct engine *engine = engine_entered;

	return engine && engine->direct.is_on && !engine->direct.is_paused &&
	       !(access & ACCESS_SWAPPED) && prepare(engine, context);
}

/* ------- generating ------- */

/* The bits of an address that must be 0. */
static uint64_t misaligned_bits(unsigned access)
{
	unsigned bits = access >> ALIGNED_AT & ALIGNED_MOST;

	if (bits == ALIGNED_MOST)
		bits = access & ACCESS_SIZE;
	return (UINT64_C(1) << bits) - 1;
}

/* A value that is 2^46, until something else may be executed next. */
static uintptr_t limit(void *context)
{
	struct engine *engine = engine_entered;

	if (!engine->direct.limit) {
		engine->direct.limit = generate_value(context, TYPE_64);
		generate_op2(context, OP_CONSTANT, engine->direct.limit, LIMIT);
	}
	return engine->direct.limit;
}

void direct_forget(struct engine *engine, void *context)
{
	if (engine->direct.limit)
		generate_end(context, engine->direct.limit);
	engine->direct.limit = 0;
}

/* place |= misaligned bits << 47 */
static void generate_alignment(void *context, uintptr_t place,
			       uint64_t misaligned)
{
	uintptr_t bits = generate_value(context, TYPE_64);

	generate_with(generator_now(), context, OP_AND, bits, place,
		      misaligned);
	generate_with(generator_now(), context, OP_SHIFT_UP, bits, bits,
		      ENGINE_DIRECT_BITS + 1);
	generate_op3(context, OP_OR, place, place, bits);
	generate_end(context, bits);
}

static void generate_place(void *context, uintptr_t place, uintptr_t addr,
			   unsigned access)
{
	const struct engine_kind *kind = engine_entered->kind;
	uint64_t misaligned = misaligned_bits(access);

	if (kind->is_narrow)
		kind->generator->op2(context, OP_WIDEN, place, addr);
	else
		kind->generator->op6(context, OP_MOVE_IF, place, addr,
				     limit(context), limit(context), addr,
				     IS_ABOVE_OR_EQUAL);
	if (misaligned)
		generate_alignment(context, place, misaligned);
}

/* proven.c may find that its check is not needed. */
static void note(struct engine *engine, uintptr_t addr, unsigned access)
{
	if (!engine->direct.proves || engine->kind->is_narrow ||
	    misaligned_bits(access))
		return;
	engine->direct.accesses[engine->direct.count].op = engine->logged.made;
	engine->direct.accesses[engine->direct.count++].addr = addr;
}

static void generate_access(void *context, name value, name addr,
			    unsigned access, int op)
{
	uintptr_t place = generate_value(context, TYPE_64);

	generate_place(context, place, (uintptr_t)context + addr, access);
	generate_op3(context, op, (uintptr_t)context + value, place,
		     engine_entered->direct.start);
	note(engine_entered, (uintptr_t)context + addr, access);
	generate_end(context, place);
}

bool direct_load(void *context, name value, name addr, unsigned access, int op)
{
	unsigned size = access & ACCESS_SIZE;
	bool is_signed = access & ACCESS_SIGNED;

	if (!is_direct(context, access))
		return false;
	if (op == OP_STORE_64)	/* two of each size, but one of the largest */
		op = OP_LOADS_64 + (int)(2 * size + (size < 3 && is_signed));
	else
		op = OP_LOADS_32 + (int)(2 * size + (size < 2 && is_signed));
	generate_access(context, value, addr, access, op);
	return true;
}

bool direct_store(void *context, name value, name addr, unsigned access,
		  int op)
{
	if (!is_direct(context, access))
		return false;
	op = op == OP_STORE_64 ? OP_STORE_8_OF_64 : OP_STORE_8_OF_32;
	generate_access(context, value, addr, access,
			op + (int)(access & ACCESS_SIZE));
	return true;
}

/* ------- for others ------- */

const char *engine_operation(const struct engine *engine, unsigned number)
{
	return engine->direct.kinds ? engine->direct.kinds[number].name : NULL;
}

bool engine_go_direct(struct engine *engine, const uint8_t *arena)
{
	engine->direct.start = (uintptr_t)arena;
	engine->direct.paused = ENGINE_NEVER;
	engine->direct.is_on = engine->direct.start < UINT64_C(1) << 31;
	return engine->direct.is_on;
}

bool engine_is_direct(const struct engine *engine)
{
	return engine->direct.is_on;
}

void engine_end_direct(struct engine *engine)
{
	engine->direct.is_on = false;
}

void engine_pause_direct(struct engine *engine, guest_addr pc)
{
	engine->direct.paused = pc;
}

void direct_begin_block(struct engine *engine, guest_addr pc)
{
	engine->direct.is_paused = pc == engine->direct.paused;
	engine->direct.count = 0;
	engine->direct.limit = 0;
}

/* ------- when the host refuses ------- */

/* The engine takes off as much: it means addresses that calls return to. */
#define BEHIND_CALL 2u

bool engine_has_translated(struct engine *engine, uintptr_t host_pc)
{
	return engine_entered == engine && engine->direct.context &&
	       engine->kind->generator->find_block(engine->direct.context,
						   host_pc);
}

void engine_leave(struct engine *engine, uintptr_t host_pc)
{
	const struct generator *generator = engine->kind->generator;

	generator->restore(engine->cpu, host_pc + BEHIND_CALL, true);
	generator->leave(engine->cpu);
	__builtin_unreachable();
}
