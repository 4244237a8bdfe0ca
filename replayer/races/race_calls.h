/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_calls.h - how system calls order threads, and what they access
 *
 * Source: the x86-64 table of Linux (arch/x86/entry/syscalls/syscall_64.tbl);
 * manual pages, section 2.
 */
#ifndef CPREC_REPLAYER_RACES_RACE_CALLS_H
#define CPREC_REPLAYER_RACES_RACE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

enum race_call_kind {
	CALL_SENDS = 1,		/* others may learn from it that it took place */
	CALL_RECEIVES = 2,	/* it may learn of what others did; if it
				   succeeds */
	CALL_RECEIVES_SOME = 4,	/* the same, if its result is more than 0 */
	CALL_SIGNALS = 8,	/* `signal` is sent or gets a handler */
	CALL_TIMES = 16,	/* a signal may come of it */
	CALL_WAITS_SIGNAL = 32,	/* its result is a signal */
	CALL_CLONES = 64,	/* its result is a thread */
	CALL_ENDS = 128,	/* the thread ends; what it writes tells others */
	CALL_FUTEX = 256,
	CALL_RETURNS = 512,	/* from a signal handler */
	CALL_IN = 1024,		/* reads at its second argument as many bytes
				   as the third says */
	CALL_OUT = 2048,	/* writes there, as many as its result says */
	CALL_IN_VECTOR = 4096,	/* reads buffers: the second argument leads to
				   as many of them as the third says */
	CALL_IN_MESSAGE = 8192,	/* the second leads to a struct msghdr */
};

struct race_call {
	unsigned kinds;
	unsigned signal;	/* CALL_SIGNALS: argument, counted from 0 */
	unsigned texts;		/* arguments that lead to texts, a bit each */
};

/* What the call of this number does; nothing if it orders nothing. */
struct race_call race_call_of(uint64_t number);

/* What futex(2) does to the words at its first and fifth argument. */
struct race_futex {
	bool publishes;
	bool acquires;		/* when it succeeds, or finds another value */
	bool has_second;
};

struct race_futex race_futex_of(uint64_t operation);

#endif
