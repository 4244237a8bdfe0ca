/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vectors_whole.c - instructions on all lanes of vectors (vectors.c) */
#include "vm/engine/build/operations.h"
#include "vm/engine/build/vectors_internal.h"
#include "vm/engine/engine_internal.h"

/* Lanes of 8 << lane bits. */
static void shift_by(void *context, const struct instruction *it, uintptr_t to,
		     uintptr_t number)
{
	const unsigned bits = 8u << it->lane;

	if (number >= bits && it->form != SHIFT_DOWN) {
		vec_gen_3_x86_64(context, OP_XOR_VECTOR, TYPE_VECTOR, 0, to, to,
				 to);
		return;
	}
	if (number >= bits)
		number = bits - 1;
	vec_gen_3_x86_64(context,
			 it->form == SHIFT_UP	   ? OP_SHIFT_UP_BY
			 : it->form == SHIFT_RIGHT ? OP_SHIFT_RIGHT_BY
						   : OP_SHIFT_DOWN_BY,
			 TYPE_VECTOR, it->lane, to, to, number);
}

void whole_shift(void *context, const struct instruction *it,
		 struct place to_place, struct place from_place)
{
	uintptr_t number, from, to;
	bool is_constant = vectors_shift(from_place, &number);

	to = lanes_load(context, to_place);
	if (is_constant) {
		shift_by(context, it, to, number);
	} else {
		from = lanes_load(context, from_place);
		vec_gen_3_x86_64(context, it->op, TYPE_VECTOR, it->lane, to, to,
				 from);
		generate_end(context, from);
	}
	lanes_store(context, to, to_place);
}

/* The same of doubles: of two bits, which ones. */
static uintptr_t singles_of(uintptr_t doubles)
{
	return (doubles & 1 ? 0xe : 0x4) | (doubles & 2 ? 0xe0 : 0x40);
}

static uintptr_t pairs_of(uintptr_t doubles)
{
	return (doubles & 1 ? 3 : 0) | (doubles & 2 ? 12 : 0);
}

/* Bytes of the words that two bits each name. */
static uint64_t bytes_of_words(uintptr_t number, unsigned first)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < 4; i++) {
		uint64_t word = (number >> (2 * i) & 3) * 2 + first;

		bytes |= (word | (word + 1) << 8) << (16 * i);
	}
	return bytes;
}

#define WORDS_AS_THEY_ARE 0xe4u

static void shuffle_bytes(void *context, uintptr_t to, uintptr_t bytes)
{
	vec_gen_3_x86_64(context, HOST_pshufb, TYPE_VECTOR, HOST_pshufb_LANE,
			 to, to, bytes);
	generate_end(context, bytes);
}

static void widen(void *context, const struct instruction *it, uintptr_t to)
{
	uintptr_t zero = lanes_constant(context, 0, 0);
	uintptr_t above = lanes_new(context);

	for (unsigned lane = it->lane; lane < it->lane + (unsigned)it->op;
	     lane++) {
		if (it->form == WIDEN_SIGNED)
			vec_gen_4_x86_64(context, OP_COMPARE_LANES, TYPE_VECTOR,
					 lane, above, zero, to,
					 IS_ABOVE_SIGNED);
		vec_gen_3_x86_64(context, OP_INTERLEAVE_LOW, TYPE_VECTOR, lane,
				 to, to,
				 it->form == WIDEN_SIGNED ? above : zero);
	}
	generate_end(context, above);
	generate_end(context, zero);
}

/* Changes `from`, which becomes the result. */
static bool compute_one(void *context, const struct instruction *it,
			uintptr_t from, uintptr_t number)
{
	switch (it->form) {
	case OF_ONE:
		vec_gen_2_x86_64(context, it->op, TYPE_VECTOR, it->lane, from,
				 from);
		return true;
	case SHUFFLE_ONE:
		vec_gen_4_x86_64(context, it->op, TYPE_VECTOR, it->lane, from,
				 from, from, number);
		return true;
	case SHUFFLE_LOW:
		shuffle_bytes(
			context, from,
			lanes_constant(context, bytes_of_words(number, 0),
				       bytes_of_words(WORDS_AS_THEY_ARE, 8)));
		return true;
	case SHUFFLE_HIGH:
		shuffle_bytes(
			context, from,
			lanes_constant(context,
				       bytes_of_words(WORDS_AS_THEY_ARE, 0),
				       bytes_of_words(number, 8)));
		return true;
	case WIDEN:
	case WIDEN_SIGNED:
		widen(context, it, from);
		return true;
	default:
		return false;
	}
}

static void compute_two(void *context, const struct instruction *it,
			uintptr_t to, uintptr_t from, uintptr_t number)
{
	const unsigned lane = it->lane;

	switch (it->form) {
	case OF_TWO:
		vec_gen_3_x86_64(context, it->op, TYPE_VECTOR, lane, to, to,
				 from);
		return;
	case OF_OTHERS:
		vec_gen_3_x86_64(context, it->op, TYPE_VECTOR, lane, to, from,
				 to);
		return;
	case ALIGN_BYTES:
		shuffle_bytes(context, from,
			      lanes_of_bytes(context, number, true));
		shuffle_bytes(context, to,
			      lanes_of_bytes(context, number, false));
		vec_gen_3_x86_64(context, OP_OR_VECTOR, TYPE_VECTOR, 0, to, to,
				 from);
		return;
	case COMPARE_EQUAL:
		number = IS_EQUAL;
		break;
	case COMPARE_ABOVE:
		number = IS_ABOVE_SIGNED;
		break;
	case SHUFFLE_DOUBLES:
		number = singles_of(number);
		break;
	case CHOOSE_DOUBLES:
		number = pairs_of(number);
		break;
	}
	vec_gen_4_x86_64(context, it->op, TYPE_VECTOR, lane, to, to, from,
			 number);
}

void whole_two(void *context, const struct instruction *it,
	       struct place to_place, struct place from_place, uintptr_t number)
{
	uintptr_t from = lanes_load(context, from_place), to;

	if (compute_one(context, it, from, number)) {
		lanes_store(context, from, to_place);
		return;
	}
	to = lanes_load(context, to_place);
	compute_two(context, it, to, from, number);
	lanes_store(context, to, to_place);
	generate_end(context, from);
}

/* By a constant alone. */
bool whole_byte_shift(void *context, const struct instruction *it,
		      struct place place, struct place from_place)
{
	const bool goes_up = it->form == SHIFT_BYTES_UP;
	uintptr_t number, to;

	if (!vectors_shift(from_place, &number)) {
		engine_entered->vectors.unmatched++;
		return false;
	}
	if (number > 16)
		number = 16;
	to = lanes_load(context, place);
	shuffle_bytes(context, to,
		      lanes_of_bytes(context, goes_up ? 16 - number : number,
				     !goes_up));
	lanes_store(context, to, place);
	return true;
}
