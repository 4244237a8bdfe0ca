/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steps.h - a replay that tells of each instruction
 *
 * Told is the state before every instruction, and the one in which a thread
 * leaves the processor to another one, or the run ends.
 *
 * Errors:     those of replayer.h.
 */
#ifndef CPREC_REPLAYER_SESSION_STEPS_H
#define CPREC_REPLAYER_SESSION_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/region.h"
#include "replayer/recording/recording.h"
#include "replayer/session/query.h"

struct steps;

struct step {
	struct position at;	/* EVENTS_ALL: all events there are */
	uint32_t stream;
	guest_addr pc;		/* of the thread's next instruction */
};

struct steps_question {
	struct query *query;
	struct position from, to;

	/* A result other than 0 ends the run and is returned. */
	int (*met)(void *context, struct steps *steps, const struct step *step);
	void *context;
};

int steps_run(const struct steps_question *question, struct failure *why);

/* ------- for those who are told ------- */

uint64_t steps_register(const struct steps *steps, unsigned reg);
struct replayer *steps_replayer(const struct steps *steps);

#endif
