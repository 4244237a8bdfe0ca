/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * absent.h - why there is no function of a name
 *
 * It was inlined wherever it was called; or another name is meant: one that is
 * nearly the same, or the same, or what the pattern means, in a scope.
 *
 * Errors:     none; what is not known is left out.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_ABSENT_H
#define CPREC_REPLAYER_SYMBOLS_ABSENT_H

#include <stddef.h>
#include <stdint.h>

struct lines;
struct symbol_pattern;

#define ABSENT_TEXT 200

/*
 * ": it was inlined in main, parse", " (did you mean 'find'?)", or nothing, in
 * what is mapped at time `t`.
 */
const char *absent_text(struct lines *lines, uint64_t t,
			const struct symbol_pattern *pattern,
			char text[ABSENT_TEXT]);

#endif
