/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_layout.h - the fixed parts of a trace file as bytes
 *
 * What the writer and the reader of trace_file.h share; nobody else includes
 * it.  trace-format.md shows the same parts as tables.
 *
 * Units:      offsets and sizes are bytes.
 * Errors:     ERR_TRUNCATED, ERR_CORRUPT, ERR_CHECKSUM (the bytes are not
 *             those written), ERR_VERSION (sound, but not for this build).
 */
#ifndef CPREC_FORMATS_TRACE_LAYOUT_H
#define CPREC_FORMATS_TRACE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/bytes.h"
#include "formats/trace_file.h"

#define TRACE_OLDEST_READER 8	/* that can read what this build writes */
#define TRACE_OLDEST 8		/* version that this build can read */

#define TRACE_MAGIC "\x89" "cprec\r\n"
#define TRACE_MAGIC_SIZE 8
#define TRACE_HEADER_SIZE 64
#define CHUNK_HEADER_SIZE 48
#define TRACE_TRAILER_SIZE 24

/* A reader that does not know a kind with this bit leaves the chunk out. */
#define CHUNK_MAY_BE_SKIPPED 0x80u

void trace_header_encode(uint8_t bytes[TRACE_HEADER_SIZE],
			 const struct trace_header *header);

/*
 * ERR_CORRUPT: not a trace at all.  ERR_VERSION: for newer readers, if
 * `*oldest` is above TRACE_VERSION; made by an older cprec, if `out->version`
 * is below TRACE_OLDEST; else `out->features` has some that this build does not
 * know.
 */
int trace_header_decode(struct trace_header *out, uint32_t *oldest,
			const uint8_t bytes[TRACE_HEADER_SIZE]);

/* `checksum` is that of the bytes stored behind the header. */
void chunk_header_encode(uint8_t bytes[CHUNK_HEADER_SIZE],
			 const struct chunk_info *info, uint64_t checksum);

/* All of `out` but its offset. */
int chunk_header_decode(struct chunk_info *out, uint64_t *checksum,
			const uint8_t bytes[CHUNK_HEADER_SIZE]);

/* Whether this build knows the kind; if not, whether it may skip it. */
bool chunk_kind_is_known(unsigned kind);
bool chunk_kind_may_be_skipped(unsigned kind);

/* What a feature is called in messages; NULL if nobody has given it a name. */
const char *trace_feature_name(uint32_t feature);

/* "key frame", for messages. */
const char *chunk_kind_name(unsigned kind);

void trace_trailer_encode(uint8_t bytes[TRACE_TRAILER_SIZE],
			  uint64_t footer_offset);
int trace_trailer_decode(uint64_t *footer_offset,
			 const uint8_t bytes[TRACE_TRAILER_SIZE]);

/* One line of the footer's table; offsets follow from the sizes. */
void footer_line_encode(struct output *out, const struct chunk_info *info);
int footer_line_decode(struct input *in, struct chunk_info *out);

/* Where the chunk after this one starts. */
static inline uint64_t chunk_end(const struct chunk_info *info)
{
	return info->offset + CHUNK_HEADER_SIZE + info->stored_size;
}

uint64_t trace_checksum(const void *bytes, size_t size);

#endif
