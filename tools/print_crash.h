/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print_crash.h - how a signal ended a program, in words
 *
 * Errors:     those of crash.h.
 */
#ifndef CPREC_TOOLS_PRINT_CRASH_H
#define CPREC_TOOLS_PRINT_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "vm/vm.h"

struct failure;
struct opened;

/* What the processor found wrong, in words. */
struct fault_words {
	const char *code;	/* "SEGV_MAPERR"; NULL: it has none */
	const char *reason;	/* "address not mapped" */
	const char *access;	/* "read", of `addr`; NULL: of no memory */
	uint64_t addr;
};

/* `sp` is the stack pointer. */
struct fault_words fault_words(uint64_t signal, const struct vm_stop *fault,
			       uint64_t sp);

/*
 * All that is known of the end of a program by a signal, as an object;
 * `*out` is NULL if none ended it.
 */
int crash_describe(json_t **out, struct opened *opened,
		   struct failure *why);

/* The same as lines for a person. */
void print_crash(const json_t *crash);

#endif
