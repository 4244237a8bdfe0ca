/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines.h - source lines of a recording's code
 *
 * Taken from the debugging information of the program and its libraries,
 * where their files are still there and have the symbols that were recorded.
 * Where they are not, or say nothing, the recording's own symbols name the
 * function.
 *
 * Ownership:  lines_destroy() frees; names are valid until then.  The
 *             recording is borrowed.
 * Errors:     ERR_NO_MEMORY.  What is not known is no error.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_LINES_H
#define CPREC_REPLAYER_SYMBOLS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Dwfl_Module;
struct dwarf_places;
struct failure;
struct lines;
struct names;
struct recording;

struct source_line {
	const char *file;	/* NULL: not known */
	unsigned line;		/* 0: not known */
	char function[128];	/* "main", "libz.so.1!inflate"; "" if nothing
				   covers the address */
	char module[128];	/* "libz.so.1"; "" if nothing is mapped there */
	uint64_t offset;	/* from the function's start; without a
				   function the address in the module's file */
};

int lines_create(struct lines **out, struct recording *recording,
		 struct failure *why);
void lines_destroy(struct lines *lines);

/* What symbols say; borrowed. */
struct names *lines_names(struct lines *lines);

/*
 * The file of the module at `addr` at time `t`, or NULL; less `*bias`, the
 * address is as in it.
 */
struct Dwfl_Module *lines_module(struct lines *lines, uint64_t t,
				 uint64_t addr, uint64_t *bias);

/* The line of the code at `addr` at time `t`. */
void lines_find(struct lines *lines, uint64_t t, uint64_t addr,
		struct source_line *out);

/*
 * Visits the code at time `t` that has lines, if the program is one file,
 * libraries included; nothing if it has no debugging information, or needs
 * shared libraries.
 */
int lines_each_code(struct lines *lines, uint64_t t,
		    int (*visit)(void *context, uint64_t start, uint64_t end),
		    void *context);

/*
 * Visits the global and static variables whose type is an atomic one, and
 * those parts of arrays and structures that are, in what is mapped at time
 * `t`.  A visit that returns an error ends it.
 */
int lines_each_atomic(struct lines *lines, uint64_t t,
		      int (*visit)(void *context, uint64_t addr,
				   uint64_t size),
		      void *context);

/* Adds what is said of atomics, for the code that is mapped at time `t`. */
int lines_add_places(struct lines *lines, uint64_t t,
		     struct dwarf_places *out);

/*
 * The canonical address of the frame that the code at `addr` has at time `t`,
 * as a register (numbered as in DWARF) and an offset; false if it is not known
 * to be such.
 */
bool lines_frame(struct lines *lines, uint64_t t, uint64_t addr,
		 unsigned *reg, uint64_t *offset);

#endif
