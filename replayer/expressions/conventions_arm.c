/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conventions_arm.c - see conventions_arm.h */
#include "replayer/expressions/conventions_arm.h"

#include <string.h>

#include "formats/error.h"
#include "formats/registers.h"
#include "replayer/expressions/float_shape.h"

#define WORD 4u
#define SINGLES 16u		/* registers of one word for them */
#define REGISTERS 4u

static bool is_of_floats(const struct float_shape *shape)
{
	return !shape->is_mixed && shape->count &&
	       (shape->size == 4 || shape->size == 8 || shape->size == 16);
}

/* ------- registers and the stack ------- */

static uint64_t words_of(uint64_t size)
{
	return (size + WORD - 1) / WORD;
}

static int make(struct context *context, struct type *type, struct value *out,
		struct failure *why)
{
	*out = (struct value) {
		.type = type,
		.bytes = context_take(context, type->size + 2 * WORD),
	};
	return out->bytes ? 0 : failed(why, ERR_NO_MEMORY, "out of memory");
}

/* From the first one of arguments on; results are in the same. */
static int take_registers(struct context *context, unsigned first,
			  unsigned count, uint8_t *to, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(
		context->recording);
	const struct reg_file *file;
	int rc = 0;

	for (unsigned i = 0; i < count && !rc; i++) {
		unsigned reg = table->args[first + i];

		rc = context_register(context, reg, &file, why);
		if (!rc)
			memcpy(to + (size_t)i * WORD, file->bytes +
			       table->regs[reg].offset, WORD);
	}
	return rc;
}

/* Single registers follow each other in the file, two in each double one. */
static int take_floats(struct context *context, unsigned first,
		       unsigned count, uint8_t *to, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(
		context->recording);
	const struct reg_file *file;
	int rc = 0;

	for (unsigned i = first; i < first + count && !rc; i++) {
		unsigned reg = table->vector_args[i / 2];

		rc = context_register(context, reg, &file, why);
		if (!rc)
			memcpy(to + (size_t)(i - first) * WORD, file->bytes +
			       table->regs[reg].offset +
			       (size_t)(i % 2) * WORD, WORD);
	}
	return rc;
}

/* The first of so many that are free in a row; SINGLES: none is. */
static unsigned find_floats(const struct arguments *taken, unsigned count,
			    unsigned step)
{
	uint32_t wanted = (1u << count) - 1;
	unsigned first = 0;

	while (first + count <= SINGLES && taken->vectors & wanted << first)
		first += step;
	return first + count <= SINGLES ? first : SINGLES;
}

static int stack_pointer(struct context *context, uint64_t *out,
			 struct failure *why)
{
	const struct reg_table *table = recording_reg_table(
		context->recording);
	const struct reg_file *file;
	int rc = context_register(context, table->sp, &file, why);

	*out = rc ? 0 : reg_get(table, file, table->sp);
	return rc;
}

static int take_stack(struct context *context, struct arguments *taken,
		      struct type *type, const struct float_shape *shape,
		      struct value *out, struct failure *why)
{
	uint64_t sp;
	int rc = stack_pointer(context, &sp, why);

	taken->stack = (taken->stack + shape->align - 1) &
		       ~(uint64_t)(shape->align - 1);
	*out = (struct value) {
		.type = type, .has_addr = true, .addr = sp + taken->stack,
	};
	taken->stack += words_of(type->size) * WORD;
	return rc;
}

/* What is passed as an address is what is there. */
static int follow(struct context *context, const struct value *address,
		  struct type *type, struct value *out, struct failure *why)
{
	uint32_t addr = 0;
	int rc = 0;

	if (address->bytes)
		memcpy(&addr, address->bytes, sizeof(addr));
	else
		rc = context_read(context, address->addr, (uint8_t *)&addr,
				  sizeof(addr), why);
	*out = (struct value){ .type = type, .has_addr = true, .addr = addr };
	return rc;
}

/* ------- arguments ------- */

static int float_argument(struct context *context, struct arguments *taken,
			  struct type *type, const struct float_shape *shape,
			  struct value *out, struct failure *why)
{
	unsigned count = shape->count * shape->size / WORD;
	unsigned first = find_floats(taken, count, shape->size / WORD);
	int rc;

	if (first == SINGLES) {
		taken->vectors = UINT32_MAX;	/* nor do those behind it */
		return take_stack(context, taken, type, shape, out, why);
	}
	taken->vectors |= ((1u << count) - 1) << first;
	rc = make(context, type, out, why);
	return rc ? rc : take_floats(context, first, count, out->bytes, why);
}

/* In registers, and what is left of it on the stack, if nothing is there. */
static int number_argument(struct context *context, struct arguments *taken,
			   struct type *type, const struct float_shape *shape,
			   struct value *out, struct failure *why)
{
	uint64_t count = words_of(type->size), left = 0, sp;
	unsigned first;
	int rc;

	if (shape->align > WORD)
		taken->numbers += taken->numbers % 2;
	first = taken->numbers;
	if (first >= REGISTERS || (taken->stack && first + count > REGISTERS)) {
		taken->numbers = REGISTERS;
		return take_stack(context, taken, type, shape, out, why);
	}
	if (first + count > REGISTERS)
		left = first + count - REGISTERS;
	taken->numbers = (unsigned)(first + count - left);
	taken->stack += left * WORD;
	rc = make(context, type, out, why);
	if (!rc)
		rc = take_registers(context, first,
				    (unsigned)(count - left), out->bytes, why);
	if (!rc && left)
		rc = stack_pointer(context, &sp, why);
	return rc || !left ? rc :
		context_read(context, sp, out->bytes + (count - left) * WORD,
			     left * WORD, why);
}

static int address_argument(struct context *context, struct arguments *taken,
			    struct type *type, struct value *out,
			    struct failure *why)
{
	const struct float_shape shape = { .align = WORD, .is_mixed = true };
	struct type address = { .kind = TYPE_POINTER, .size = WORD };
	struct value value;
	int rc = number_argument(context, taken, &address, &shape, &value,
				 why);

	return rc ? rc : follow(context, &value, type, out, why);
}

int arm_argument(struct context *context, struct arguments *taken,
		 struct type *type, bool is_copy, struct value *out,
		 struct failure *why)
{
	struct float_shape shape;
	int rc = float_shape_of(context, type, is_copy, &shape, why);

	if (rc < 0)
		return rc;
	if (is_copy)
		return address_argument(context, taken, type, out, why);
	return is_of_floats(&shape) ?
		       float_argument(context, taken, type, &shape, out, why) :
		       number_argument(context, taken, type, &shape, out, why);
}

/* ------- results ------- */

/* Where the caller says: all that one register does not hold. */
static bool is_stored(const struct type *type, const struct float_shape *shape,
		      bool is_copy)
{
	if (is_copy)
		return true;
	return !type_is_scalar(type) && type->kind != TYPE_VOID &&
	       !is_of_floats(shape) && type->size > WORD;
}

int arm_argument_of_result(struct context *context, struct arguments *taken,
			   struct type *result, bool is_copy,
			   struct failure *why)
{
	struct float_shape shape;
	int rc = float_shape_of(context, result, is_copy, &shape, why);

	taken->numbers = rc >= 0 && is_stored(result, &shape, is_copy);
	return rc;
}

int arm_result(struct context *context, struct type *type, bool is_copy,
	       struct value *out, struct failure *why)
{
	struct float_shape shape;
	int rc = float_shape_of(context, type, is_copy, &shape, why);

	if (rc < 0)
		return rc;
	if (is_stored(type, &shape, is_copy))
		return failed(why, ERR_NOT_FOUND,
			      "no register tells where the result is");
	rc = make(context, type, out, why);
	if (rc)
		return rc;
	if (is_of_floats(&shape))
		return take_floats(context, 0, shape.count * shape.size / WORD,
				   out->bytes, why);
	return take_registers(context, 0, type->size > WORD ? 2 : 1,
			      out->bytes, why);
}
