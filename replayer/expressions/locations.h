/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locations.h - where a variable is, at a time, in a frame
 *
 * Ownership:  bytes are of the context (context_take()).
 * Errors:     ERR_NOT_FOUND: it is nowhere, or cannot be told; those of
 *             context.h.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_LOCATIONS_H
#define CPREC_REPLAYER_EXPRESSIONS_LOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "replayer/expressions/location_values.h"

struct context;
struct failure;

/* What an optimizer's pointer points to: a variable, and how far into it. */
struct pointed {
	Dwarf_Die variable;
	uint64_t offset;
};

struct location {
	bool has_addr;		/* it is in memory; else in `bytes` */
	uint64_t addr;
	const char *reg;	/* the register that all of it is in, or NULL */
	uint8_t *bytes;		/* `size` as asked for */
	uint8_t *known;		/* 1 or 0 for each; NULL: all are */
	bool is_absent;		/* optimized out: nowhere */
	const struct pointed *pointed;	/* ... but for that; or NULL */
};

/* Where the variable of an entry is; `size` is that of its type. */
int location_of(struct context *context, Dwarf_Die *variable, size_t size,
		struct location *out, struct failure *why);

/*
 * What an attribute of an entry computes, with `*start` on the stack, or
 * nothing: an address, or a number.
 */
int location_value_of(struct context *context, Dwarf_Attribute *attribute,
		      const uint64_t *start, struct location_value *out,
		      struct failure *why);

/*
 * What an argument was when the function was entered that the frame is of, if
 * its caller says so: ERR_NOT_FOUND.
 */
int location_at_entry(struct context *context, Dwarf_Die *variable,
		      struct location_value *out, struct failure *why);

#endif
