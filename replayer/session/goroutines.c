/* SPDX-License-Identifier: GPL-2.0-or-later */
/* goroutines.c - see goroutines.h */
#include "replayer/session/goroutines.h"

#include <stddef.h>

#include "replayer/replayer.h"
#include "replayer/session/known_memory.h"

bool goroutines_are_in(const struct symbols *symbols)
{
	return symbols_find(symbols, "runtime.g0") &&
	       symbols_find(symbols, "runtime.newproc");
}

static const char *register_name(enum arch arch)
{
	return arch == ARCH_X86_64 ? "r14" : arch == ARCH_AARCH64 ? "x28" :
								     NULL;
}

bool goroutine_find(struct replayer *replayer, const struct reg_table *table,
		    guest_addr sp, struct goroutine *out)
{
	const char *name = register_name(table->arch);
	struct reg_named named;
	uint64_t stack[2];	/* where it begins and ends */

	if (!name || !reg_find(table, name, &named))
		return false;
	out->number = replayer_reg(replayer, named.reg);
	if (!known_memory_read(replayer, out->number, stack, sizeof(stack)) ||
	    sp < stack[0] || sp > stack[1])
		return false;
	out->stack_end = stack[1];
	return true;
}
