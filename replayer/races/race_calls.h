/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_calls.h - how system calls order threads, and what they access
 */
#ifndef CPREC_REPLAYER_RACES_RACE_CALLS_H
#define CPREC_REPLAYER_RACES_RACE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct linux_reader;

#define RACE_ARGS 6

/* What a call does to its second argument. */
enum race_buffer {
	RACE_IN = 1,		/* reads as many bytes as the third says */
	RACE_OUT = 2,		/* writes as many as its result says */
	RACE_IN_VECTOR = 4,	/* reads as many buffers as the third says */
	RACE_IN_MESSAGE = 8,	/* it leads to a struct msghdr */
};

struct race_call {
	uint64_t args[RACE_ARGS];
	unsigned order;		/* enum call_order of vm/linux/abi/calls.h */
	unsigned buffer;	/* enum race_buffer */
	unsigned signal;	/* ORDER_SIGNALS: argument, counted from 0 */
	unsigned texts;		/* arguments that lead to texts, a bit each */
	bool stack_is_in_memory;	/* clone3(): its arguments are */
};

/*
 * What the call of this number does, with these in registers; nothing if it
 * orders nothing.  It may be one for several others: `reader` finds which.
 */
struct race_call race_call_of(unsigned arch, uint64_t number,
			      const uint64_t args[RACE_ARGS],
			      const struct linux_reader *reader);

/*
 * Which argument says what the pointer of a new thread is to be.  With an
 * offset, it leads to a description that has the pointer there; with 0, it is
 * the pointer itself.
 */
struct race_clone {
	unsigned argument, offset;
};

struct race_clone race_clone_of(unsigned arch);

/* What futex(2) does to the words at its first and fifth argument. */
struct race_futex {
	bool publishes;
	bool acquires;		/* when it succeeds, or finds another value */
	bool has_second;
};

struct race_futex race_futex_of(uint64_t operation);

#endif
