/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_places.h - where a breakpoint stops that is set on a line or a function
 *
 * Source: how gdb 13 finds them: of a line, the first instruction in each
 * block; of a function, what is behind the code that sets up its frame, unless
 * debugging information says where variables are from the first instruction on.
 *
 * Units:      addresses are those at a time.
 * Errors:     ERR_NO_MEMORY, those of the visits.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_CODE_PLACES_H
#define CPREC_REPLAYER_SYMBOLS_CODE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

struct lines;

/*
 * Where control comes into a function, or a copy of one that was inlined, and
 * where the part of its code ends that has this place: others may be elsewhere.
 * A place that is in no part, as optimizers leave it behind, is none: then it is
 * the start of the first part.  Addresses are as in the debugging information.
 */
bool code_part_of_function(Dwarf_Die *function, uint64_t *entry, uint64_t *end);

/* A result other than 0 ends the visits and is returned. */
typedef int code_visit(void *context, uint64_t addr);

/*
 * Visits the places of a line, as they are at time `t` in the module with this
 * number (names_mapped()).  The file may have wildcards, and need not have its
 * folders.
 */
int code_places_of_line(struct lines *lines, uint64_t t, size_t number,
			const char *file, unsigned line, code_visit *visit,
			void *context);

/* The lines of a file around one that do have code; 0: there is none. */
struct code_lines_around {
	unsigned before, behind;
};

void code_lines_around(struct lines *lines, uint64_t t, const char *file,
		       unsigned line, struct code_lines_around *out);

/* The code of a function: its own, or that of a copy that was inlined. */
struct function_code {
	Dwarf_Die unit, function;
	uint64_t bias;		/* added to addresses of debugging information */
	uint64_t entry;		/* where control comes into it */
	uint64_t place;		/* behind what sets up its frame */
};

/* Finds the function that begins at an address; false if nothing is known. */
bool function_code_find(struct lines *lines, uint64_t t, uint64_t entry,
			struct function_code *out);

/*
 * Visits its parts: others than the first may be elsewhere.  Without the code
 * that sets up its frame.
 */
typedef int code_part_visit(void *context, uint64_t start, uint64_t end);
int function_code_parts(const struct function_code *code,
			code_part_visit *visit, void *context);

/*
 * Visits where its statements begin; those of functions that are inlined in it
 * are theirs.
 */
int function_code_statements(struct lines *lines,
			     const struct function_code *code,
			     code_visit *visit, void *context);

/* How many functions are inlined in it, one in the other, at an address. */
unsigned function_code_inlines(struct lines *lines,
			       const struct function_code *code, uint64_t addr);

/*
 * Finds the function that a line at an address belongs to, and says how many
 * functions are inlined into it there.  It is the function that makes an inlined
 * call on that line, else the last one declared before the line.
 */
unsigned code_line_inlines(struct lines *lines, uint64_t t, uint64_t addr,
			   const char *file, unsigned line);

/* The place of the function that begins at an address. */
uint64_t code_place_of_function(struct lines *lines, uint64_t t,
				uint64_t entry);

/* The same, also where variables are valid at once. */
uint64_t code_place_by_rows(struct lines *lines, uint64_t t, uint64_t entry);

/*
 * What is behind the code that sets up a function's frame, if the code at an
 * address does that.  Addresses are as in the unit's debugging information.
 */
uint64_t code_behind_frame(struct lines *lines, Dwarf_Die *unit, uint64_t addr);

#endif
