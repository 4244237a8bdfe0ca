/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code.h - instructions, where a replayer stands
 *
 * Units:      sizes are bytes.
 * Ownership:  what is visited is borrowed until the visit ends.
 * Errors:     those of replayer.h.  Code that nobody knows is no error.
 */
#ifndef CPREC_REPLAYER_SESSION_CODE_H
#define CPREC_REPLAYER_SESSION_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/vm.h"

struct failure;
struct lines;
struct replayer;

/* The function around an address; false if none is known. */
bool code_function(struct lines *lines, uint64_t t, uint64_t addr,
		   uint64_t *start, uint64_t *end);

struct code_line {
	uint64_t addr;
	size_t size;
	const uint8_t *bytes;	/* NULL: these are not known */
	struct vm_instruction instruction;	/* its size is 0: it is none */
	char name[256];		/* "main+4"; "" if nobody knows */
	char target[256];	/* the same, of the instruction's target */
};

struct code_walk {
	struct replayer *replayer;
	struct lines *lines;
	uint64_t start, end;	/* instructions that begin in between */
	uint64_t count;		/* at most so many */
	enum vm_syntax syntax;

	/* A result other than 0 ends it, and is returned. */
	int (*visit)(void *context, const struct code_line *line);
	void *context;
};

int code_each(const struct code_walk *walk, struct failure *why);

#endif
