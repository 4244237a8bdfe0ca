/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vectors.c - integer instructions of SSE2 to SSE4.2, without a call
 *
 * The engine generates a call of a function for each of them, in front of which
 * all registers are written back.  Where one operation of the engine's on
 * vectors, which is one instruction of the host's (AVX), does the same, it is
 * generated instead:
 *
 *	to = operation(to, from)
 *
 * Operands are loaded and stored as two halves.  So the engine moves vectors,
 * and the host hands over what has just been stored in two pieces only to loads
 * of these pieces.  Nor does it matter then that the registers are not at
 * multiples of 16.
 */
#include "vm/engine/build/vectors.h"

#include "vm/engine/build/operations.h"
#include "vm/engine/engine_internal.h"

extern op2_vector_fn vec_gen_2_x86_64;
extern op3_vector_fn vec_gen_3_x86_64;
extern op4_vector_fn vec_gen_4_x86_64;

/* A vector's halves. */
#define LOW 0
#define HIGH 8

enum form {
	OF_ONE,			/* to = operation(from) */
	OF_TWO,			/* to = operation(to, from) */
	OF_OTHERS,		/* to = operation(from, to) */
	COMPARE_EQUAL,
	COMPARE_ABOVE,		/* signed */
	SHUFFLE_ONE,		/* to = singles of from */
	SHUFFLE_SINGLES,	/* two of to, two of from */
	SHUFFLE_DOUBLES,
	SIGNS,			/* the highest bits of bytes, as a number */
	FROM_32, FROM_64,	/* a number, and zeros above it */
};

/* Lanes: 8, 16, 32, 64 bits are 0 to 3. */
#define INSTRUCTIONS                                                           \
	ROW(paddb_xmm, OF_TWO, OP_ADD_LANES, 0)                                \
	ROW(paddw_xmm, OF_TWO, OP_ADD_LANES, 1)                                \
	ROW(paddl_xmm, OF_TWO, OP_ADD_LANES, 2)                                \
	ROW(paddq_xmm, OF_TWO, OP_ADD_LANES, 3)                                \
	ROW(psubb_xmm, OF_TWO, OP_SUBTRACT_LANES, 0)                           \
	ROW(psubw_xmm, OF_TWO, OP_SUBTRACT_LANES, 1)                           \
	ROW(psubl_xmm, OF_TWO, OP_SUBTRACT_LANES, 2)                           \
	ROW(psubq_xmm, OF_TWO, OP_SUBTRACT_LANES, 3)                           \
	ROW(pmullw_xmm, OF_TWO, OP_MULTIPLY_LANES, 1)                          \
	ROW(pmulld_xmm, OF_TWO, OP_MULTIPLY_LANES, 2)                          \
	ROW(paddsb_xmm, OF_TWO, OP_ADD_SIGNED_SATURATED, 0)                    \
	ROW(paddsw_xmm, OF_TWO, OP_ADD_SIGNED_SATURATED, 1)                    \
	ROW(paddusb_xmm, OF_TWO, OP_ADD_SATURATED, 0)                          \
	ROW(paddusw_xmm, OF_TWO, OP_ADD_SATURATED, 1)                          \
	ROW(psubsb_xmm, OF_TWO, OP_SUBTRACT_SIGNED_SATURATED, 0)               \
	ROW(psubsw_xmm, OF_TWO, OP_SUBTRACT_SIGNED_SATURATED, 1)               \
	ROW(psubusb_xmm, OF_TWO, OP_SUBTRACT_SATURATED, 0)                     \
	ROW(psubusw_xmm, OF_TWO, OP_SUBTRACT_SATURATED, 1)                     \
	ROW(pminsb_xmm, OF_TWO, OP_SIGNED_MINIMUM, 0)                          \
	ROW(pminsw_xmm, OF_TWO, OP_SIGNED_MINIMUM, 1)                          \
	ROW(pminsd_xmm, OF_TWO, OP_SIGNED_MINIMUM, 2)                          \
	ROW(pminub_xmm, OF_TWO, OP_MINIMUM, 0)                                 \
	ROW(pminuw_xmm, OF_TWO, OP_MINIMUM, 1)                                 \
	ROW(pminud_xmm, OF_TWO, OP_MINIMUM, 2)                                 \
	ROW(pmaxsb_xmm, OF_TWO, OP_SIGNED_MAXIMUM, 0)                          \
	ROW(pmaxsw_xmm, OF_TWO, OP_SIGNED_MAXIMUM, 1)                          \
	ROW(pmaxsd_xmm, OF_TWO, OP_SIGNED_MAXIMUM, 2)                          \
	ROW(pmaxub_xmm, OF_TWO, OP_MAXIMUM, 0)                                 \
	ROW(pmaxuw_xmm, OF_TWO, OP_MAXIMUM, 1)                                 \
	ROW(pmaxud_xmm, OF_TWO, OP_MAXIMUM, 2)                                 \
	ROW(pabsb_xmm, OF_ONE, OP_MAGNITUDE, 0)                                \
	ROW(pabsw_xmm, OF_ONE, OP_MAGNITUDE, 1)                                \
	ROW(pabsd_xmm, OF_ONE, OP_MAGNITUDE, 2)                                \
	ROW(pand_xmm, OF_TWO, OP_AND_VECTOR, 0)                                \
	ROW(por_xmm, OF_TWO, OP_OR_VECTOR, 0)                                  \
	ROW(pxor_xmm, OF_TWO, OP_XOR_VECTOR, 0)                                \
	ROW(pandn_xmm, OF_OTHERS, OP_AND_NOT_VECTOR, 0)                        \
	ROW(psllw_xmm, OF_TWO, OP_SHIFT_LANES_UP, 1)                           \
	ROW(pslld_xmm, OF_TWO, OP_SHIFT_LANES_UP, 2)                           \
	ROW(psllq_xmm, OF_TWO, OP_SHIFT_LANES_UP, 3)                           \
	ROW(psrlw_xmm, OF_TWO, OP_SHIFT_LANES_RIGHT, 1)                        \
	ROW(psrld_xmm, OF_TWO, OP_SHIFT_LANES_RIGHT, 2)                        \
	ROW(psrlq_xmm, OF_TWO, OP_SHIFT_LANES_RIGHT, 3)                        \
	ROW(psraw_xmm, OF_TWO, OP_SHIFT_LANES_DOWN, 1)                         \
	ROW(psrad_xmm, OF_TWO, OP_SHIFT_LANES_DOWN, 2)                         \
	ROW(pcmpeqb_xmm, COMPARE_EQUAL, OP_COMPARE_LANES, 0)                   \
	ROW(pcmpeqw_xmm, COMPARE_EQUAL, OP_COMPARE_LANES, 1)                   \
	ROW(pcmpeql_xmm, COMPARE_EQUAL, OP_COMPARE_LANES, 2)                   \
	ROW(pcmpeqq_xmm, COMPARE_EQUAL, OP_COMPARE_LANES, 3)                   \
	ROW(pcmpgtb_xmm, COMPARE_ABOVE, OP_COMPARE_LANES, 0)                   \
	ROW(pcmpgtw_xmm, COMPARE_ABOVE, OP_COMPARE_LANES, 1)                   \
	ROW(pcmpgtl_xmm, COMPARE_ABOVE, OP_COMPARE_LANES, 2)                   \
	ROW(pcmpgtq_xmm, COMPARE_ABOVE, OP_COMPARE_LANES, 3)                   \
	ROW(punpcklbw_xmm, OF_TWO, OP_INTERLEAVE_LOW, 0)                       \
	ROW(punpcklwd_xmm, OF_TWO, OP_INTERLEAVE_LOW, 1)                       \
	ROW(punpckldq_xmm, OF_TWO, OP_INTERLEAVE_LOW, 2)                       \
	ROW(punpcklqdq_xmm, OF_TWO, OP_INTERLEAVE_LOW, 3)                      \
	ROW(punpckhbw_xmm, OF_TWO, OP_INTERLEAVE_HIGH, 0)                      \
	ROW(punpckhwd_xmm, OF_TWO, OP_INTERLEAVE_HIGH, 1)                      \
	ROW(punpckhdq_xmm, OF_TWO, OP_INTERLEAVE_HIGH, 2)                      \
	ROW(punpckhqdq_xmm, OF_TWO, OP_INTERLEAVE_HIGH, 3)                     \
	ROW(packsswb_xmm, OF_TWO, OP_PACK_SIGNED, 0)                           \
	ROW(packssdw_xmm, OF_TWO, OP_PACK_SIGNED, 1)                           \
	ROW(packuswb_xmm, OF_TWO, OP_PACK, 0)                                  \
	ROW(packusdw_xmm, OF_TWO, OP_PACK, 1)                                  \
	ROW(pshufd_xmm, SHUFFLE_ONE, OP_SHUFFLE_SINGLES, 2)                    \
	ROW(shufps, SHUFFLE_SINGLES, OP_SHUFFLE_SINGLES, 2)                    \
	ROW(shufpd, SHUFFLE_DOUBLES, OP_SHUFFLE_SINGLES, 2)                    \
	ROW(pmovmskb_xmm, SIGNS, 0, 0)                                         \
	ROW(movl_mm_T0_xmm, FROM_32, 0, 0)                                     \
	ROW(movq_mm_T0_xmm, FROM_64, 0, 0)

#define ROW(name_, form_, op_, lane_) extern char helper_##name_##_x86_64[];
INSTRUCTIONS
#undef ROW

static const struct instruction {
	const void *function;
	uint8_t form, op, lane;
} instructions[] = {
#define ROW(name_, form_, op_, lane_)                                          \
	{ helper_##name_##_x86_64, form_, op_, lane_ },
	INSTRUCTIONS
#undef ROW
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

/* ------- generating ------- */

static const struct generator *generate(void)
{
	return engine_entered->kind->generator;
}

static uintptr_t new_value(void *context, int type)
{
	return (uintptr_t)generate()->new(context, type, false);
}

static void free_value(void *context, uintptr_t value)
{
	generate()->free(context, (void *)value);
}

static uintptr_t load(void *context, uintptr_t place)
{
	uintptr_t value = new_value(context, TYPE_VECTOR);
	uintptr_t high = new_value(context, TYPE_VECTOR);

	vec_gen_3_x86_64(context, OP_LOAD_VECTOR, TYPE_HALF, 0, value, place,
			 LOW);
	vec_gen_3_x86_64(context, OP_LOAD_VECTOR, TYPE_HALF, 0, high, place,
			 HIGH);
	vec_gen_3_x86_64(context, OP_INTERLEAVE_LOW, TYPE_VECTOR, 3, value,
			 value, high);
	free_value(context, high);
	return value;
}

/* `value` is not needed any more. */
static void store(void *context, uintptr_t value, uintptr_t place)
{
	vec_gen_3_x86_64(context, OP_STORE_VECTOR, TYPE_HALF, 0, value, place,
			 LOW);
	vec_gen_3_x86_64(context, OP_INTERLEAVE_HIGH, TYPE_VECTOR, 3, value,
			 value, value);
	vec_gen_3_x86_64(context, OP_STORE_VECTOR, TYPE_HALF, 0, value, place,
			 HIGH);
}

/* The same of doubles: of two bits, which ones. */
static uintptr_t singles_of(uintptr_t doubles)
{
	return (doubles & 1 ? 0xe : 0x4) | (doubles & 2 ? 0xe0 : 0x40);
}

static void compute(void *context, const struct instruction *it, uintptr_t to,
		    uintptr_t from)
{
	const unsigned lane = it->lane;
	uintptr_t number = newest.number & 0xff;

	switch (it->form) {
	case OF_ONE:
		vec_gen_2_x86_64(context, it->op, TYPE_VECTOR, lane, to, from);
		return;
	case OF_TWO:
		vec_gen_3_x86_64(context, it->op, TYPE_VECTOR, lane, to, to,
				 from);
		return;
	case OF_OTHERS:
		vec_gen_3_x86_64(context, it->op, TYPE_VECTOR, lane, to, from,
				 to);
		return;
	case COMPARE_EQUAL:
		number = IS_EQUAL;
		break;
	case COMPARE_ABOVE:
		number = IS_ABOVE_SIGNED;
		break;
	case SHUFFLE_ONE:
		vec_gen_4_x86_64(context, it->op, TYPE_VECTOR, lane, to, from,
				 from, number);
		return;
	case SHUFFLE_DOUBLES:
		number = singles_of(number);
		break;
	}
	vec_gen_4_x86_64(context, it->op, TYPE_VECTOR, lane, to, to, from,
			 number);
}

static void generate_two(void *context, const struct instruction *it,
			 uintptr_t to_place, uintptr_t from_place)
{
	uintptr_t from = load(context, from_place), to;

	if (it->form == OF_ONE || it->form == SHUFFLE_ONE)
		to = new_value(context, TYPE_VECTOR);
	else
		to = load(context, to_place);
	compute(context, it, to, from);
	store(context, to, to_place);
	free_value(context, to);
	free_value(context, from);
}

static void with_constant(void *context, int op, uintptr_t value,
			  uint64_t number)
{
	generate_with(generate(), context, op, value, value, number);
}

/* The highest bits of 8 bytes become the highest byte. */
static uintptr_t signs_of(void *context, uintptr_t place, size_t half)
{
	uintptr_t value = new_value(context, TYPE_64);

	generate()->op3(context, OP_LOAD_64, value, place, half);
	with_constant(context, OP_AND, value, UINT64_C(0x8080808080808080));
	with_constant(context, OP_MULTIPLY, value, UINT64_C(0x2040810204081));
	return value;
}

static void generate_signs(void *context, uintptr_t result, uintptr_t place)
{
	uintptr_t low = signs_of(context, place, LOW);
	uintptr_t high = signs_of(context, place, HIGH);

	with_constant(context, OP_SHIFT_RIGHT, low, 56);
	with_constant(context, OP_SHIFT_RIGHT, high, 48);
	with_constant(context, OP_AND, high, 0xff00);
	generate()->op3(context, OP_OR, low, low, high);
	generate()->op2(context, OP_MOVE_32, result, low);
	free_value(context, high);
	free_value(context, low);
}

static void generate_number(void *context, uintptr_t place, uintptr_t number,
			    bool is_narrow)
{
	uintptr_t other = new_value(context, TYPE_64);

	if (is_narrow) {
		generate()->op2(context, OP_WIDEN, other, number);
		number = other;
	}
	generate()->op3(context, OP_STORE_64, number, place, LOW);
	generate()->op2(context, OP_CONSTANT, other, 0);
	generate()->op3(context, OP_STORE_64, other, place, HIGH);
	free_value(context, other);
}

bool vectors_generate(void *context, const void *function, void *result,
		      void **arguments)
{
	const struct instruction *it;
	uintptr_t first, second;

	if (!engine_entered || !engine_entered->vectors_are_inline)
		return false;
	it = find(function);
	if (!it)
		return false;
	first = (uintptr_t)arguments[0];
	second = (uintptr_t)arguments[1];
	switch (it->form) {
	case SIGNS:
		generate_signs(context, (uintptr_t)result, second);
		return true;
	case FROM_32:
	case FROM_64:
		generate_number(context, first, second, it->form == FROM_32);
		return true;
	case SHUFFLE_ONE:
	case SHUFFLE_SINGLES:
	case SHUFFLE_DOUBLES:
		if (newest.value != (uintptr_t)arguments[2])
			return false;
		generate_two(context, it, first, second);
		return true;
	}
	generate_two(context, it, second, (uintptr_t)arguments[2]);
	return true;
}
