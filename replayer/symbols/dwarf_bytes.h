/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_bytes.h - units of debugging information as bytes
 *
 * libdw tells what entries say.  This tells where the bytes are that say it, for
 * who copies units to another place.
 *
 * Units:      bytes.
 * Ownership:  abbrevs_release() frees; a zeroed list is empty.  Bytes are
 *             borrowed.
 * Errors:     as in formats/bytes.h: an input's error is sticky.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_DWARF_BYTES_H
#define CPREC_REPLAYER_SYMBOLS_DWARF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"

/* LEB128 in any form, as compilers pad it; bits above 64 are lost. */
uint64_t dwarf_take_uleb(struct input *in);
int64_t dwarf_take_sleb(struct input *in);

void dwarf_put_sleb(struct output *out, int64_t value);

/* ------- abbreviations ------- */

struct abbrev {
	uint64_t code, tag;
	bool has_children;
	const uint8_t *start, *attributes, *end;
};

struct abbrevs {
	struct abbrev *list;	/* by code */
	size_t count, room;
};

/* ERR_CORRUPT also if a code has two meanings. */
int abbrevs_read(struct abbrevs *out, struct input table);
const struct abbrev *abbrevs_find(const struct abbrevs *abbrevs, uint64_t code);
void abbrevs_release(struct abbrevs *abbrevs);

/* ------- entries ------- */

/* How large things are in a unit; offsets have 4 bytes. */
struct dwarf_shape {
	unsigned version;
	unsigned word;		/* of an address: 4 or 8 */
};

struct dwarf_attribute {
	uint64_t name, form;
	int64_t constant;	/* of DW_FORM_implicit_const */
	const uint8_t *bytes;
	size_t size;
};

/*
 * Visits the attributes of the entry whose bytes are next in `in`, behind its
 * code, and takes these bytes.
 */
void dwarf_each_attribute(struct input *in, const struct abbrev *abbrev,
			  const struct dwarf_shape *shape,
			  void (*visit)(void *context,
					const struct dwarf_attribute *attribute),
			  void *context);

/* A value of a constant's form, or of an index's; false of another. */
bool dwarf_constant(const struct dwarf_attribute *attribute, uint64_t *out);

/* ------- expressions ------- */

/*
 * Visits the offsets in .debug_info that an expression has, of 4 bytes each.
 * What is behind an operation that is not known is not looked at.
 */
void dwarf_each_offset(struct input expression, const struct dwarf_shape *shape,
		       void (*visit)(void *context, const uint8_t *offset),
		       void *context);

#endif
