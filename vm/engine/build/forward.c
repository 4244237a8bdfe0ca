/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forward.c - vectors that need not be loaded again
 *
 * Each instruction on vectors loads its operands from the engine's state and
 * stores its result there, half by half.  Results that later ones of the same
 * block load are still in a value of the engine's, which is a register of the
 * host's.  So the operations of a block are looked through before the engine
 * optimizes them, and such a load becomes a move, which it then leaves out.
 * Stores remain: the state is right wherever an access may fault.
 *
 * The engine can keep a vector in a register of the host's alone: it reserves
 * too little memory for one.  So none is known behind a call, and there are
 * fewer than registers (ENGINE_STORED).
 *
 * What is known of 8 bytes of the state: the value whose lower half they are,
 * its holder; and which half of which whole vector.  Versions tell whether a
 * value is still what it was.
 */
#include "vm/engine/build/forward.h"

#include "vm/engine/build/generate.h"
#include "vm/engine/build/operations.h"
#include "vm/engine/engine_internal.h"

#define SLOTS 1024u  /* all registers are in so many times 8 bytes */
#define VALUES 1024u /* a power of 2; the engine has 512 */
#define NOT_BRIEF (ENDS_PIECE | CALLS | OF_VECTORS)

#define BRIEF 12u /* operations */

struct version {
	name of;
	uint32_t number;
};

struct held {
	struct version holder, whole;
	uint32_t piece;
	uint8_t bytes; /* of the holder: 8, or the lowest 4; 0: none */
	bool is_high;
};

static _Thread_local struct {
	uint32_t piece; /* what is known is of this piece of code */
	struct held slots[SLOTS];
	struct {
		name of;
		uint32_t piece, number;
		struct held copy; /* what else holds the same */
	} values[VALUES];
} known;

static void forget(void)
{
	known.piece++;
}

/* ------- values ------- */

static unsigned place_of(name of)
{
	unsigned at = (unsigned)(of >> 4) * 2654435761u % VALUES;

	while (known.values[at].of != of &&
	       known.values[at].piece == known.piece)
		at = (at + 1) % VALUES;
	if (known.values[at].piece != known.piece) {
		known.values[at].of = of;
		known.values[at].piece = known.piece;
		known.values[at].copy.bytes = 0;
	}
	return at;
}

static struct version present(name of)
{
	return (struct version){ of, known.values[place_of(of)].number };
}

static bool is_present(struct version version)
{
	return version.number == known.values[place_of(version.of)].number;
}

static void written(name of)
{
	unsigned at = place_of(of);

	known.values[at].number++;
	known.values[at].copy.bytes = 0;
}

static bool is_held(const struct held *held)
{
	return held->bytes && held->piece == known.piece &&
	       is_present(held->holder);
}

static void note_copy(name of, const struct held *held)
{
	known.values[place_of(of)].copy = *held;
}

/* What holds the lower half of a value: itself, unless it is a copy. */
static struct held held_by(name of, uint8_t bytes)
{
	const struct held *copy = &known.values[place_of(of)].copy;

	if (is_held(copy) && copy->bytes >= bytes)
		return *copy;
	return (struct held){
		.holder = present(of),
		.whole = present(of),
		.piece = known.piece,
		.bytes = bytes,
	};
}

/* Whether two values are both halves of one that is still there. */
static bool is_whole(name low, name high, name *whole)
{
	const struct held a = known.values[place_of(low)].copy;
	const struct held b = known.values[place_of(high)].copy;

	*whole = a.whole.of;
	return is_held(&a) && is_held(&b) && a.bytes == 8 && b.bytes == 8 &&
	       !a.is_high && b.is_high && a.whole.of == b.whole.of &&
	       a.whole.number == b.whole.number && is_present(a.whole);
}

/* ------- the state ------- */

static struct held *slot_of(uintptr_t offset)
{
	return offset / 8 < SLOTS ? &known.slots[offset / 8] : NULL;
}

static void drop(uintptr_t offset, unsigned size)
{
	for (uintptr_t at = offset / 8; at <= (offset + size - 1) / 8; at++)
		if (at < SLOTS)
			known.slots[at].bytes = 0;
}

static void hold(uintptr_t offset, const struct held *held)
{
	struct held *slot = slot_of(offset);

	if (slot && offset % 8 == 0)
		*slot = *held;
}

static const struct held *find(const struct made_op *op, uint8_t bytes)
{
	const struct held *slot = slot_of(op->operands[2]);

	if (op->operands[1] != engine_entered->env || !slot ||
	    op->operands[2] % 8 || !is_held(slot) || slot->bytes < bytes)
		return NULL;
	return slot;
}

/* ------- operations ------- */

static uint8_t number_of(const struct made_op *op)
{
	return (uint8_t)op->head;
}

static void become_move(struct made_op *op, int move, name from)
{
	op->head = (op->head & ~0xffu) | (unsigned)move;
	op->operands[1] = from;
}

static const struct op_kind *kind_of(const struct made_op *op)
{
	return &engine_entered->direct.kinds[number_of(op)];
}

static bool mentions(const struct made_op *op, name of)
{
	unsigned count = kind_of(op)->outputs + kind_of(op)->inputs;

	if (number_of(op) == OP_CALL)
		count = (op->head >> CALL_INPUTS_AT & 15) +
			(op->head >> CALL_OUTPUTS_AT & 15);
	for (unsigned i = 0; i < count; i++)
		if (op->operands[i] == of)
			return true;
	return false;
}

/*
 * Whether a number is but stored, given to a function, or changed by a
 * constant, before vectors are computed: so long it may be in one of the host's
 * registers for them.
 */
static bool is_brief(const struct made_op *op)
{
	const name number = op->operands[0];

	for (unsigned i = 0; i < BRIEF && op->next; i++) {
		op = op->next;
		if (mentions(op, number))
			return number_of(op) == OP_CALL ||
			       ((number_of(op) == OP_STORE_64 ||
				 number_of(op) == OP_AND) &&
				op->operands[0] == number);
		if (number_of(op) == OP_CALL || kind_of(op)->flags & NOT_BRIEF)
			return false;
	}
	return false;
}

static void load(struct made_op *op, uint8_t bytes, int move)
{
	const struct held *slot = find(op, 4);
	const name to = op->operands[0];
	struct held held;

	if (!slot) {
		written(to);
		return;
	}
	held = *slot;
	if (held.bytes >= bytes && (move == OP_MOVE_VECTOR || is_brief(op)))
		become_move(op, move, held.holder.of);
	else if (move == OP_MOVE_VECTOR)
		held.bytes = 0;
	written(to);
	note_copy(to, &held);
}

static void store(const struct made_op *op, unsigned size, bool is_vector)
{
	const uintptr_t offset = op->operands[2];
	const struct held *copy = &known.values[place_of(op->operands[0])].copy;
	struct held held;

	if (op->operands[1] != engine_entered->env) {
		if (offset != engine_entered->direct.start)
			forget();
		return;
	}
	drop(offset, size);
	if (!is_vector && !is_held(copy))
		return;
	held = is_held(copy) ? *copy : held_by(op->operands[0], (uint8_t)size);
	if (held.bytes > size)
		held.bytes = (uint8_t)size;
	hold(offset, &held);
}

static unsigned lane_of(const struct made_op *op)
{
	return op->head >> OP_LANE_AT & 15;
}

/* The upper half of `from` becomes the lower one of `to`. */
static void interleave_high(const struct made_op *op)
{
	const name to = op->operands[0], from = op->operands[1];
	struct held held;

	written(to);
	if (lane_of(op) != 3 || from != op->operands[2] || from == to)
		return;
	held = held_by(to, 8);
	held.whole = present(from);
	held.is_high = true;
	note_copy(to, &held);
}

static void interleave_low(struct made_op *op)
{
	name whole;

	if (lane_of(op) == 3 &&
	    is_whole(op->operands[1], op->operands[2], &whole))
		become_move(op, OP_MOVE_VECTOR, whole);
	written(op->operands[0]);
}

static void move_32(const struct made_op *op)
{
	struct held held = held_by(op->operands[1], 4);

	written(op->operands[0]);
	note_copy(op->operands[0], &held);
}

static void other(const struct made_op *op)
{
	const struct op_kind *kind = kind_of(op);

	for (unsigned i = 0; i < kind->outputs; i++)
		written(op->operands[i]);
	if (kind->flags & (ENDS_PIECE | CALLS))
		forget();
}

static void look_at(struct made_op *op)
{
	switch (number_of(op)) {
	case OP_LOAD_VECTOR:
		load(op, 8, OP_MOVE_VECTOR);
		return;
	case OP_LOAD_ALIKE:
		load(op, lane_of(op) == 2 ? 4 : 16, OP_MOVE_VECTOR);
		return;
	case OP_LOAD_64:
		load(op, 8, OP_MOVE);
		return;
	case OP_STORE_VECTOR:
		store(op, 8, true);
		return;
	case OP_STORE_8_OF_32:
	case OP_STORE_8_OF_32 + 1:
	case OP_STORE_32_OF_32:
		store(op, 1u << (number_of(op) - OP_STORE_8_OF_32), false);
		return;
	case OP_STORE_8_OF_64:
	case OP_STORE_8_OF_64 + 1:
	case OP_STORE_LOW_32:
	case OP_STORE_64:
		store(op, 1u << (number_of(op) - OP_STORE_8_OF_64), false);
		return;
	case OP_INTERLEAVE_HIGH:
		interleave_high(op);
		return;
	case OP_INTERLEAVE_LOW:
		interleave_low(op);
		return;
	case OP_MOVE_32:
		move_32(op);
		return;
	case OP_CALL:
		forget();
		return;
	default:
		other(op);
	}
}

void forward_vectors(struct engine *engine)
{
	forget();
	for (struct made_op *op = engine->logged.first; op; op = op->next)
		look_at(op);
}
