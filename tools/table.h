/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - text in columns that are as wide as what is in them
 *
 * The last column is not padded; it may be of any length.
 *
 * Ownership:  table_cell() copies; table_print() frees.
 * Errors:     without memory, cells are missing.
 */
#ifndef CPREC_TOOLS_TABLE_H
#define CPREC_TOOLS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <jansson.h>

struct table_column {
	const char *title;
	bool is_right;		/* aligned so, as numbers are */
};

struct table {
	const struct table_column *columns;
	size_t width;		/* number of columns */
	char **cells;
	size_t count, room;
};

/* The next cell, from left to right, line after line. */
void table_cell(struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Prints the titles and all lines.  With `cut`, lines end where a terminal's
 * do, if they are printed on one.
 */
void table_print(struct table *table, bool cut);

/* ------- what cells say ------- */

#define CELL_TEXT 48

/* "512", "4.2k", "133k", "1.5M": of bytes. */
void size_text(char text[CELL_TEXT], uint64_t size);

/* "0.07s", "1:02", "1:02:03"; "-" if it is not known when it ended. */
void duration_text(char text[CELL_TEXT], const json_t *object);

/* When it started, here: with the date, or only the time of the day, to the
 * millisecond. */
void started_text(char text[CELL_TEXT], const json_t *object, bool with_date);

/* "status 0", "SIGSEGV"; or that it has not ended, or how little is known. */
void ending_text(char text[CELL_TEXT], const json_t *object);

/* Arguments in one line, control characters and the like escaped; free() it. */
char *arguments_text(const json_t *arguments);

#endif
