/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_replay.h - replays a recording and tells a race detector what happens
 *
 * Two replays: the first finds which words several threads touch, and which
 * of them serve to synchronize; the second looks for races in those words.
 *
 * Both may watch only from some time on.  Whether two accesses behind it are
 * ordered depends on nothing before it, but for words that serve to
 * synchronize and are used behind it by plain loads and stores only.
 *
 * Units:      addresses are the guest's; times are those of the recording.
 * Ownership:  race_replay_release() frees; the recording is borrowed.
 * Errors:     those of replayer.h.
 * Threads:    one uses a search; others may run searches of their own.
 */
#ifndef CPREC_REPLAYER_RACES_RACE_REPLAY_H
#define CPREC_REPLAYER_RACES_RACE_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"
#include "replayer/races/race_atomics.h"
#include "replayer/races/race_detector.h"
#include "replayer/races/race_flow.h"
#include "replayer/races/race_homes.h"
#include "replayer/races/race_progress.h"
#include "replayer/races/race_quiet.h"
#include "replayer/races/race_roles.h"
#include "replayer/races/race_rwlocks.h"
#include "replayer/races/race_services.h"
#include "replayer/races/race_watch.h"
#include "replayer/replayer.h"

struct failure;
struct recording;

struct race_thread {
	bool has_begun;
	bool in_call;		/* the kernel has it */
	bool clones;		/* in_call: and it may make a thread */
	struct clock at_call;	/* in_call: what it published */
	uint64_t place;		/* the last one outside of system libraries */
	uint64_t place_before;	/* the signal handler that runs */
	enum race_home home;	/* of the code that it was in */
	enum race_home home_before;	/* and before that */
	struct race_quiet quiet;
	struct race_served served;
	struct race_flow flow;	/* of values that it may write back */
	bool is_leaving;	/* it has called pthread_exit() */
};

/* A thread that was made, and what it may know from the start. */
struct race_birth {
	uint32_t tid;
	struct clock clock;
};

#define RACE_SIGNALS 65u

struct race_replay {
	struct recording *recording;
	struct replayer *rep;	/* from the first replay on */
	struct vm *vm;		/* its */
	uint32_t stream;	/* of the thread whose turn it is */
	struct replay_observer observer;
	struct race_detector detector;
	bool is_first;		/* replay */
	bool collects;		/* is_first: only what the program may change */
	bool (*is_enough)(void *context);	/* is_first: NULL, never */
	void *enough_context;
	uint64_t threaded;	/* before, there is one thread: no races */
	uint64_t start;		/* the time to watch from, not before that */
	uint64_t end;		/* the time to replay to */
	struct vm_range focus;	/* races elsewhere are of no account */

	race_progress *progress;	/* may be NULL */
	void *progress_context;

	/* In the second replay, told of accesses that may race; NULL: those
	 * before have taken place.  May be NULL. */
	void (*on_access)(void *context, uint32_t thread,
			  const struct race_access *access);
	/* Other memory is there now; with size 0, some may have changed without
	 * an access that is told.  May be NULL. */
	void (*on_forget)(void *context, uint64_t addr, uint64_t size);
	/* Told of all stores of instructions.  May be NULL. */
	void (*on_store)(void *context, uint64_t addr, uint64_t value,
			 unsigned size);
	void *access_context;	/* of all three */

	struct race_thread *threads;	/* by stream */
	uint32_t thread_count;
	struct race_birth *births;
	size_t birth_count, birth_room;
	struct clock kernel;	/* what calls have sent */
	struct clock signals[RACE_SIGNALS];	/* 0: of timers */

	uint64_t pc, time;	/* of the present instruction */
	uint64_t sp;		/* before it; in the second replay */
	struct {		/* what it has read last; size 0: nothing */
		uint64_t addr, value;
		unsigned size;
	} loaded;
	struct race_atomics atomics;
	struct race_homes homes;
	struct race_roles roles;
	struct race_watch watch;
	struct race_rwlocks rwlocks;
	bool has_roles;		/* as they are at the start */
	bool roles_are_old;	/* other code may be there now */

	int error;		/* first failure inside an observer */
};

/*
 * `found` is called in the second replay; both watch from time `start` to time
 * `end`.
 */
int race_replay_init(struct race_replay *replay, struct recording *recording,
		     uint64_t start, uint64_t end, race_found *found,
		     void *context, struct failure *why);
void race_replay_release(struct race_replay *replay);

/*
 * Before that, and much faster: marks who touches the memory in focus, whether
 * it would count or not, until `is_enough`, which is asked from time to time.  All marks
 * are to be forgotten then.
 */
int race_replay_touch(struct race_replay *replay,
		      bool (*is_enough)(void *context), void *context,
		      struct failure *why);

/* Replays once; the first time to mark words, the second to find races. */
int race_replay_run(struct race_replay *replay, bool is_first,
		    struct failure *why);

/* Whether there is memory that is of no account. */
static inline bool race_replay_has_focus(const struct race_replay *replay)
{
	return replay->focus.last != VM_EVERYWHERE.last;
}

#endif
