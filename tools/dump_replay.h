/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dump_replay.h - what packets do not say, but a replay does
 *
 * What the program wrote, and why an instruction could not retire.
 *
 * Ownership:  dump_replay_release() frees; of a zeroed structure, only the
 *             recording is to be set; it is borrowed.
 * Errors:     those of query.h.
 */
#ifndef CPREC_TOOLS_DUMP_REPLAY_H
#define CPREC_TOOLS_DUMP_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "formats/packet.h"
#include "replayer/session/session.h"

struct dump_replay {
	struct recording *recording;
	struct query *query;

	/* FAULTs of one segment, in their order. */
	bool has_faults;
	size_t segment;
	struct vm_stop *faults;
	size_t count, room;
	bool lacks;		/* memory */
};

/*
 * Sets "code", "access" and "addr" of a FAULT: `number` counts those of the
 * segment, from 0.
 */
int dump_replay_fault(struct dump_replay *replay, size_t segment,
		      size_t number, const struct packet *packet, json_t *line,
		      struct failure *why);

/* Sets "text" of a part of an output: `size` bytes, from `skip` on. */
int dump_replay_output(struct dump_replay *replay,
		       const struct output_part *output, uint64_t skip,
		       size_t size, json_t *line, struct failure *why);

void dump_replay_release(struct dump_replay *replay);

#endif
