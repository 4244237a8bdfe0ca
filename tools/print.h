/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print.h - how answers look: memory, text from a guest, JSON lines
 *
 * Errors:     what is printed ends up in stdout's error flag; see
 *             finish_output().
 */
#ifndef CPREC_TOOLS_PRINT_H
#define CPREC_TOOLS_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "formats/registers.h"
#include "replayer/recording/recording.h"

/* Lines of 16 bytes with their address and text; `??` for unknown bytes. */
void print_memory(FILE *out, uint64_t addr, const uint8_t *bytes,
		  const uint8_t *known, size_t size);

/* Two lower-case digits a byte, "??" for an unknown one; free() it. */
char *memory_text(const uint8_t *bytes, const uint8_t *known, size_t size);

/* A register's value: "0x..." with all its digits, highest first. */
#define REGISTER_TEXT 40
void register_text(char text[REGISTER_TEXT], const struct reg_info *info,
		   const struct reg_file *file);

/*
 * Text that came from outside, in one line: control characters, and bytes that
 * are not UTF-8, as \xNN; a backslash as two.
 */
void print_escaped(FILE *out, const char *text, size_t size);

/* A value of an expression: its backslashes are escapes already. */
void print_value_text(FILE *out, const char *text);

/* An argument of a frame, and what it was when the function was called. */
struct shown_argument {
	const char *name, *value, *entry;	/* NULL: not known */
	const char *brief;	/* is shown for a value that has parts; or
				   NULL */
};

/* As gdb does: "n=n@entry=5", "n=6, n@entry=5", "list=...". */
void print_argument(FILE *out, const struct shown_argument *argument);

/* A line of source code: its backslashes and tabs stay. */
void print_source_text(FILE *out, const char *text, size_t size);

/*
 * The same as a JSON string: bytes that are not UTF-8 become U+FFFD, because
 * JSON knows no others.  NULL without memory.
 */
json_t *json_text(const char *text);

/* The same of a text with a size, in which NULs may be. */
json_t *json_text_of(const char *text, size_t size);

/* An argument vector as an array. */
json_t *json_arguments(char *const *argv, size_t argc);

/* A count; JSON has no 64-bit unsigned integers: those above are reals. */
json_t *json_count(uint64_t value);

/*
 * The same as members of an object; an address is "0x2a".  A position is "at",
 * and "events" if some have taken effect.
 */
void json_set_text(json_t *object, const char *key, const char *text);
void json_set_count(json_t *object, const char *key, uint64_t value);
void json_set_position(json_t *object, const struct position *at);
void json_set_address(json_t *object, const char *key, uint64_t addr);

/* "inflate" of "libz.so.1!inflate", if that is the module's name. */
const char *without_module(const char *function, const char *module);

/* Prints one line, keys in the order they were set, and ends the object. */
void print_json(json_t *object);
void print_json_line(FILE *out, json_t *object);

/* Whether nobody can or wants to read more, so that a list may end early. */
bool print_is_over(void);

/*
 * Where answers go in place of standard output, from now on: `take` ends the
 * object.
 */
struct json_sink {
	void *context;
	void (*take)(void *context, json_t *object);
	bool (*is_over)(void *context);
};

void print_json_to(const struct json_sink *sink);

#endif
