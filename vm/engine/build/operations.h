/* SPDX-License-Identifier: GPL-2.0-or-later */
/* operations.h - of the engine's operations and conditions (QEMU 5.0) */
#ifndef CPREC_VM_ENGINE_BUILD_OPERATIONS_H
#define CPREC_VM_ENGINE_BUILD_OPERATIONS_H

/* On values of 64 bits, where nothing else is said. */
enum {
	OP_DISCARD = 0,
	OP_LABEL = 1,
	OP_CALL = 2,
	OP_JUMP = 3,
	OP_MOVE_32 = 5,		/* also the lower half of 64 bits */
	OP_CONSTANT_32 = 6,
	OP_LOADS_32 = 9,	/* five loads of values of 32 bits */
	OP_STORE_8_OF_32 = 14,	/* and three stores, by size */
	OP_STORE_32_OF_32 = 16,
	OP_ADD_32 = 17,
	OP_JUMP_IF_32 = 38,
	OP_MOVE = 63,
	OP_CONSTANT = 64,
	OP_IF = 65,		/* 1 where a condition is met, else 0 */
	OP_MOVE_IF = 66,
	OP_LOADS_64 = 67,	/* seven loads */
	OP_LOAD_LOW_32 = 71,	/* the upper half becomes zeros */
	OP_LOAD_64 = 73,
	OP_STORE_8_OF_64 = 74,	/* and four stores, by size */
	OP_STORE_LOW_32 = 76,
	OP_STORE_64 = 77,
	OP_ADD = 78,
	OP_SUBTRACT = 79,
	OP_MULTIPLY = 80,
	OP_AND = 87,
	OP_OR = 88,
	OP_XOR = 89,
	OP_SHIFT_UP = 90,
	OP_SHIFT_RIGHT = 91,	/* zeros come in */
	OP_SHIFT_DOWN = 92,	/* copies of the highest bit come in */
	OP_EXTRACT = 96,	/* some bits, which become the lowest */
	OP_WIDEN_SIGNED = 99,	/* of 32 bits: ext_i32_i64 */
	OP_WIDEN = 100,		/* of 32 bits: extu_i32_i64 */
	OP_JUMP_IF_64 = 103,
	OP_EXTENDS = 104,	/* of 8, 16, 32 bits: three signed, three not */
	OP_INSTRUCTION = 129,	/* insn_start: one begins */
	OP_END = 130, OP_GO_ON = 131, OP_GO_TO = 132,
};

/* On vectors. */
enum {
	OP_MOVE_VECTOR = 137,
	OP_CONSTANT_VECTOR = 138,	/* the same 64 bits twice */
	OP_LOAD_VECTOR = 141,
	OP_STORE_VECTOR = 142,
	OP_LOAD_ALIKE = 143,	/* one lane, which all become */
	OP_ADD_LANES = 144,
	OP_SUBTRACT_LANES = 145,
	OP_MULTIPLY_LANES = 146,
	OP_MAGNITUDE = 148,
	OP_ADD_SIGNED_SATURATED = 149,
	OP_ADD_SATURATED = 150,
	OP_SUBTRACT_SIGNED_SATURATED = 151,
	OP_SUBTRACT_SATURATED = 152,
	OP_SIGNED_MINIMUM = 153,
	OP_MINIMUM = 154,
	OP_SIGNED_MAXIMUM = 155,
	OP_MAXIMUM = 156,
	OP_AND_VECTOR = 157,
	OP_OR_VECTOR = 158,
	OP_XOR_VECTOR = 159,
	OP_AND_NOT_VECTOR = 160,
	OP_SHIFT_UP_BY = 163,	/* lanes, by a constant */
	OP_SHIFT_RIGHT_BY = 164,
	OP_SHIFT_DOWN_BY = 165,
	OP_SHIFT_LANES_UP = 166,
	OP_SHIFT_LANES_RIGHT = 167,
	OP_SHIFT_LANES_DOWN = 168,
	/* Of each lane by the same one, which only a host of AVX2 has. */
	OP_SHIFT_EACH_UP = 169,
	OP_SHIFT_EACH_RIGHT = 170,
	OP_SHIFT_EACH_DOWN = 171,
	OP_COMPARE_LANES = 172,
	/* Only where the host is x86-64. */
	OP_SHUFFLE_SINGLES = 176,
	OP_CHOOSE = 178,	/* lanes of one or the other, by a constant */
	OP_PACK_SIGNED = 179,
	OP_PACK = 180,
	OP_INTERLEAVE_LOW = 183,
	OP_INTERLEAVE_HIGH = 184,
};

/* Of a call: how many inputs and outputs, in its head; and in its last operand,
 * that it neither reads nor writes the guest's registers, or does not write
 * them. */
#define CALL_INPUTS_AT 8
#define CALL_OUTPUTS_AT 12
#define CALL_READS_NONE 0x10u
#define CALL_WRITES_NONE 0x20u

/* Of an operation on vectors, in its head: */
#define OP_LANE_AT 12

/* In the flags of an operation: no value is known behind it; what it calls uses
 * the host's registers for vectors; it computes with these. */
#define ENDS_PIECE 2u
#define CALLS 4u
#define OF_VECTORS 0x40u

/* In what the engine says of an access to memory: the logarithm of its size. */
#define ACCESS_SIZE 3u

/* Conditions. */
#define IS_ABOVE_OR_EQUAL 5	/* TCG_COND_GEU */
#define IS_EQUAL 8		/* TCG_COND_EQ */
#define IS_ABOVE_SIGNED 11	/* TCG_COND_GT */

/* Types of values. */
#define TYPE_32 0
#define TYPE_64 1
#define TYPE_HALF 2		/* of a vector */
#define TYPE_VECTOR 3		/* of 128 bits */

#endif
