/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nearest.c - see nearest.h */
#include "formats/nearest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* What one more letter of the name costs, column by column. */
static void next_row(const struct nearest *nearest, const char *name,
		     size_t row, unsigned (*rows)[NEAREST_MOST + 1])
{
	unsigned *now = rows[row % 3], *last = rows[(row + 2) % 3];
	const unsigned *before = rows[(row + 1) % 3];
	const char *typed = nearest->typed;

	now[0] = (unsigned)row;
	for (size_t i = 1; i <= nearest->size; i++) {
		now[i] = last[i - 1] + (typed[i - 1] != name[row - 1]);
		now[i] = least(now[i], least(last[i], now[i - 1]) + 1);
		if (row > 1 && i > 1 && typed[i - 1] == name[row - 2] &&
		    typed[i - 2] == name[row - 1])
			now[i] = least(now[i], before[i - 2] + 1);
	}
}

/*
 * Changes that turn one into the other; two letters that changed places are
 * one.  (The "optimal string alignment" distance.)
 */
static unsigned count_changes(const struct nearest *nearest, const char *name,
			      size_t size)
{
	unsigned rows[3][NEAREST_MOST + 1];

	for (unsigned i = 0; i <= nearest->size; i++)
		rows[0][i] = i;
	for (size_t row = 1; row <= size; row++)
		next_row(nearest, name, row, rows);
	return rows[size % 3][nearest->size];
}

void nearest_begin(struct nearest *nearest, const char *typed, size_t size)
{
	*nearest = (struct nearest){ .typed = typed, .size = size };
	nearest->distance = 2 + (unsigned)(size / 5);
}

void nearest_narrow(struct nearest *nearest)
{
	unsigned most = nearest->size < 5 ? 1 : 2;

	if (nearest->distance > most)
		nearest->distance = most;
}

/* "f" of "a::f" is written as it should be. */
static bool lacks_scope(const struct nearest *nearest, const char *name,
			size_t size)
{
	const char *end = name + size - nearest->size;

	return size > nearest->size + 2 && !memcmp(end - 2, "::", 2) &&
	       !memcmp(nearest->typed, end, nearest->size);
}

/* What stands behind the scopes, if none were typed. */
static const char *skip_scopes(const struct nearest *nearest, const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon && !memchr(nearest->typed, ':', nearest->size) ?
		       colon + 1 : name;
}

static unsigned distance_to(const struct nearest *nearest, const char *name,
			    size_t size)
{
	if (lacks_scope(nearest, name, size))
		return 0;
	if (size > nearest->size && nearest->size > 1 &&
	    !strncmp(nearest->typed, name, nearest->size))
		return 1;
	return count_changes(nearest, name, size);
}

void nearest_offer(struct nearest *nearest, const char *name)
{
	const char *last = skip_scopes(nearest, name);
	size_t size = strlen(name), last_size = strlen(last);
	unsigned distance;

	if (size > NEAREST_MOST || nearest->size > NEAREST_MOST || !nearest->size)
		return;
	distance = least(distance_to(nearest, name, size),
			 distance_to(nearest, last, last_size));
	/* Of a short name, not everything may be wrong. */
	if (distance >= nearest->distance || distance >= last_size)
		return;
	nearest->distance = distance;
	memcpy(nearest->name, name, size + 1);
}

const char *nearest_text(const struct nearest *nearest,
			 char text[NEAREST_TEXT])
{
	text[0] = '\0';
	if (*nearest->name)
		snprintf(text, NEAREST_TEXT, " (did you mean '%s'?)",
			 nearest->name);
	return text;
}
