/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lanes.h - vectors of x86-64 as the engine's values, for who generates
 *
 * Operands are loaded and stored as two halves.  So the engine moves vectors,
 * and the host hands over what has just been stored in two pieces only to loads
 * of these pieces.  Nor does it matter then that the registers are not at
 * multiples of 16.
 *
 * Who gets a value ends it by generate_end(), or by storing it.
 */
#ifndef CPREC_VM_ENGINE_BUILD_LANES_H
#define CPREC_VM_ENGINE_BUILD_LANES_H

#include "vm/engine/build/generate.h"

extern op2_vector_fn vec_gen_2_x86_64;
extern op3_vector_fn vec_gen_3_x86_64;
extern op4_vector_fn vec_gen_4_x86_64;

/* An operand in memory of the engine's: an address, and what is added to it. */
struct place {
	uintptr_t base, offset;
};

/* Where a vector's halves are. */
#define LANES_LOW 0
#define LANES_HIGH 8

uintptr_t lanes_new(void *context);

uintptr_t lanes_load(void *context, struct place place);
void lanes_store(void *context, uintptr_t value, struct place place);

/* The lowest double or single alone; above it is anything. */
uintptr_t lanes_load_lowest(void *context, struct place place, bool is_single);
void lanes_store_lowest(void *context, uintptr_t value, struct place place,
			bool is_single);

uintptr_t lanes_constant(void *context, uint64_t low, uint64_t high);

/*
 * For PSHUFB: bytes from `number` on of 32, of which the upper or the lower 16
 * are the operand, and the others zeros.
 */
uintptr_t lanes_of_bytes(void *context, uintptr_t number, bool is_low);

#endif
