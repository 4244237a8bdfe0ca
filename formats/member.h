/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * member.h - another process of the family, whose recording has what is named
 *
 * A recording names processes by numbers of its own, from 1, in the order of
 * the chunks that say which these are.  formats/trace-format.md, section 9.
 *
 * Errors:     ERR_TRUNCATED, ERR_CORRUPT.
 */
#ifndef CPREC_FORMATS_MEMBER_H
#define CPREC_FORMATS_MEMBER_H

#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"
#include "formats/family_path.h"
#include "formats/meta.h"

/* CHUNK_MEMBER: which process, and so which file. */
struct member {
	struct family_member name;	/* turn 0: it is the first process */
	uint8_t run[RUN_ID_SIZE];	/* as in its meta data */
};

/* CHUNK_SYMBOLS_AT: a chunk of another recording. */
struct symbols_at {
	uint32_t member;	/* its number; from 1 */
	uint64_t offset;	/* of the chunk's header */
};

void member_encode(struct output *out, const struct member *member);
int member_decode(struct member *out, const uint8_t *bytes, size_t size);

void symbols_at_encode(struct output *out, const struct symbols_at *at);
int symbols_at_decode(struct symbols_at *out, const uint8_t *bytes,
		      size_t size);

#endif
