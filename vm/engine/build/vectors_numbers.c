/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vectors_numbers.c - instructions on vectors by numbers of general registers,
 * and on the lowest lanes alone (vectors.c)
 */
#include "vm/engine/build/operations.h"
#include "vm/engine/build/vectors_internal.h"
#include "vm/engine/engine_internal.h"

extern emit_fn tcg_emit_op_x86_64;
extern op4_fn tcg_gen_op4_x86_64;

/* ------- numbers ------- */

static uintptr_t new_number(void *context)
{
	return generate_value(context, TYPE_64);
}

static void with_constant(void *context, int op, uintptr_t value,
			  uint64_t number)
{
	generate_with(generator_now(), context, op, value, value, number);
}

static void load_64(void *context, uintptr_t number, struct place place,
		    size_t half)
{
	generate_op3(context, OP_LOAD_64, number, place.base,
		     place.offset + half);
}

static void store_number(void *context, int op, uintptr_t number,
			 struct place place, size_t half)
{
	generate_op3(context, op, number, place.base, place.offset + half);
}

/* The highest bits of 8 bytes become the highest byte. */
static uintptr_t signs_of(void *context, struct place place, size_t half)
{
	uintptr_t value = new_number(context);

	load_64(context, value, place, half);
	with_constant(context, OP_AND, value, UINT64_C(0x8080808080808080));
	with_constant(context, OP_MULTIPLY, value, UINT64_C(0x2040810204081));
	return value;
}

void numbers_signs(void *context, uintptr_t result, struct place place)
{
	uintptr_t low = signs_of(context, place, LANES_LOW);
	uintptr_t high = signs_of(context, place, LANES_HIGH);

	with_constant(context, OP_SHIFT_RIGHT, low, 56);
	with_constant(context, OP_SHIFT_RIGHT, high, 48);
	with_constant(context, OP_AND, high, 0xff00);
	generate_op3(context, OP_OR, low, low, high);
	generate_op2(context, OP_MOVE_32, result, low);
	generate_end(context, high);
	generate_end(context, low);
}

void numbers_load(void *context, struct place place, uintptr_t number,
		  bool is_narrow)
{
	uintptr_t other = new_number(context);

	if (is_narrow) {
		generate_op2(context, OP_WIDEN, other, number);
		number = other;
	}
	store_number(context, OP_STORE_64, number, place, LANES_LOW);
	generate_op2(context, OP_CONSTANT, other, 0);
	store_number(context, OP_STORE_64, other, place, LANES_HIGH);
	generate_end(context, other);
}

#define ZERO_FLAG_AT 6u

/* `bits` |= those of `from` that are in `to`, or that are not. */
static void generate_common(void *context, uintptr_t bits,
			    struct place to_place, struct place from_place,
			    size_t half, bool in)
{
	uintptr_t to = new_number(context), from = new_number(context);

	load_64(context, to, to_place, half);
	load_64(context, from, from_place, half);
	if (!in)
		with_constant(context, OP_XOR, to, UINT64_MAX);
	generate_op3(context, OP_AND, from, from, to);
	generate_op3(context, OP_OR, bits, bits, from);
	generate_end(context, from);
	generate_end(context, to);
}

/* 1 if there are none. */
static uintptr_t generate_none(void *context, struct place to_place,
			       struct place from_place, bool in)
{
	uintptr_t bits = new_number(context), zero = new_number(context);

	generate_op2(context, OP_CONSTANT, bits, 0);
	generate_op2(context, OP_CONSTANT, zero, 0);
	generate_common(context, bits, to_place, from_place, LANES_LOW, in);
	generate_common(context, bits, to_place, from_place, LANES_HIGH, in);
	tcg_gen_op4_x86_64(context, OP_IF, bits, bits, zero, IS_EQUAL);
	generate_end(context, zero);
	return bits;
}

void numbers_test(void *context, struct place to_place, struct place from_place)
{
	uintptr_t zero = generate_none(context, to_place, from_place, true);
	uintptr_t carry = generate_none(context, to_place, from_place, false);

	with_constant(context, OP_SHIFT_UP, zero, ZERO_FLAG_AT);
	generate_op3(context, OP_OR, engine_entered->conditions, zero, carry);
	generate_end(context, carry);
	generate_end(context, zero);
}

/* ------- the lowest lane ------- */

void numbers_lowest(void *context, const struct instruction *it,
		    struct place to_place, struct place from_place)
{
	const bool from_single = it->form == SINGLES ||
				 it->form == DOUBLE_OF_SINGLE;
	const bool to_single = it->form == SINGLES ||
			       it->form == SINGLE_OF_DOUBLE;
	const bool has_two = it->form == DOUBLES || it->form == SINGLES;
	uintptr_t from = lanes_load_lowest(context, from_place, from_single);
	uintptr_t to = from;

	if (has_two)
		to = lanes_load_lowest(context, to_place, from_single);
	vec_gen_3_x86_64(context, it->op, TYPE_VECTOR, it->lane, to, to, from);
	if (has_two)
		generate_end(context, from);
	lanes_store_lowest(context, to, to_place, to_single);
}

/* result = function(a, b), or of one; it knows nothing of the guest. */
static void generate_call(void *context, const void *function, uintptr_t result,
			  uintptr_t a, uintptr_t b)
{
	struct made_op *op = tcg_emit_op_x86_64(context, OP_CALL);
	const unsigned count = b ? 2 : 1;
	unsigned at = 0;

	op->head |= count << CALL_INPUTS_AT | 1u << CALL_OUTPUTS_AT;
	op->operands[at++] = result;
	op->operands[at++] = a;
	if (b)
		op->operands[at++] = b;
	op->operands[at++] = (uintptr_t)function;
	op->operands[at] = CALL_READS_NONE | CALL_WRITES_NONE;
}

static uintptr_t load_number(void *context, struct place place, bool is_single)
{
	uintptr_t number = new_number(context);

	generate_op3(context, is_single ? OP_LOAD_LOW_32 : OP_LOAD_64, number,
		     place.base, place.offset);
	return number;
}

void numbers_lowest_call(void *context, const struct instruction *it,
			 struct place to, struct place from)
{
	const bool is_single = it->form == CALL_SINGLES;
	uintptr_t a = load_number(context, to, is_single);
	uintptr_t b = load_number(context, from, is_single);

	generate_call(context, it->called, a, a, b);
	store_number(context, is_single ? OP_STORE_LOW_32 : OP_STORE_64, a, to,
		     LANES_LOW);
	generate_end(context, b);
	generate_end(context, a);
}

void numbers_compare(void *context, const struct instruction *it,
		     struct place left, struct place right)
{
	const bool is_single = it->form == COMPARE_SINGLES;
	uintptr_t a = load_number(context, left, is_single);
	uintptr_t b = load_number(context, right, is_single);

	generate_call(context, it->called, engine_entered->conditions, a, b);
	generate_end(context, b);
	generate_end(context, a);
}

void numbers_from_integer(void *context, const struct instruction *it,
			  struct place place, uintptr_t integer)
{
	const bool is_single = it->form == SINGLE_OF_32 ||
			       it->form == SINGLE_OF_64;
	uintptr_t number = new_number(context);

	if (it->form == DOUBLE_OF_32 || it->form == SINGLE_OF_32) {
		generate_op2(context, OP_WIDEN, number, integer);
		integer = number;
	}
	generate_call(context, it->called, number, integer, 0);
	store_number(context, is_single ? OP_STORE_LOW_32 : OP_STORE_64, number,
		     place, LANES_LOW);
	generate_end(context, number);
}

void numbers_to_integer(void *context, const struct instruction *it,
			uintptr_t result, struct place place)
{
	const bool is_single = it->form == SINGLE_TO_32 ||
			       it->form == SINGLE_TO_64;
	const bool is_narrow = it->form == DOUBLE_TO_32 ||
			       it->form == SINGLE_TO_32;
	uintptr_t number = load_number(context, place, is_single);

	generate_call(context, it->called, number, number, 0);
	generate_op2(context, is_narrow ? OP_MOVE_32 : OP_MOVE, result, number);
	generate_end(context, number);
}
