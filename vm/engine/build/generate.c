/* SPDX-License-Identifier: GPL-2.0-or-later */
/* generate.c - see generate.h */
#include "vm/engine/build/generate.h"

#include "vm/engine/build/operations.h"
#include "vm/engine/engine_internal.h"

const struct generator *generator_now(void)
{
	return engine_entered->kind->generator;
}

uintptr_t generate_value(void *context, int type)
{
	return (uintptr_t)generator_now()->new(context, type, false);
}

void generate_end(void *context, uintptr_t value)
{
	generator_now()->free(context, (void *)value);
}

void generate_op2(void *context, int op, uintptr_t a, uintptr_t b)
{
	generator_now()->op2(context, op, a, b);
}

void generate_op3(void *context, int op, uintptr_t a, uintptr_t b, uintptr_t c)
{
	generator_now()->op3(context, op, a, b, c);
}

void generate_with(const struct generator *by, void *context, int op,
		   uintptr_t to, uintptr_t from, uint64_t number)
{
	uintptr_t constant = generate_value(context, TYPE_64);

	by->op2(context, OP_CONSTANT, constant, number);
	by->op3(context, op, to, from, constant);
	generate_end(context, constant);
}
