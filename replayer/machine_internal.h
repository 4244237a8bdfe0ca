/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_internal.h - the parts of a machine's replay, for each other
 *
 * machine.c follows the events of a segment; machine_frames.c starts at key
 * frames, and compares with them; machine_points.c keeps states in between,
 * machine_stored.c those of the side file.
 * guest_machine.c is what a replayer has of it.
 */
#ifndef CPREC_REPLAYER_MACHINE_INTERNAL_H
#define CPREC_REPLAYER_MACHINE_INTERNAL_H

#include "cache/prediction.h"
#include "formats/error.h"
#include "replayer/machine.h"
#include "replayer/replayer_internal.h"

struct machine_point;

/* Of the segment that it is in. */
struct machine_points {
	struct machine_point *list;
	size_t count, room;
	uint64_t size;		/* bytes that they take */
};

/* What one core has in the segment. */
struct machine_stream {
	struct cache cache;
	struct prediction_reader reads;
	uint8_t *read_bytes;
	struct packet_stream packets;
	struct packet next;	/* the event that comes next, if there is one, */
	bool has_next;
	uint64_t next_time;	/* then */
	uint64_t taken;		/* packets up to that one */
};

struct machine_replay {
	struct recording *recording;
	struct replayer *rep;	/* that it is part of; or NULL */
	struct board *board;
	struct board_world world;
	uint64_t console;	/* address of its register for bytes */
	void (*output)(void *context, uint8_t byte);
	void *output_context;
	struct board_follower follower;	/* or zeros */
	bool checks;

	/* The segment that it is in, if it is in one. */
	bool has_segment;
	size_t segment;
	struct machine_stream streams[BOARD_CORES_MOST];	/* by core */
	uint64_t slice;		/* number of the present core's turn */
	struct script_effect *effects;	/* of the event under way */
	size_t effect_count, effect_room;
	uint32_t events;	/* that have taken effect at the present time,
				   in this segment */
	enum board_stop stop;	/* why it stands here: an instruction whose
				   result is not known yet */

	struct machine_points points;
	uint64_t gap;		/* of them, in steps, if there is no `rep` */
	uint64_t *ids;		/* stored pages that pages of RAM are */
	int error;		/* of an observation */
};

/* As replayer_go(): REPLAYER_STOPPED at a breakpoint, or if it is to halt. */
int machine_replay_go(struct machine_replay *replay,
		      const struct segment_position *to, bool in_order,
		      struct failure *why);

struct position machine_replay_now(const struct machine_replay *replay);

/* The present core's. */
static inline struct machine_stream *
machine_stream(struct machine_replay *replay)
{
	return &replay->streams[board_core(replay->board)];
}

/* What a page is that was written since the key frame. */
#define ID_UNKNOWN UINT64_MAX

/* The state of a segment's key frame; the rest is begin_segment()'s. */
int frames_load(struct machine_replay *replay, size_t segment,
		const struct key_frame *frame, struct failure *why);

/*
 * Pages that were written, but for the first `kept` of them, are again as at
 * the key frame.
 */
int frames_restore(struct machine_replay *replay, size_t kept,
		   struct failure *why);

/* Runs to a place that is not behind it, in as many segments as it takes. */
int machine_replay_move(struct machine_replay *replay,
			const struct segment_position *to,
			struct failure *why);

/* On the way to a place in this segment, keeps states at halves of the way. */
int machine_points_lay(struct machine_replay *replay,
		       const struct segment_position *to, struct failure *why);

/* Starts at the last state that is not behind a place; false: there is none. */
bool machine_points_start(struct machine_replay *replay,
			  const struct segment_position *to, int *rc,
			  struct failure *why);
void machine_points_drop(struct machine_replay *replay);

/* Drops the oldest, so that they take no more than the replayer's leave. */
void machine_points_trim(struct machine_replay *replay);

/* Whether one that was kept, or one of the side file, is nearer to a place ahead. */
bool machine_stored_is_nearer(const struct machine_replay *replay,
			      const struct segment_position *to);

/*
 * The same as machine_points_start(), by a state of the replayer's points or of
 * the side file, if that is the nearest.
 */
bool machine_stored_start(struct machine_replay *replay,
			  const struct segment_position *to, int *rc,
			  struct failure *why);
int machine_stored_encode(struct machine_replay *replay,
			  struct segment_position *at, struct output *out,
			  struct failure *why);

/* Starts at a segment's key frame. */
int machine_start_at(struct machine_replay *replay, size_t segment,
		     struct failure *why);

/* When the last state is that is kept before a place; false: there is none. */
bool machine_points_time(const struct machine_replay *replay,
			 const struct segment_position *to, uint64_t *out);

/* It has come to a key frame: compares with it, if that is wanted. */
int frames_pass(struct machine_replay *replay, size_t segment,
		const struct key_frame *frame, struct failure *why);

#endif
