/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print_calls.h - calls of functions, a line for each, in the order in which
 * they begin
 *
 * A call is printed when it and all that began before it are over: until then
 * what there is to print is kept.
 *
 * Ownership:  call_lines_release() frees.
 * Errors:     ERR_NO_MEMORY, those of expressions.h.
 */
#ifndef CPREC_TOOLS_PRINT_CALLS_H
#define CPREC_TOOLS_PRINT_CALLS_H

#include <stdbool.h>

#include "formats/number_map.h"
#include "replayer/expressions/expressions.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"

struct call_line;
struct caller;

struct call_lines {
	struct lines *lines;
	struct expressions *expressions;
	bool json;
	int width;			/* of times */
	struct call_line *first, **last;
	struct caller *all_callers;
	struct number_map callers;	/* by address */
};

void call_lines_init(struct call_lines *out, struct lines *lines,
		     struct expressions *expressions, bool json);
void call_lines_release(struct call_lines *lines);

/* A call begins, or is over, as struct calls_question has it. */
int call_lines_begin(struct call_lines *lines, struct call *call,
		     struct failure *why);
int call_lines_end(struct call_lines *lines, struct call *call,
		   struct failure *why);

/* How often each function was called, and the instructions in it. */
int print_call_counts(const struct call_functions *functions, bool json,
		      struct failure *why);

/* "libz.so.1!inflate": without arguments. */
void print_function_name(const char *name, const char *module, bool is_program);

#endif
