/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wanted_value.h - the value that accesses must leave or find, as users write it
 *
 * "-1", "'a'", "RED", "2.5": an expression, which becomes what it would be in
 * the variable that is asked for.  Without a type, it is a number, and any
 * access counts that leaves or finds it in the bytes that it accesses.
 *
 * Ownership:  wanted_value_release() frees; a zeroed one is empty.
 * Errors:     ERR_INPUT (the text makes no sense, or is nothing that could be
 *             there), those of expressions.h.
 */
#ifndef CPREC_TOOLS_WANTED_VALUE_H
#define CPREC_TOOLS_WANTED_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "replayer/expressions/expressions.h"
#include "tools/questions.h"

struct wanted_value {
	uint8_t *bytes;		/* of the variable; NULL: a number is meant */
	uint64_t number;
};

int wanted_value_find(struct wanted_value *out, const char *text,
		      const struct question *what,
		      struct expressions *expressions, struct failure *why);
void wanted_value_release(struct wanted_value *value);

/* Whether the access, of what is asked for, leaves or finds it. */
bool wanted_value_is(const struct wanted_value *value,
		     const struct history_question *question,
		     const struct history_access *access);

#endif
