/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * goroutines.h - which goroutine of Go a thread executes
 *
 * Threads take turns with goroutines, and the stack of one is copied to another
 * place when it has become too small: only how far something is from the stack's
 * end stays.
 *
 * Source: struct g of Go's runtime (runtime2.go), which begins with where its
 * stack is; cmd/compile/abi-internal.md: the register that has its address.
 *
 * Ownership:  nothing is allocated.
 * Errors:     none.
 */
#ifndef CPREC_REPLAYER_SESSION_GOROUTINES_H
#define CPREC_REPLAYER_SESSION_GOROUTINES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/region.h"
#include "formats/registers.h"
#include "formats/symbols.h"

struct replayer;

struct goroutine {
	uint64_t number;	/* the address of what the runtime has of it */
	guest_addr stack_end;
};

/* Whether a module is a program of Go. */
bool goroutines_are_in(const struct symbols *symbols);

/* The one whose code is executed, with its stack pointer there. */
bool goroutine_find(struct replayer *replayer, const struct reg_table *table,
		    guest_addr sp, struct goroutine *out);

#endif
