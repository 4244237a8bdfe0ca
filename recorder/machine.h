/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine.h - runs a whole machine and writes its recording
 *
 * What recorder.h is for programs.  The recording holds what a replay cannot
 * compute: what devices answered, when the processor was interrupted, how long
 * it was idle.  This never reads a recording.
 *
 * Errors:     ERR_INPUT (a file is no good), ERR_SYSTEM, ERR_NO_MEMORY.  How
 *             the machine ended is a result.
 * Threads:    none.
 */
#ifndef CPREC_RECORDER_MACHINE_H
#define CPREC_RECORDER_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/meta.h"
#include "vm/board/live.h"

struct failure;
struct output;
struct pollfd;

/* What is typed at the console. */
enum machine_input {
	INPUT_NONE,		/* nothing, so far */
	INPUT_BYTES,
	INPUT_CLOSED,		/* there will be nothing any more */
	INPUT_STOPS,		/* somebody wants the machine to end */
};

/* What else may happen meanwhile, and for how long. */
struct machine_wait {
	uint64_t most;		/* microseconds */
	struct pollfd *sockets;
	size_t count;
};

struct machine_options {
	struct live_options live;	/* but what devices call */
	const char *path;		/* of the recording; must not exist */
	const char *made_by;		/* "cprec 0.1" */
	char *const *argv;		/* how it was asked for; ends with NULL */
	unsigned cache_entries;		/* cache_is_size() */
	uint64_t segment_steps;		/* of segments; 0: the default */
	int level;			/* of compression; 0: the default */
	bool ends_at_reset;		/* else it begins anew */
	bool waits;			/* for as long as it is idle; else only
					   where somebody may type or answer */

	/* Waits for input; also without room, and when it is closed: it may be
	 * time to stop. */
	enum machine_input (*input)(void *context, uint8_t *bytes, size_t room,
				    size_t *count,
				    const struct machine_wait *wait);
	void (*output)(void *context, const uint8_t *bytes, size_t count);
	void (*warn)(void *context, const char *text);
	void *context;
};

/* How it ended; in words, if it was by a fault. */
struct machine_ending {
	unsigned end;		/* enum machine_end */
	char text[300];
};

int machine_record(const struct machine_options *options,
		   struct machine_ending *ending, struct failure *why);

/* ------- a machine that goes on where a recording is ------- */

struct machine_live;

/*
 * Of the options, no kernel and no path: nothing is recorded.  `board` is that
 * of a replay that begins at the start, or at a key frame; the follower is to be
 * told of it.  Disks are snapshots of what they were at the start.
 */
int machine_live_create(struct machine_live **out,
			const struct machine_options *options,
			struct board *board, struct failure *why);
void machine_live_destroy(struct machine_live *live);

/* It begins at a key frame: what devices are there, and blocks of disks. */
int machine_live_begin(struct machine_live *live, const uint8_t *state,
		       size_t size, struct failure *why);
void machine_live_block(struct machine_live *live, unsigned disk,
			uint64_t block, const uint8_t bytes[GUEST_PAGE]);

/* What they are now. */
void machine_live_state(struct machine_live *live, struct output *out);

struct board_follower machine_live_follower(struct machine_live *live);

/* From there on, it is alive.  The replay has stopped there for this. */
int machine_live_run(struct machine_live *live, enum board_stop stop,
		     struct machine_ending *ending, struct failure *why);

#endif
