/* SPDX-License-Identifier: GPL-2.0-or-later */
/* generate.c - see generate.h */
#include "vm/engine/build/generate.h"

#include "vm/engine/build/operations.h"

void generate_with(const struct generator *by, void *context, int op,
		   uintptr_t to, uintptr_t from, uint64_t number)
{
	uintptr_t constant = (uintptr_t)by->new(context, TYPE_64, false);

	by->op2(context, OP_CONSTANT, constant, number);
	by->op3(context, op, to, from, constant);
	by->free(context, (void *)constant);
}
