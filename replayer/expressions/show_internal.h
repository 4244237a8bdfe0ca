/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show_internal.h - the parts of show.h */
#ifndef CPREC_REPLAYER_EXPRESSIONS_SHOW_INTERNAL_H
#define CPREC_REPLAYER_EXPRESSIONS_SHOW_INTERNAL_H

#include "replayer/expressions/show.h"

#define SHOWN_MOST 200u		/* elements and characters, by default as gdb */
#define REPEATS_LEAST 10u	/* more equal ones are counted */
#define VIRTUAL_MOST 32u	/* bases that are shown once */

struct shower {
	struct context *context;
	FILE *out;
	char format;
	unsigned depth;
	bool is_listed;		/* its type does not stand before it */
	bool is_brief;		/* nothing of what is in it */
	bool is_raw;		/* containers are shown by their members */
	uint64_t most;		/* elements and characters */

	/* Virtual bases that were shown, of the object that is being shown. */
	const void *bases[VIRTUAL_MOST];
	unsigned base_count;
	bool is_base;		/* what is shown next is a base of it */
	struct failure *why;
};

/* show_numbers.c: what has no parts.  The bytes are there. */
void show_integer(struct shower *shower, const struct value *value);
void show_float(struct shower *shower, const struct value *value);
void show_enum(struct shower *shower, const struct value *value);
int show_formatted(struct shower *shower, const struct value *value);
void show_character(struct shower *shower, const struct type *type,
		    uint32_t c);

/* show_text.c: characters in a row. */

/* `count` characters of `width` bytes; `cut`: there are more. */
void show_characters(struct shower *shower, const struct type *type,
		     const uint8_t *bytes, size_t count, bool cut);

/* One of them between quotes. */
void show_escaped(FILE *out, const struct type *type, uint32_t c, char quote);

/* The text that a pointer points to; false if nothing is known there. */
void show_pointed_text(struct shower *shower, struct type *type,
		       uint64_t addr);

/* "<counter+4>" behind an address, if it has a name. */
void show_symbol(struct shower *shower, uint64_t addr, const char *before);

/*
 * show_containers.c: `*is_one` is false, and nothing is written, if it is no
 * container.
 */
int show_container(struct shower *shower, struct value *value, bool *is_one);

/* show_rust.c */
int show_rust(struct shower *shower, struct value *value);
/* Whether it has the same members whatever they hold. */
bool rust_is_structure(struct type *type);

/* show.c: any value that is a part of another. */
int show_part(struct shower *shower, struct value *value);

#endif
