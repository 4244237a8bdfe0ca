/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_internal.h - looking for what a run waits for, in parts
 *
 * run.c looks through a part of the execution, forwards, run_calls.c for system
 * calls, run_effects.c for what the kernel changes; run_back.c chooses the parts
 * of a run backwards, the last one first, and run_pool.c has several of them
 * looked through at a time.
 */
#ifndef CPREC_REPLAYER_RUN_INTERNAL_H
#define CPREC_REPLAYER_RUN_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/packet.h"
#include "replayer/observer.h"
#include "replayer/run.h"

/* Something that one waits for was met. */
struct meeting {
	bool any;
	struct replay_stop stop;
	struct position before, after;
};

/* A part of the execution is looked through. */
struct search {
	struct replayer *rep;
	const struct replay_until *until;
	bool visits;		/* breakpoints are visited, and none is met */
	bool for_last;		/* or the first */
	struct position passed;	/* ... behind this one, nothing is met */
	struct position from;	/* where it began */
	struct position end;	/* of the part that is looked through, */
	bool has_end;		/* ... with what is over there */
	bool was_in_call;	/* whose turn it is, since it got the turn */
	bool *had;		/* of `until`: others have set the breakpoint */
	struct vm_range *watched;	/* the ranges of all watches */
	struct meeting found;
	struct event_watch *before;	/* of all watches; run_effects.c */
	struct replay_observer observer;
	struct side_file *side;	/* backwards: may know more; or NULL */

	/* run_pool.c: number of the part, and of one that made those with
	 * larger numbers needless; NULL: it is the only one. */
	size_t part;
	const atomic_size_t *decided;
};

static const struct replay_stop run_at_position = {
	.kind = REPLAY_AT_POSITION,
};

/* ------- run.c ------- */

/* A replayer that stands nowhere begins at the start. */
int run_begin(struct replayer *rep, struct failure *why);

/* It stands where it is to stop. */
void run_stand(struct replayer *rep, struct replay_stop *stop,
		  const struct replay_stop *what);

static inline bool run_is_before(const struct position *a,
				 const struct position *b)
{
	return position_compare(a, b) < 0;
}

/* Something is met: forwards, the replay halts; backwards, the last one counts. */
void run_take(struct search *search, const struct meeting *met);

/* Forwards: what is told at a position, before it happens, is still to come. */
bool run_is_ahead(const struct search *search, const struct position *at);

/* Whether it was interrupted, or what it finds does not matter any more. */
bool run_is_over(const struct search *search);

/* Whether whoever waits for it has interrupted it, which may be why it failed. */
bool run_is_interrupted(const struct search *search, int rc);

/* Stops there, and leaves it to others to go there. */
void run_end_interrupted(struct replay_stop *stop, const struct position *at);

/* Whether there can be a meeting in the segment of a position, by the index. */
int run_may_meet(struct search *search, const struct position *first,
		    bool *may, struct failure *why);

/* Whether there can be one with an event, or a call. */
int run_may_meet_event(struct search *search, size_t segment, bool *may,
		       struct failure *why);

/* Looks for a meeting in [first, end). */
int run_part(struct search *search, const struct position *first,
		const struct position *end, struct failure *why);

/* ------- run_calls.c ------- */

/* Whether an event is a call that is waited for. */
bool call_is_awaited(const struct search *search, const struct packet *packet);

/* An event is about to take effect; it may be such a call. */
void call_meet(struct search *search, const struct packet *packet);

/* Around a part that is looked through; and each turn of a thread in it, as an
 * observer. */
void call_begin(struct search *search);
void call_end(struct search *search);
void call_on_turn(void *search, bool after);

/* Whether a call may be under way in a segment in whose packets it is not. */
bool call_may_be_open(const struct search *search, size_t segment);

/* ------- run_effects.c ------- */

/* Where the effects of an event happen: with an instruction, or behind one. */
void effects_place(struct replayer *rep, enum packet_kind kind,
		   struct meeting *met);

/* Whether an effect may change what is watched. */
bool effect_is_watched(const struct search *search,
		       const struct packet *effect);

/* An event is about to take effect; it may change what is watched.  It has, of
 * which observers are told. */
void effects_meet(struct search *search, const struct replay_event *event);
void effects_done(void *search, const struct replay_event *event);
void effects_end(struct search *search);

/* ------- run_lines.c ------- */

/*
 * Where something may be met between `first` and `*end`, in the segment of
 * `first`, brings `*end` nearer, as far as nothing is met behind it; or finds
 * that nothing is met at all: `*may` becomes false.
 */
int run_narrow(struct search *search, const struct position *first,
	       struct position *end, bool *may, struct failure *why);

/* ------- run_pool.c ------- */

/*
 * Looks for the last meeting before `search->passed`, with several replayers.
 * `search` is that of whoever asks: its `found` and `passed` tell.
 */
int pool_search(struct search *search, struct failure *why);

#endif
