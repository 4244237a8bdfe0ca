/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lanes.c - see lanes.h */
#include "vm/engine/build/lanes.h"

#include <string.h>

#include "vm/engine/build/operations.h"
#include "vm/engine/engine_internal.h"

uintptr_t lanes_new(void *context)
{
	return generate_value(context, TYPE_VECTOR);
}

/* Both halves of one, from the lower ones of two. */
static uintptr_t join(void *context, uintptr_t low, uintptr_t high)
{
	vec_gen_3_x86_64(context, OP_INTERLEAVE_LOW, TYPE_VECTOR, 3, low, low,
			 high);
	generate_end(context, high);
	return low;
}

static uintptr_t load_half(void *context, struct place place, size_t half)
{
	uintptr_t value = lanes_new(context);

	vec_gen_3_x86_64(context, OP_LOAD_VECTOR, TYPE_HALF, 0, value,
			 place.base, place.offset + half);
	return value;
}

uintptr_t lanes_load(void *context, struct place place)
{
	uintptr_t low = load_half(context, place, LANES_LOW);

	return join(context, low, load_half(context, place, LANES_HIGH));
}

static void store_half(void *context, uintptr_t value, struct place place,
		       size_t half)
{
	vec_gen_3_x86_64(context, OP_STORE_VECTOR, TYPE_HALF, 0, value,
			 place.base, place.offset + half);
}

/*
 * What was stored may be wanted again: its value is used for something else
 * only when some more have been stored.  See forward.c.
 */
static void retire(void *context, uintptr_t value)
{
	struct engine *engine = engine_entered;
	uintptr_t *oldest = &engine->vectors.stored[engine->vectors.next];

	if (*oldest)
		generate_end(context, *oldest);
	*oldest = value;
	engine->vectors.next = (engine->vectors.next + 1) % ENGINE_STORED;
}

void lanes_store(void *context, uintptr_t value, struct place place)
{
	uintptr_t high = lanes_new(context);

	store_half(context, value, place, LANES_LOW);
	vec_gen_3_x86_64(context, OP_INTERLEAVE_HIGH, TYPE_VECTOR, 3, high,
			 value, value);
	store_half(context, high, place, LANES_HIGH);
	retire(context, value);
	retire(context, high);
}

void lanes_begin_block(struct engine *engine)
{
	memset(&engine->vectors.stored, 0, sizeof(engine->vectors.stored));
	engine->vectors.are_used = false;
}

uintptr_t lanes_load_lowest(void *context, struct place place, bool is_single)
{
	uintptr_t value;

	if (!is_single)
		return load_half(context, place, LANES_LOW);
	value = lanes_new(context);
	vec_gen_3_x86_64(context, OP_LOAD_ALIKE, TYPE_VECTOR, 2, value,
			 place.base, place.offset);
	return value;
}

void lanes_store_lowest(void *context, uintptr_t value, struct place place,
			bool is_single)
{
	uintptr_t number;

	if (!is_single) {
		store_half(context, value, place, LANES_LOW);
	} else {
		number = generate_value(context, TYPE_32);
		generate_op2(context, OP_MOVE_32, number, value);
		generate_op3(context, OP_STORE_32_OF_32, number, place.base,
			     place.offset);
		generate_end(context, number);
	}
	retire(context, value);
}

static uintptr_t constant_half(void *context, uint64_t number)
{
	uintptr_t value = lanes_new(context);

	vec_gen_2_x86_64(context, OP_CONSTANT_VECTOR, TYPE_VECTOR, 3, value,
			 number);
	return value;
}

uintptr_t lanes_constant(void *context, uint64_t low, uint64_t high)
{
	uintptr_t value = constant_half(context, low);

	return low == high ? value
			   : join(context, value, constant_half(context, high));
}

/* Of eight bytes from `number` on. */
static uint64_t bytes_from(uintptr_t number, bool is_low)
{
	const uintptr_t first = is_low ? 0 : 16;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < 8; i++) {
		uintptr_t byte = number + i - first;

		bytes |= (uint64_t)(byte < 16 ? byte : 0x80) << (8 * i);
	}
	return bytes;
}

uintptr_t lanes_of_bytes(void *context, uintptr_t number, bool is_low)
{
	return lanes_constant(context, bytes_from(number, is_low),
			      bytes_from(number + 8, is_low));
}
