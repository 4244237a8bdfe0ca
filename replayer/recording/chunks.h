/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chunks.h - the chunks of a trace file, put in order
 *
 * Private to this room.
 */
#ifndef CPREC_REPLAYER_RECORDING_CHUNKS_H
#define CPREC_REPLAYER_RECORDING_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

struct failure;
struct recording;

/* Puts the chunks before `limit` in order. */
int recording_order(struct recording *recording, size_t limit,
		    struct failure *why);

/* Undoes it. */
void recording_forget(struct recording *recording);

/* Describes what is wrong with a chunk. */
int recording_damaged(const struct recording *recording, uint32_t chunk,
		      int code, const char *field, struct failure *why);

#endif
