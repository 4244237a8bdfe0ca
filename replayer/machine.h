/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine.h - executes the recording of a machine again
 *
 * What replayer.h is for programs: a position that moves.  No device is there:
 * what they answered, and when they interrupted, is in the recording.
 *
 * Units:      times are retired instructions.
 * Ownership:  the recording is borrowed and must outlive the replay.
 * Errors:     ERR_DIVERGED (`why` says where and what), those of recording.h
 *             and board.h.
 * Threads:    one at a time.
 */
#ifndef CPREC_REPLAYER_MACHINE_H
#define CPREC_REPLAYER_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "replayer/recording/recording.h"
#include "vm/board/board.h"

struct failure;
struct machine_replay;

int machine_replay_create(struct machine_replay **out,
			  struct recording *recording, struct failure *why);
void machine_replay_destroy(struct machine_replay *replay);

/* What is written to the console is told from now on. */
void machine_replay_tell(struct machine_replay *replay,
			 void (*output)(void *context, uint8_t byte),
			 void *context);

/*
 * What becomes of devices is told from now on: from the start on, whoever
 * follows has their state.  The board is for that alone.
 */
void machine_replay_follow(struct machine_replay *replay,
			   const struct board_follower *follower);
struct board *machine_replay_followed(struct machine_replay *replay);

/* What devices, and calls, store where it stands takes effect: a position can
 * be between a call and what that stores. */
int machine_replay_take_stores(struct machine_replay *replay,
			       struct failure *why);

/* What the machine has stopped for, where it is; BOARD_AT_STEPS: nothing. */
enum board_stop machine_replay_stop(const struct machine_replay *replay);

/* Who goes back finds states that are kept so many steps apart, or more. */
void machine_replay_keep_points(struct machine_replay *replay, uint64_t gap);

/* At each key frame that is come to, the state must be what it says. */
void machine_replay_check(struct machine_replay *replay);

/*
 * Goes to a position, at most the recording's end.  If it is not `in_order`, by
 * the nearest key frame; else all on the way is executed.
 */
int machine_replay_seek(struct machine_replay *replay,
			const struct position *to, bool in_order,
			struct failure *why);

/* Processor and memory, as they are there. */
const struct board *machine_replay_board(const struct machine_replay *replay);

#endif
