/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_lines.h - what steps by lines must know of code
 *
 * Units:      addresses are those at a time.
 * Ownership:  names are borrowed from debugging information.
 * Errors:     none; what is not known is 0.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_CODE_LINES_H
#define CPREC_REPLAYER_SYMBOLS_CODE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/symbols/inlines.h"
#include "replayer/symbols/lines.h"

/* A function that was inlined. */
struct code_inline {
	uint64_t start;		/* of its code */
	bool begins;		/* control comes into it at the address */
	struct source_line called;	/* what it is called, and where it is
					   called */
};

/*
 * Visits the functions that are inlined where an address is, the innermost one
 * first.  A result other than 0 ends the visits and is returned.
 */
int code_each_inline(struct lines *lines, uint64_t t, uint64_t addr,
		     int (*visit)(void *context,
				  const struct code_inline *one),
		     void *context);

/* The part of a function that an address is in, by debugging information. */
bool code_function_part(struct lines *lines, uint64_t t, uint64_t addr,
			uint64_t *start, uint64_t *end);

/* The same by symbols of the module's file; the recording may have fewer. */
bool code_function_symbol(struct lines *lines, uint64_t t, uint64_t addr,
			  uint64_t *start, uint64_t *end);

/* What only leads to functions of libraries, or looks for them. */
bool code_is_linker(struct lines *lines, uint64_t t, uint64_t addr);

/* What chooses which function a name means, when that is called first. */
bool code_is_resolver(struct lines *lines, uint64_t t, uint64_t addr);

/*
 * Where a step into the function that begins with these bytes stops: behind the
 * code that sets up its frame, if it has one.
 */
#define CODE_ENTRY_BYTES 32u
uint64_t code_step_place(struct lines *lines, uint64_t t, uint64_t entry,
			 const uint8_t bytes[CODE_ENTRY_BYTES]);

#endif
