/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run.h - moving a replay until something happens, forwards or backwards
 *
 * Forwards, a replay executes.  Backwards, it goes to a start point before and
 * executes up to where it was, to find what happened last; from there to the
 * start point before, if nothing did.
 *
 * Units:      times are retired instructions of the recording.
 * Ownership:  all is the caller's.
 * Errors:     those of replayer.h.
 */
#ifndef CPREC_REPLAYER_RUN_H
#define CPREC_REPLAYER_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/packet.h"
#include "formats/region.h"
#include "replayer/recording/recording.h"
#include "vm/vm.h"

struct failure;
struct replayer;

struct replay_watch {
	struct vm_range data;	/* some of these bytes are accessed; addresses
				   are those of memory_home() */
	guest_addr addr;	/* of the first one, as the guest has it */
	bool reads, writes;	/* what counts; writes may change nothing */
};

struct replay_until {
	struct position to;	/* no further; at most the recording's end, at
				   least its start */
	const guest_addr *breaks;	/* of instructions */
	size_t break_count;
	const struct replay_watch *watches;
	size_t watch_count;
	const atomic_bool *interrupt;	/* stops soon when set; may be NULL */

	/* Also before events: `1u << kind` of each kind of packet; of signals,
	 * only those that have a number.  Not before one that it stands at, nor
	 * before signal N, if bit N % 64 of passed_signals[N / 64] is set. */
	uint32_t events;
	uint64_t passed_signals[3];

	/* Also before system calls, or behind them: of these numbers, or if
	 * there is none, all. */
	bool calls, returns;

	/* Also at what happens where it stands: forwards, what is about to
	 * happen and was not told; backwards, a call's return. */
	bool here;
	const uint64_t *call_numbers;
	size_t call_number_count;

	/*
	 * Asked at each breakpoint; the replayer stands there, and may be asked
	 * all there is to ask; what that moves is moved back.  More than 0: it
	 * is met; 0: it is not.  NULL: all are.
	 */
	int (*is_met)(void *context, const struct vm_stop *stop,
		      const struct position *at);
	void *context;
};

enum replay_stop_kind {
	REPLAY_AT_POSITION,	/* until.to */
	REPLAY_AT_BREAK,
	REPLAY_AT_WATCH,
	REPLAY_AT_EVENT,
	REPLAY_AT_CALL,		/* before its instruction */
	REPLAY_AT_RETURN,
	REPLAY_INTERRUPTED,	/* nothing was met up to here; nor, backwards, down
				   to here */
};

struct replay_stop {
	enum replay_stop_kind kind;
	struct position at;	/* where it stands now; REPLAY_INTERRUPTED: it need
				   not stand there yet */
	size_t index;		/* of the breakpoint or watch; the first, if
				   several are met */

	/* REPLAY_AT_WATCH */
	bool by_event;		/* of the kernel's, not an instruction */
	guest_addr pc;		/* else: of the instruction */
	enum vm_access access;
	guest_addr addr;
	uint64_t size;

	/* REPLAY_AT_EVENT: of whose turn it is */
	enum packet_kind event;
	uint64_t number;	/* of the signal or call */

	int64_t result;		/* REPLAY_AT_RETURN */
};

/*
 * Runs from where the replayer stands.  It stops before an instruction with a
 * breakpoint, though not before one that it stands at; and right behind an
 * instruction, or an event, that accesses what is watched.  Before an event that
 * an instruction is, as a system call, it stops before the instruction.
 */
int replayer_run(struct replayer *replayer, const struct replay_until *until,
		 struct replay_stop *stop, struct failure *why);

/*
 * From an observer: has the run under way stop at once where it would stop soon,
 * as when `interrupt` is set.
 */
void replayer_halt(struct replayer *replayer);

/*
 * The same, backwards: to the last place before the present one at which an
 * instruction with a breakpoint is about to execute, or an instruction or event
 * is about to access what is watched.
 */
int replayer_run_back(struct replayer *replayer,
		      const struct replay_until *until,
		      struct replay_stop *stop, struct failure *why);

/*
 * Where a run backwards is long, helpers look at other segments, unless is_met
 * is asked.  From now on they do from the beginning, or do not.
 */
void replayer_get_help(struct replayer *replayer, bool at_once);

/*
 * Whoever is called before each instruction with a breakpoint that executes,
 * on the way from where the replayer stands to a position; it does not stop
 * there.  The function may ask the replayer all there is to ask, and set and
 * clear breakpoints, also some that others have set; what it moves is moved
 * back.  A result other than 0 ends the run and is returned.
 */
struct replay_visits {
	struct position to;	/* at most the recording's end */
	int (*visit)(void *context, const struct vm_stop *stop,
		     const struct position *at);
	void *context;
};

int replayer_visit(struct replayer *replayer,
		   const struct replay_visits *visits, struct failure *why);

/* Of visits; they stay until they are cleared. */
int replayer_break_set(struct replayer *replayer, guest_addr pc,
		       struct failure *why);
void replayer_break_clear(struct replayer *replayer, guest_addr pc);

#endif
