/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * short_names.h - functions by a part of their name, or by another one
 *
 * "twice" is app::twice if no function is called just so, and none in another
 * scope.  Functions of the program are meant before those of libraries.
 * Debugging information has names that the linker does not know: those of
 * closures of Rust, "main::{closure#0}", say.
 *
 * Errors:     ERR_INPUT (several functions are called so), ERR_NO_MEMORY;
 *             those of lines.h.  That there is none is no error.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_SHORT_NAMES_H
#define CPREC_REPLAYER_SYMBOLS_SHORT_NAMES_H

#include <stdint.h>

struct failure;
struct lines;
struct symbol_pattern;

/*
 * If no function of what is mapped at time `t` is meant by a name, finds those
 * that are called so otherwise: they are meant by the pattern from now on.
 */
int short_name_find(struct lines *lines, uint64_t t,
		    struct symbol_pattern *pattern, struct failure *why);

#endif
