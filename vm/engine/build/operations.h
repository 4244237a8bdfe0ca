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
	OP_CONSTANT_32 = 6,
	OP_LOADS_32 = 9,	/* five loads of values of 32 bits */
	OP_STORE_8_OF_32 = 14,	/* and three stores, by size */
	OP_STORE_32_OF_32 = 16,
	OP_JUMP_IF_32 = 38,
	OP_CONSTANT = 64,
	OP_MOVE_IF = 66,
	OP_LOADS_64 = 67,	/* seven loads */
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
	OP_NARROW = 101,	/* to 32 bits: extrl_i64_i32 */
	OP_WIDEN = 100,		/* of 32 bits: extu_i32_i64 */
	OP_JUMP_IF_64 = 103,
	OP_INSTRUCTION = 129,	/* insn_start: one begins */
	OP_END = 130, OP_GO_ON = 131, OP_GO_TO = 132,
};

/* Conditions. */
#define IS_BELOW 4		/* TCG_COND_LTU */
#define IS_EQUAL 8		/* TCG_COND_EQ */

/* Types of values. */
#define TYPE_32 0
#define TYPE_64 1
#define TYPE_VECTOR 3		/* of 128 bits */

#endif
