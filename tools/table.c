/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table.c - see table.h */
#include "tools/table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "formats/array.h"
#include "tools/print.h"
#include "vm/linux/abi/names.h"

#define TITLES SIZE_MAX		/* the line above all others */
#define LAST_LEAST 20		/* columns; with fewer, nothing is cut */

void table_cell(struct table *table, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (array_room(table->cells, table->count, table->room))
		free(text);
	else
		table->cells[table->count++] = text;
}

static const char *cell(const struct table *table, size_t line, size_t column)
{
	size_t place = line * table->width + column;
	const char *text = place < table->count ? table->cells[place] : NULL;

	return text ? text : "";
}

/* Columns on a terminal: bytes but those that go on with a character. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static size_t column_width(const struct table *table, size_t column)
{
	size_t lines = table->count / table->width;
	size_t width = width_of(table->columns[column].title);

	for (size_t i = 0; i < lines; i++) {
		size_t own = width_of(cell(table, i, column));

		width = own > width ? own : width;
	}
	return width;
}

/* How many columns the last cell may have; all of them if nothing says. */
static size_t room_for_last(const struct table *table, const size_t *widths,
			    bool cut)
{
	struct winsize terminal;
	size_t before = 0;

	if (!cut || !isatty(STDOUT_FILENO) ||
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &terminal))
		return SIZE_MAX;
	for (size_t i = 0; i + 1 < table->width; i++)
		before += widths[i] + 2;
	return before + LAST_LEAST < terminal.ws_col ?
		       terminal.ws_col - before : SIZE_MAX;
}

/* The last one, as far as it has room. */
static void print_last(const char *text, size_t room)
{
	size_t size = 0, width = 0;

	for (; text[size]; size++) {
		width += ((unsigned char)text[size] & 0xc0) != 0x80;
		if (width > room)
			break;
	}
	printf("%.*s\n", (int)size, text);
}

static void print_line(const struct table *table, size_t line,
		       const size_t *widths, size_t room)
{
	for (size_t i = 0; i < table->width; i++) {
		const char *text = line == TITLES ? table->columns[i].title :
						    cell(table, line, i);
		int space = (int)(widths[i] - width_of(text));

		if (i + 1 == table->width)
			print_last(text, room);
		else if (table->columns[i].is_right)
			printf("%*s%s  ", space, "", text);
		else
			printf("%s%*s  ", text, space, "");
	}
}

void table_print(struct table *table, bool cut)
{
	size_t lines = table->count / table->width;
	size_t *widths = calloc(table->width, sizeof(*widths));
	size_t room;

	for (size_t i = 0; widths && i < table->width; i++)
		widths[i] = column_width(table, i);
	if (widths) {
		room = room_for_last(table, widths, cut);
		print_line(table, TITLES, widths, room);
		for (size_t i = 0; i < lines; i++)
			print_line(table, i, widths, room);
	}
	free(widths);
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i]);
	free(table->cells);
	*table = (struct table){ .columns = table->columns,
				 .width = table->width };
}

/* ------- what cells say ------- */

void size_text(char text[CELL_TEXT], uint64_t size)
{
	static const char units[] = "kMGTPE";
	double value = (double)size / 1024;
	size_t unit = 0;

	if (size < 1024) {
		snprintf(text, CELL_TEXT, "%" PRIu64, size);
		return;
	}
	/* What would be shown as 1024 is 1.0 of the next. */
	for (; value >= 1023.5 && units[unit + 1]; unit++)
		value /= 1024;
	snprintf(text, CELL_TEXT, value < 9.95 ? "%.1f%c" : "%.0f%c", value,
		 units[unit]);
}

static bool take_number(const json_t *object, const char *key, json_int_t *out)
{
	const json_t *value = json_object_get(object, key);

	*out = json_integer_value(value);
	return json_is_integer(value);
}

/* Whatever is in a file: no more than this many seconds. */
#define CLOCK_MOST 1e12

static bool take_clock(const json_t *object, const char *key, double *out)
{
	const json_t *value = json_object_get(object, key);

	*out = json_number_value(value);
	return json_is_number(value) && *out >= 0 && *out < CLOCK_MOST;
}

void duration_text(char text[CELL_TEXT], const json_t *object)
{
	double started, ended;
	int64_t seconds;

	snprintf(text, CELL_TEXT, "-");
	if (!take_clock(object, "started", &started) ||
	    !take_clock(object, "ended", &ended) || ended < started)
		return;
	seconds = (int64_t)(ended - started);
	if (seconds < 60)
		snprintf(text, CELL_TEXT, "%.2fs", ended - started);
	else if (seconds < 3600)
		snprintf(text, CELL_TEXT, "%d:%02d", (int)(seconds / 60),
			 (int)(seconds % 60));
	else
		snprintf(text, CELL_TEXT, "%" PRId64 ":%02d:%02d",
			 seconds / 3600, (int)(seconds / 60 % 60),
			 (int)(seconds % 60));
}

void started_text(char text[CELL_TEXT], const json_t *object, bool with_date)
{
	double clock;
	time_t started;
	struct tm tm;
	size_t size;

	snprintf(text, CELL_TEXT, "-");
	if (!take_clock(object, "started", &clock))
		return;
	started = (time_t)clock;
	if (!localtime_r(&started, &tm))
		return;
	size = strftime(text, CELL_TEXT,
			with_date ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", &tm);
	if (!with_date)
		snprintf(text + size, CELL_TEXT - size, ".%03d",
			 (int)((clock - (double)started) * 1000));
}

void ending_text(char text[CELL_TEXT], const json_t *object)
{
	const json_t *exit = json_object_get(object, "exit");
	json_int_t number;
	const char *name;

	if (json_is_true(json_object_get(object, "writing"))) {
		snprintf(text, CELL_TEXT, "is recorded");
	} else if (json_object_get(object, "error")) {
		snprintf(text, CELL_TEXT, "unreadable");
	} else if (json_object_get(exit, "became")) {
		snprintf(text, CELL_TEXT, "exec");
	} else if (json_object_get(exit, "machine")) {
		snprintf(text, CELL_TEXT, "%s", json_string_value(
			 json_object_get(exit, "machine")));
	} else if (take_number(exit, "code", &number)) {
		snprintf(text, CELL_TEXT, "status %" JSON_INTEGER_FORMAT,
			 number);
	} else if (!take_number(exit, "signal", &number)) {
		snprintf(text, CELL_TEXT, "cut short");
	} else {
		name = linux_signal_name((uint64_t)number);
		if (name)
			snprintf(text, CELL_TEXT, "%s", name);
		else
			snprintf(text, CELL_TEXT,
				 "signal %" JSON_INTEGER_FORMAT, number);
	}
}

char *arguments_text(const json_t *arguments)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < json_array_size(arguments); i++) {
		const json_t *argument = json_array_get(arguments, i);

		if (i)
			fputc(' ', out);
		print_escaped(out, json_string_value(argument),
			      json_string_length(argument));
	}
	return fclose(out) ? NULL : text;
}
