/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trail.h - the stretch just replayed, kept so that steps in it cost nothing
 *
 * Whoever steps will step again.  So a step replays some thousand instructions
 * and keeps where each of them begins, with all registers, and what they write:
 * the next steps, in either direction, are found there.
 *
 * A thread stops before each of its instructions; and before a signal that it
 * gets, where it would go on otherwise.
 *
 * Ownership:  the query is borrowed; what is found is the trail's, until it is
 *             asked again.
 * Errors:     those of replayer.h.
 */
#ifndef CPREC_REPLAYER_SESSION_TRAIL_H
#define CPREC_REPLAYER_SESSION_TRAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/registers.h"
#include "replayer/recording/recording.h"
#include "replayer/session/query.h"

struct trail;

struct trail_stop {
	struct position at;
	uint32_t stream;
	uint64_t signal;	/* is about to be delivered; 0: none */
	guest_addr pc;
	bool others;		/* other threads execute on the way there, */
	bool prints;		/* or forwards, the program prints */
};

int trail_create(struct trail **out, struct query *query, struct failure *why);
void trail_destroy(struct trail *trail);

/*
 * The stop of a stream at a position, the next one behind it, or the last one
 * before it.  ERR_NOT_FOUND if there is none.
 */
int trail_at(struct trail *trail, const struct position *at, uint32_t stream,
	     struct trail_stop *out, struct failure *why);
int trail_next(struct trail *trail, const struct position *at, uint32_t stream,
	       struct trail_stop *out, struct failure *why);
int trail_previous(struct trail *trail, const struct position *at,
		   uint32_t stream, struct trail_stop *out,
		   struct failure *why);

/*
 * Memory at a position on the trail; false if that is not kept, or not all of it
 * is known for certain.
 */
bool trail_read(struct trail *trail, const struct position *at, uint64_t addr,
		uint8_t *bytes, size_t size);

/* Registers of a stream where it stops; false if that is not kept. */
bool trail_registers(const struct trail *trail, const struct position *at,
		     uint32_t stream, struct reg_file *out);

#endif
