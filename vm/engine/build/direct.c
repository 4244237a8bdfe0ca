/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * direct.c - translated code that accesses memory without asking the TLB
 *
 * In place of the engine's operation for a load or a store, which looks its
 * address up, one is generated that it has for its own state: an instruction of
 * the host.  The arena begins at a constant of 31 bits, which is part of it.
 *
 * An address of 2^46 or more is made one that no program can have,
 *
 *	addr | addr >> 46 << 47
 *
 * so whatever the guest takes for a pointer, it does not reach cprec's own
 * memory: that is above the arena, and there is nothing below it.  So is one
 * that is not aligned as the access says.  An address of 32 bits cannot be
 * outside the arena.  One with a tag is an address of 2^46 or more, too.
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

/* How many loads and stores there are, one behind the other. */
#define OPS_32 8u
#define OPS_64 11u

/* Of an access: bytes in another order, and how its address must be aligned:
 * to a power of two, or to its size. */
#define ACCESS_SIGNED 4u
#define ACCESS_SWAPPED 8u
#define ALIGNED_AT 4
#define ALIGNED_MOST 7u

/* An entry of the engine's table of operations. */
struct operation {
	const char *name;
	uint8_t outputs, inputs, constants, all, flags;
	void *places;
	int *order;
};
#define HAS_SIDE_EFFECTS 8u

/* The context has the engine's address, behind that of the table. */
#define CONTEXT_WORDS 65536u

/* ------- the engine's table ------- */

static struct operation *find_table(const struct engine *engine,
				    void *const *context)
{
	for (size_t i = 1; i < CONTEXT_WORDS; i++)
		if (context[i] == engine->uc)
			return context[i - 1];
	return NULL;
}

static void mark(struct operation *first, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		first[i].flags |= HAS_SIDE_EFFECTS;
}

/* Whether all is as it should be; the first time, marks operations. */
static bool prepare(struct engine *engine, void *context)
{
	struct operation *table;

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
	return true;
}

static bool is_direct(void *context, unsigned access)
{
	struct engine *engine = engine_entered;

	return engine && engine->direct.is_on && !engine->direct.is_paused &&
	       !(access & ACCESS_SWAPPED) && prepare(engine, context);
}

/* ------- generating ------- */

/* The value of a register for a few operations. */
static uintptr_t new_value(void *context)
{
	return (uintptr_t)engine_entered->kind->generator->new(context, TYPE_64,
							       false);
}

/* The bits of an address that must be 0. */
static uint64_t misaligned_bits(unsigned access)
{
	unsigned bits = access >> ALIGNED_AT & ALIGNED_MOST;

	if (bits == ALIGNED_MOST)
		bits = access & PLACE_SIZE;
	return (UINT64_C(1) << bits) - 1;
}

/* `place` = addr | bits << 47, which nothing is at if there are any. */
static void generate_refusal(void *context, uintptr_t place, uintptr_t addr,
			     uintptr_t bits)
{
	const struct generator *by = engine_entered->kind->generator;

	generate_with(by, context, OP_SHIFT_UP, bits, bits,
		      ENGINE_DIRECT_BITS + 1);
	by->op3(context, OP_OR, place, addr, bits);
}

static void generate_place(void *context, uintptr_t place, uintptr_t addr,
			   unsigned access)
{
	const struct engine_kind *kind = engine_entered->kind;
	uint64_t misaligned = misaligned_bits(access);
	uintptr_t bits = new_value(context);

	if (kind->is_narrow) {
		kind->generator->op2(context, OP_WIDEN, place, addr);
	} else {
		generate_with(kind->generator, context, OP_SHIFT_RIGHT, bits,
			      addr, ENGINE_DIRECT_BITS);
		generate_refusal(context, place, addr, bits);
	}
	if (misaligned) {
		generate_with(kind->generator, context, OP_AND, bits, place,
			      misaligned);
		generate_refusal(context, place, place, bits);
	}
	kind->generator->free(context, (void *)bits);
}

static void generate_access(void *context, name value, name addr,
			    unsigned access, int op)
{
	const struct generator *generate = engine_entered->kind->generator;
	uintptr_t place = new_value(context);

	generate_place(context, place, (uintptr_t)context + addr, access);
	generate->op3(context, op, (uintptr_t)context + value, place,
		      engine_entered->direct.start);
	generate->free(context, (void *)place);
}

bool direct_load(void *context, name value, name addr, unsigned access, int op)
{
	unsigned size = access & PLACE_SIZE;
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
			op + (int)(access & PLACE_SIZE));
	return true;
}

/* ------- for others ------- */

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
