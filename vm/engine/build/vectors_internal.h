/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vectors_internal.h - the forms that instructions on vectors have, and who
 * generates them
 */
#ifndef CPREC_VM_ENGINE_BUILD_VECTORS_INTERNAL_H
#define CPREC_VM_ENGINE_BUILD_VECTORS_INTERNAL_H

#include "vm/engine/build/lanes.h"

enum form {
	OF_ONE,			/* to = operation(from) */
	OF_TWO,			/* to = operation(to, from) */
	OF_OTHERS,		/* to = operation(from, to) */
	SHIFT_UP, SHIFT_RIGHT, SHIFT_DOWN,	/* the same, or by a constant */
	COMPARE_EQUAL,
	COMPARE_ABOVE,		/* signed */
	SHUFFLE_ONE,		/* to = singles of from */
	SHUFFLE_LOW,		/* words of the lower half; of the upper one */
	SHUFFLE_HIGH,
	SHUFFLE_SINGLES,	/* two of to, two of from */
	SHUFFLE_DOUBLES,
	CHOOSE,			/* lanes of to or from */
	CHOOSE_DOUBLES,
	WIDEN, WIDEN_SIGNED,	/* lanes of the lower half, so many times */
	SHIFT_BYTES_UP, SHIFT_BYTES_DOWN,
	ALIGN_BYTES,		/* of both, as one of 32 bytes */
	TEST,			/* ZF, CF: no bits in common, none but these */
	SIGNS,			/* the highest bits of bytes, as a number */
	FROM_32, FROM_64,	/* a number, and zeros above it */
	DOUBLES, SINGLES,	/* the lowest lane, of two */
	OF_DOUBLE,		/* to's lowest double = operation(from's) */
	SINGLE_OF_DOUBLE,
	DOUBLE_OF_SINGLE,
	CALL_DOUBLES, CALL_SINGLES,	/* the same by a function */
	COMPARE_DOUBLES, COMPARE_SINGLES,	/* into flags */
	/* Conversions: integers of 32 or 64 bits. */
	DOUBLE_OF_32, DOUBLE_OF_64, SINGLE_OF_32, SINGLE_OF_64,
	DOUBLE_TO_32, DOUBLE_TO_64, SINGLE_TO_32, SINGLE_TO_64,
};

struct instruction {
	const void *function;	/* of the engine's, which calls it */
	const void *called;	/* with values, by what is generated */
	uint8_t form, op, lane;
};

/* What the tables of the engine's belong to. */
#define OPERATION_mul_insn OP_MULTIPLY_LANES
#define OPERATION_ssadd_insn OP_ADD_SIGNED_SATURATED
#define OPERATION_usadd_insn OP_ADD_SATURATED
#define OPERATION_sssub_insn OP_SUBTRACT_SIGNED_SATURATED
#define OPERATION_ussub_insn OP_SUBTRACT_SATURATED
#define OPERATION_smin_insn OP_SIGNED_MINIMUM
#define OPERATION_umin_insn OP_MINIMUM
#define OPERATION_smax_insn OP_SIGNED_MAXIMUM
#define OPERATION_umax_insn OP_MAXIMUM
#define OPERATION_shls_insn OP_SHIFT_LANES_UP
#define OPERATION_shrs_insn OP_SHIFT_LANES_RIGHT
#define OPERATION_sars_insn OP_SHIFT_LANES_DOWN
#define OPERATION_shlv_insn OP_SHIFT_EACH_UP
#define OPERATION_shrv_insn OP_SHIFT_EACH_RIGHT
#define OPERATION_sarv_insn OP_SHIFT_EACH_DOWN
#define OPERATION_packss_insn OP_PACK_SIGNED
#define OPERATION_packus_insn OP_PACK

#define HOST(name_, table_, lane_, opcode_, before_)                           \
	HOST_##name_ = OPERATION_##table_, HOST_##name_##_LANE = lane_,
enum {
#include "vm/engine/build/manifest.inc"
};
#undef HOST

/* ------- vectors.c ------- */

/*
 * How far a shift goes, where that is a constant: the engine has written it
 * into the vector, the last operand.
 */
bool vectors_shift(struct place vector, uintptr_t *number);

/* ------- vectors_whole.c: all lanes; `number`: a constant operand ------- */

void whole_two(void *context, const struct instruction *it, struct place to,
	       struct place from, uintptr_t number);
void whole_shift(void *context, const struct instruction *it, struct place to,
		 struct place from);

/* False: call it. */
bool whole_byte_shift(void *context, const struct instruction *it,
		      struct place to, struct place from);

/* ------- vectors_numbers.c: numbers, and lowest lanes ------- */

void numbers_signs(void *context, uintptr_t result, struct place place);
void numbers_load(void *context, struct place place, uintptr_t number,
		  bool is_narrow);
void numbers_test(void *context, struct place to, struct place from);
void numbers_lowest(void *context, const struct instruction *it,
		    struct place to, struct place from);
void numbers_lowest_call(void *context, const struct instruction *it,
			 struct place to, struct place from);
void numbers_compare(void *context, const struct instruction *it,
		     struct place left, struct place right);
void numbers_from_integer(void *context, const struct instruction *it,
			  struct place place, uintptr_t integer);
void numbers_to_integer(void *context, const struct instruction *it,
			uintptr_t result, struct place place);

#endif
