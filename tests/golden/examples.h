/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * examples.h - the contents that trace-format.md shows in hexadecimal
 *
 * Each has a heading of section 14; encoded, it is what stands there, and what
 * stands there decodes to something that is encoded to the same bytes.
 */
#ifndef CPREC_TESTS_GOLDEN_EXAMPLES_H
#define CPREC_TESTS_GOLDEN_EXAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"

struct example {
	const char *heading;
	void (*encode)(struct output *out);

	/* Decodes, and encodes again; returns what the decoder does. */
	int (*again)(struct output *out, const uint8_t *bytes, size_t size);
};

#define EXAMPLES 4

extern const struct example examples[EXAMPLES];

#endif
