/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moments.h - what the clock on the wall said at times of a recording
 *
 * CHUNK_MOMENTS.  A recorder looks at the clock now and then; between two looks
 * nothing is known.
 *
 * Units:      times are retired instructions, clocks microseconds since 1970
 *             (CLOCK_REALTIME).
 * Ownership:  the caller frees a decoded list.
 * Errors:     ERR_TRUNCATED, ERR_CORRUPT, ERR_NO_MEMORY.
 */
#ifndef CPREC_FORMATS_MOMENTS_H
#define CPREC_FORMATS_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"

struct moment {
	uint64_t time;
	int64_t clock;		/* may be set back */
};

/* Times do not fall. */
void moments_encode(struct output *out, const struct moment *list,
		    size_t count);
int moments_decode(struct moment **list, size_t *count, const uint8_t *bytes,
		   size_t size);

#endif
