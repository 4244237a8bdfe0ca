/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * candidates.h - what in debugging information is called by a name
 *
 * A name may lack scopes, blanks and arguments of functions; arguments that it
 * has must be those.
 *
 * What the unit has that the thread is in comes first, then what its module and
 * then others let everybody see, then what is static in another unit of the
 * program, at last that in others.  Where code of a library is, by chance, what
 * the program has comes first.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_CANDIDATES_H
#define CPREC_REPLAYER_EXPRESSIONS_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>

#include <elfutils/libdw.h>

#include "replayer/expressions/context.h"

struct failure;

/* Bytes of a name, at most. */
#define NAME_MOST 4096u

struct candidate {
	const struct context_module *module;
	const struct die_index *index;
	const struct die_entry *entry;
	unsigned fit;
	bool is_several;	/* others, with other arguments, fit as well */
};

/* The one that fits best; of types, or of all else that has a value. */
bool candidates_find(struct context *context, const char *name, bool types,
		     struct candidate *out);

/* The unit that it is in; false if that has no name. */
bool candidate_unit(const struct candidate *found, Dwarf_Die *unit);

/* Says which there are, in quotes: ERR_INPUT. */
int candidates_refuse(struct context *context, const char *name,
		      const struct candidate *several, struct failure *why);

#endif
