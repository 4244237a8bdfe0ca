/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nearest.h - the name that a mistyped one was meant to be
 *
 * Names that could have been meant are offered one by one.  The nearest one
 * has the fewest letters missing, added, changed or swapped with their
 * neighbour; or what was typed is its beginning, or lacks only its scope.
 *
 * Ownership:  what was typed is borrowed; names are copied.
 */
#ifndef CPREC_FORMATS_NEAREST_H
#define CPREC_FORMATS_NEAREST_H

#include <stddef.h>

#define NEAREST_MOST 100u	/* letters; nobody mistypes more than that */

struct nearest {
	const char *typed;
	size_t size;		/* of `typed` */
	char name[NEAREST_MOST + 1];	/* "": none is near enough */
	unsigned distance;	/* of `name`; or more than is near enough */
};

void nearest_begin(struct nearest *nearest, const char *typed, size_t size);

/* From now on, only what is wrong in one letter of several is near enough. */
void nearest_narrow(struct nearest *nearest);

void nearest_offer(struct nearest *nearest, const char *name);

/* " (did you mean 'NAME'?)", or nothing. */
#define NEAREST_TEXT 160
const char *nearest_text(const struct nearest *nearest,
			 char text[NEAREST_TEXT]);

#endif
