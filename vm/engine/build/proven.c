/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proven.c - direct accesses whose address needs no check
 *
 * In front of each direct access are operations that keep it off what is not
 * the guest's (direct.c).  They are not needed where the address is known to be
 * near an address of the arena, as nothing else is near the arena
 * (ENGINE_DIRECT_ROOM): where it is at a constant distance from one that was
 * accessed before in the same block, the sum of such a one and a small number,
 * or a number of 32 bits.
 *
 * So the operations of a block are looked through before the engine optimizes
 * them.  An access whose address is proven so is made to use that address, or
 * what it was computed from, at a distance.  The engine leaves out what nobody
 * uses any more: the check, and mostly the computation.
 *
 * A value is a number and a constant that is added to it.  What is known of a
 * number: how far it is at most from the arena, and from 0.
 */
#include <string.h>

#include "vm/engine/build/forward.h"
#include "vm/engine/build/generate.h"
#include "vm/engine/build/operations.h"
#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/* Farther than any distance that counts. */
#define FAR UINT64_MAX

/* The number that a constant is added to. */
#define ZERO 0u
#define NUMBERS 4096u
#define NUMBERS_OF_OP 32u	/* and less */

#define VALUES 1024u		/* a power of 2; the engine has 512 */

struct value {
	uint32_t number;
	uint64_t added;
};

struct number {
	uint64_t beyond;	/* its sum with `reached` is at most as far */
	uint64_t reached;	/* from the arena; */
	uint64_t size;		/* itself at most as far from 0 */
	name home;		/* the value that first had it; 0: none */
};

/* Of the block that is looked through. */
static _Thread_local struct {
	struct number numbers[NUMBERS];
	uint32_t count;
	uint32_t piece;		/* what is known is of this piece of code */
	struct {
		name of;
		uint32_t piece;
		struct value value;
	} values[VALUES];
} known;

static void forget(void)
{
	known.piece++;
	known.count = ZERO + 1;
	known.numbers[ZERO] = (struct number) { .beyond = 0 };
}

/* ------- distances ------- */

static uint64_t magnitude(uint64_t number)
{
	return (int64_t)number < 0 ? -number : number;
}

static uint64_t farther(uint64_t distance, uint64_t by)
{
	return distance > ENGINE_DIRECT_ROOM || by > ENGINE_DIRECT_ROOM ?
		       FAR : distance + by;
}

/* How far it is at most from the arena. */
static uint64_t beyond(struct value value)
{
	const struct number *number = &known.numbers[value.number];

	if (value.number == ZERO && value.added >> ENGINE_DIRECT_BITS == 0)
		return 0;
	return farther(number->beyond,
		       magnitude(value.added - number->reached));
}

static uint64_t size(struct value value)
{
	return farther(known.numbers[value.number].size,
		       magnitude(value.added));
}

static bool is_constant(struct value value)
{
	return value.number == ZERO;
}

/* ------- values ------- */

static unsigned place_of(name of)
{
	unsigned at = (unsigned)(of >> 4) * 2654435761u % VALUES;

	while (known.values[at].of != of &&
	       known.values[at].piece == known.piece)
		at = (at + 1) % VALUES;
	return at;
}

static void set(name of, struct value value)
{
	unsigned at = place_of(of);

	known.values[at].of = of;
	known.values[at].piece = known.piece;
	known.values[at].value = value;
}

/* A value of its own. */
static struct value new_number(name home, uint64_t beyond, uint64_t size)
{
	known.numbers[known.count] = (struct number) {
		.beyond = beyond, .size = size, .home = home,
	};
	return (struct value) { .number = known.count++ };
}

static struct value get(name of)
{
	unsigned at = place_of(of);
	struct value value;

	if (known.values[at].of == of && known.values[at].piece == known.piece)
		return known.values[at].value;
	value = new_number(of, FAR, FAR);
	set(of, value);
	return value;
}

/* ------- what operations compute ------- */

static struct value of_size(name to, uint64_t size)
{
	return new_number(to, size, size);
}

static struct value of_bits(name to, unsigned bits)
{
	return bits < 64 ? of_size(to, (UINT64_C(1) << bits) - 1) :
			   new_number(to, FAR, FAR);
}

static struct value unknown(name to)
{
	return new_number(to, FAR, FAR);
}

static struct value sum(name to, struct value a, struct value b)
{
	uint64_t one, other;

	if (is_constant(b))
		return (struct value) { a.number, a.added + b.added };
	if (is_constant(a))
		return (struct value) { b.number, a.added + b.added };
	one = farther(beyond(a), size(b));
	other = farther(beyond(b), size(a));
	return new_number(to, one < other ? one : other,
			  farther(size(a), size(b)));
}

static struct value difference(name to, struct value a, struct value b)
{
	if (is_constant(b))
		return (struct value) { a.number, a.added - b.added };
	return new_number(to, farther(beyond(a), size(b)),
			  farther(size(a), size(b)));
}

/* Some bits of a number, or all but its lowest ones. */
static struct value masked(name to, struct value a, struct value b)
{
	if (!is_constant(b))
		return unknown(to);
	if ((int64_t)b.added >= 0)
		return of_size(to, b.added);
	return new_number(to, farther(beyond(a), magnitude(b.added)),
			  farther(size(a), magnitude(b.added)));
}

static struct value shifted_up(name to, struct value a, struct value b)
{
	if (!is_constant(b) || b.added > 8 || size(a) > ENGINE_DIRECT_ROOM)
		return unknown(to);
	return of_size(to, size(a) << b.added);
}

static struct value shifted_right(name to, struct value b)
{
	return is_constant(b) && b.added < 64 ?
		       of_bits(to, 64 - (unsigned)b.added) : unknown(to);
}

/* Of operations with one result. */
static struct value result(const struct made_op *op)
{
	name to = op->operands[0];

	switch ((uint8_t)op->head) {
	case OP_MOVE:
		return get(op->operands[1]);
	case OP_CONSTANT:
		return (struct value) { ZERO, op->operands[1] };
	case OP_ADD:
		return sum(to, get(op->operands[1]), get(op->operands[2]));
	case OP_SUBTRACT:
		return difference(to, get(op->operands[1]),
				  get(op->operands[2]));
	case OP_AND:
		return masked(to, get(op->operands[1]), get(op->operands[2]));
	case OP_SHIFT_UP:
		return shifted_up(to, get(op->operands[1]),
				  get(op->operands[2]));
	case OP_SHIFT_RIGHT:
		return shifted_right(to, get(op->operands[2]));
	case OP_LOADS_64: case OP_LOADS_64 + 1:
		return of_bits(to, 8);
	case OP_LOADS_64 + 2: case OP_LOADS_64 + 3:
		return of_bits(to, 16);
	case OP_LOADS_64 + 4: case OP_LOADS_64 + 5:
		return of_bits(to, 32);
	case OP_EXTENDS: case OP_EXTENDS + 3:
		return of_bits(to, 8);
	case OP_EXTENDS + 1: case OP_EXTENDS + 4:
		return of_bits(to, 16);
	case OP_EXTENDS + 2: case OP_EXTENDS + 5:
	case OP_WIDEN_SIGNED: case OP_WIDEN:
		return of_bits(to, 32);
	case OP_EXTRACT:
		return of_bits(to, (unsigned)op->operands[3]);
	default:
		return unknown(to);
	}
}

/* ------- looking through a block ------- */

/* Its results are unknown; if it may write registers, so are all of them. */
static void behind_call(const struct made_op *op)
{
	unsigned inputs = op->head >> CALL_INPUTS_AT & 15;
	unsigned outputs = op->head >> CALL_OUTPUTS_AT & 15;

	if (!(op->operands[inputs + outputs + 1] &
	      (CALL_READS_NONE | CALL_WRITES_NONE)))
		forget();
	for (unsigned i = 0; i < outputs; i++)
		set(op->operands[i], unknown(op->operands[i]));
}

static void behind(const struct engine *engine, const struct made_op *op)
{
	const struct op_kind *kind = &engine->direct.kinds[(uint8_t)op->head];

	if ((uint8_t)op->head == OP_CALL)
		behind_call(op);
	else if (kind->flags & ENDS_PIECE)
		forget();
	else if (kind->outputs == 1)
		set(op->operands[0], result(op));
	else
		for (unsigned i = 0; i < kind->outputs; i++)
			set(op->operands[i], unknown(op->operands[i]));
}

/* A value from which the address is as far as an operation has room for. */
static bool find_base(const struct number *number, struct value addr,
		      uint64_t start, name *base, uint64_t *distance)
{
	struct value home;

	if (!number->home)
		return false;
	home = get(number->home);
	*base = number->home;
	*distance = start + addr.added - home.added;
	return &known.numbers[home.number] == number &&
	       *distance + (UINT64_C(1) << 31) < UINT64_C(1) << 32;
}

static void look_at_access(const struct engine *engine, struct made_op *op,
			   name of)
{
	struct value addr = get(of);
	struct number *number = &known.numbers[addr.number];

	if (is_constant(addr))
		return;
	if (beyond(addr) <= ENGINE_DIRECT_ROOM &&
	    !find_base(number, addr, engine->direct.start, &op->operands[1],
		       &op->operands[2])) {
		op->operands[1] = of;
		op->operands[2] = engine->direct.start;
	}
	/* Whoever comes behind it knows that it has not faulted. */
	number->beyond = 0;
	number->reached = addr.added;
}

static void look_through(struct engine *engine)
{
	unsigned next = 0;

	forget();
	for (struct made_op *op = engine->logged.first; op; op = op->next) {
		if (known.count > NUMBERS - NUMBERS_OF_OP)
			forget();
		if (next < engine->direct.count &&
		    op == engine->direct.accesses[next].op)
			look_at_access(engine, op,
				       engine->direct.accesses[next++].addr);
		behind(engine, op);
	}
}

#define OPTIMIZES(name_)                                                       \
	typedef void name_##_fn(void *context);                                \
	REPLACES(name_##_fn, name_);                                           \
	void name_(void *context)                                              \
	{                                                                      \
		struct engine *engine = engine_entered;                        \
									       \
		if (engine && engine->vectors.are_used && engine->direct.kinds)\
			forward_vectors(engine);                               \
		if (engine && engine->direct.count)                            \
			look_through(engine);                                  \
		engine_##name_(context);                                       \
	}

OPTIMIZES(tcg_optimize_x86_64)
OPTIMIZES(tcg_optimize_aarch64)
