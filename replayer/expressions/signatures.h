/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signatures.h - functions of one name, told apart by their arguments
 *
 * Arguments are given as linkers' names have them ("(char const*)"), or as
 * debugging information does ("(const char *)"); blanks do not count.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_SIGNATURES_H
#define CPREC_REPLAYER_EXPRESSIONS_SIGNATURES_H

#include <stdbool.h>
#include <stddef.h>

#include "replayer/expressions/context.h"

/*
 * Whether the arguments in a name are those of the functions that are, or are
 * around, an entry that has the name without them.  `*is_exact` is false if
 * the function is a const one, and the name does not say.
 */
bool signature_fits(struct context *context, const struct die_index *index,
		    const struct die_entry *entry, const char *name,
		    bool *is_exact);

/* "app::Server::serve(int)": as far as functions can have the same name. */
void signature_write(struct context *context, const struct die_index *index,
		     const struct die_entry *entry, char *text, size_t room);

#endif
