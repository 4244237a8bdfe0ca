/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vectors.c - instructions of SSE to SSE4.2, without a call
 *
 * The engine generates a call of a function for each of them, in front of which
 * all registers are written back.  Where some operations of the engine's do the
 * same, most of which are one instruction of the host's (AVX), they are
 * generated instead:
 *
 *	to = operation(to, from)
 *
 * Some instructions of the host are none that the engine would generate.  In
 * its tables, an operation has an instruction for each size of lanes, or none:
 * there they get a place (HOST in manifest.inc).  What has no place is still
 * called, but with values and not their addresses, and no register is written
 * back.
 *
 * What computes with floating point needs no more than its instruction, as the
 * host's MXCSR is the guest's (sse.h).
 */
#include "vm/engine/build/vectors.h"

#include "vm/engine/build/operations.h"
#include "vm/engine/build/vectors_internal.h"
#include "vm/engine/engine_internal.h"

#define PLACED(name_, form_, host_)                                            \
	ROW(name_, form_, HOST_##host_, HOST_##host_##_LANE)

#define ROW(name_, form_, op_, lane_) extern char helper_##name_##_x86_64[];
#define CALLED(name_, form_) ROW(name_, form_, 0, 0) extern char sse_##name_[];
#include "vm/engine/build/vectors.inc"
#undef ROW
#undef CALLED

static const struct instruction instructions[] = {
#define ROW(name_, form_, op_, lane_)                                          \
	{ helper_##name_##_x86_64, NULL, form_, op_, lane_ },
#define CALLED(name_, form_)                                                   \
	{ helper_##name_##_x86_64, sse_##name_, form_, 0, 0 },
#include "vm/engine/build/vectors.inc"
#undef ROW
#undef CALLED
};

static const struct instruction *find(const void *function)
{
	for (size_t i = 0; i < sizeof(instructions) / sizeof(instructions[0]);
	     i++)
		if (instructions[i].function == function)
			return &instructions[i];
	return NULL;
}

/* ------- immediate operands ------- */

/* The newest constant: a function is given it right behind. */
static _Thread_local struct {
	uintptr_t value, number;
} newest;

void vectors_note(int op, uintptr_t value, uintptr_t number)
{
	if (op == OP_CONSTANT_32) {
		newest.value = value;
		newest.number = number;
	}
}

/* ------- where operands are ------- */

#define OPERATIONS_OF_PLACES 5u	/* with a constant between them */

static uint8_t kind_of(const struct made_op *op)
{
	return (uint8_t)op->head;
}

/* In the engine's state: the address was computed just now. */
static struct place place_of(const void *address)
{
	const struct made_op *op = engine_entered->logged.made;
	struct place place = { (uintptr_t)address, 0 };

	for (unsigned i = 0; i < OPERATIONS_OF_PLACES; i++) {
		const struct made_op *constant = made_op_in_front(op);

		if (kind_of(op) == OP_ADD &&
		    op->operands[0] == (uintptr_t)address) {
			if (op->operands[1] == engine_entered->env &&
			    kind_of(constant) == OP_CONSTANT &&
			    constant->operands[0] == op->operands[2]) {
				place.base = engine_entered->env;
				place.offset = constant->operands[1];
			}
			return place;
		}
		op = constant;
	}
	engine_entered->vectors.unmatched++;
	return place;
}

#define OPERATIONS_OF_SHIFT 8u

/*
 * How far a shift goes, where that is a constant: the engine writes it into a
 * vector of its own, the last operand.
 *
 *	value = number; *(env + at) = value; value = 0; *(env + at + 4) = value;
 *	x = ...; first = env + x; x = at; last = env + x
 */
bool vectors_shift(struct place vector, uintptr_t *number)
{
	static const uint8_t expected[OPERATIONS_OF_SHIFT] = {
		OP_ADD, OP_CONSTANT, OP_ADD, OP_CONSTANT,
		OP_STORE_LOW_32, OP_CONSTANT, OP_STORE_LOW_32, OP_CONSTANT,
	};
	const struct made_op *op = engine_entered->logged.made;
	const struct made_op *found[OPERATIONS_OF_SHIFT];

	for (unsigned i = 0; i < OPERATIONS_OF_SHIFT;
	     i++, op = made_op_in_front(op)) {
		if (kind_of(op) != expected[i])
			return false;
		found[i] = op;
	}
	*number = found[7]->operands[1];
	return vector.base == engine_entered->env &&
	       found[6]->operands[0] == found[7]->operands[0] &&
	       found[6]->operands[1] == vector.base &&
	       found[6]->operands[2] == vector.offset &&
	       found[4]->operands[1] == vector.base &&
	       found[4]->operands[2] == vector.offset + 4;
}

/* ------- all of them ------- */

/* The constant that such a form needs is argument so and so; 0: none. */
static unsigned constant_of(unsigned form)
{
	switch (form) {
	case SHUFFLE_ONE:
	case SHUFFLE_LOW:
	case SHUFFLE_HIGH:
	case SHUFFLE_SINGLES:
	case SHUFFLE_DOUBLES:
		return 2;
	case CHOOSE:
	case CHOOSE_DOUBLES:
	case ALIGN_BYTES:
		return 3;
	default:
		return 0;
	}
}

/* What has other arguments than the state, `to` and `from`; false: it is not
 * such a form. */
static bool generate_special(void *context, const struct instruction *it,
			     uintptr_t result, void **arguments,
			     uintptr_t number)
{
	switch (it->form) {
	case SIGNS:
		numbers_signs(context, result, place_of(arguments[1]));
		return true;
	case FROM_32:
	case FROM_64:
		numbers_load(context, place_of(arguments[0]),
			     (uintptr_t)arguments[1], it->form == FROM_32);
		return true;
	case SHUFFLE_ONE:
	case SHUFFLE_LOW:
	case SHUFFLE_HIGH:
	case SHUFFLE_SINGLES:
	case SHUFFLE_DOUBLES:
		whole_two(context, it, place_of(arguments[0]),
			  place_of(arguments[1]), number);
		return true;
	case DOUBLE_TO_32:
	case DOUBLE_TO_64:
	case SINGLE_TO_32:
	case SINGLE_TO_64:
		numbers_to_integer(context, it, result,
				   place_of(arguments[1]));
		return true;
	case DOUBLE_OF_32:
	case DOUBLE_OF_64:
	case SINGLE_OF_32:
	case SINGLE_OF_64:
		numbers_from_integer(context, it, place_of(arguments[1]),
				     (uintptr_t)arguments[2]);
		return true;
	default:
		return false;
	}
}

/* False: call it. */
static bool generate_two(void *context, const struct instruction *it,
			 struct place to, struct place from, uintptr_t number)
{
	switch (it->form) {
	case SHIFT_UP:
	case SHIFT_RIGHT:
	case SHIFT_DOWN:
		whole_shift(context, it, to, from);
		return true;
	case SHIFT_BYTES_UP:
	case SHIFT_BYTES_DOWN:
		return whole_byte_shift(context, it, to, from);
	case TEST:
		numbers_test(context, to, from);
		return true;
	case DOUBLES:
	case SINGLES:
	case OF_DOUBLE:
	case SINGLE_OF_DOUBLE:
	case DOUBLE_OF_SINGLE:
		numbers_lowest(context, it, to, from);
		return true;
	case CALL_DOUBLES:
	case CALL_SINGLES:
		numbers_lowest_call(context, it, to, from);
		return true;
	case COMPARE_DOUBLES:
	case COMPARE_SINGLES:
		numbers_compare(context, it, to, from);
		return true;
	default:
		whole_two(context, it, to, from, number);
		return true;
	}
}

bool vectors_generate(void *context, const void *function, void *result,
		      void **arguments)
{
	const uintptr_t number = newest.number & 0xff;
	const struct instruction *it;
	unsigned constant;

	if (!engine_entered || !engine_entered->vectors.are_inline)
		return false;
	it = find(function);
	if (!it)
		return false;
	constant = constant_of(it->form);
	if (constant && newest.value != (uintptr_t)arguments[constant]) {
		engine_entered->vectors.unmatched++;
		return false;
	}
	engine_entered->vectors.are_used = true;
	return generate_special(context, it, (uintptr_t)result, arguments,
				number) ||
	       generate_two(context, it, place_of(arguments[1]),
			    place_of(arguments[2]), number);
}

uint64_t engine_vectors_unmatched(const struct engine *engine)
{
	return engine->vectors.unmatched;
}
