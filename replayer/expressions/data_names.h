/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_names.h - what the data at an address is called
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_DATA_NAMES_H
#define CPREC_REPLAYER_EXPRESSIONS_DATA_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/expressions/context.h"

/*
 * "stats.factors[1]", "libx.so!table[3].name+0x2": a variable, or the part of
 * it that begins there, or that has the address in it.  What has no debugging
 * information is named as names_of() does.  False if nothing covers it.
 */
bool data_name(struct context *context, uint64_t addr, char *text,
	       size_t room);

/*
 * The type of the part that begins `inside` bytes from the beginning of such a
 * thing, and has `size` bytes; NULL if there is none.
 */
struct type *data_part(struct context *context, struct type *type,
		       uint64_t inside, uint64_t size);

#endif
