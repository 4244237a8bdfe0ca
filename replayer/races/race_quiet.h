/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_quiet.h - when a thread is in code that orders nothing by its locks
 *
 * The C library has locks of its own: for the stacks of threads, for their
 * number, for memory that it hands out.  Two threads that take such a lock one
 * after the other are ordered by accident, which the program cannot rely on.
 * So what a thread does there is quiet: while it makes or awaits a thread,
 * before its own first function and after that has returned, while memory is
 * handed out or taken back, and while it takes its part of a loop of OpenMP.
 * What orders threads there is said in other
 * words: who is made knows what its maker knew; who has awaited a thread knows
 * what it did, by the words of that thread's descriptor; memory that is handed
 * out has no past; locks that many hold for reading have clocks of their own
 * (race_rwlocks.h).
 *
 * Quiet code may call the program's (a thread's function, a destructor), or a
 * signal handler may run: that is not quiet.  Frames tell by the stack pointer
 * what called what.
 *
 * Units:      addresses are the guest's.
 * Ownership:  plain data; zeroed, nothing is quiet.
 * Errors:     none: of frames that are too deep, nothing is quiet.
 */
#ifndef CPREC_REPLAYER_RACES_RACE_QUIET_H
#define CPREC_REPLAYER_RACES_RACE_QUIET_H

#include <stdbool.h>
#include <stdint.h>

/* Functions of the C library; what they are given and give back. */
enum race_role {
	ROLE_NONE,
	ROLE_CREATE,		/* a thread: (pthread_t *, attributes) */
	ROLE_JOIN,		/* (pthread_t) */
	ROLE_LEAVE,		/* the thread ends; is not quiet */
	ROLE_EXIT,		/* the process ends; is not quiet */
	ROLE_READ_LOCK,		/* of many: (pthread_rwlock_t *) */
	ROLE_WRITE_LOCK,
	ROLE_UNLOCK,
	ROLE_SHARE,		/* a thread takes its part of a loop */
	ROLE_NEW,		/* memory: (size) */
	ROLE_NEW_ARRAY,		/* (count, size) */
	ROLE_NEW_ALIGNED,	/* (alignment, size) */
	ROLE_NEW_AT,		/* (void **, alignment, size) */
	ROLE_RESIZE,		/* (memory, size) */
	ROLE_RESIZE_ARRAY,	/* (memory, count, size) */
	ROLE_FREE,		/* (memory) */
};

static inline bool race_role_is_lock(enum race_role role)
{
	return role >= ROLE_READ_LOCK && role <= ROLE_UNLOCK;
}

static inline bool race_role_takes_back(enum race_role role)
{
	return role >= ROLE_RESIZE;
}

enum race_quiet_kind {
	QUIET_NOT,		/* the program's code, called by quiet code */
	QUIET_UNKNOWN,		/* where the thread was is not known yet */
	QUIET_THREAD,		/* what calls a thread's first function */
	QUIET_CALL,		/* of a function with a role */
};

/* Of a thread: what pthread_t is, glibc's and musl's struct pthread. */
struct race_descriptor {
	uint64_t addr, size;
};

#define QUIET_ARGS 3u

struct race_quiet_frame {
	enum race_quiet_kind kind;
	bool is_handler;	/* QUIET_NOT: ends when a signal's does */
	enum race_role role;	/* QUIET_CALL */
	uint64_t sp;		/* at its first instruction */
	uint64_t back;		/* QUIET_CALL: where it returns to; QUIET_NOT:
				   the same, if it may with this `sp` */
	uint64_t arg[QUIET_ARGS];
	struct race_descriptor descriptor;	/* of the thread that ends or
						   is awaited */
};

#define QUIET_FRAMES 8u

struct race_quiet {
	struct race_quiet_frame frames[QUIET_FRAMES];
	unsigned depth;
	bool is_new;		/* has executed nothing yet */
	bool has_signal;	/* its handler comes next */
};

/* The thread was there before anybody looked. */
void race_quiet_unknown(struct race_quiet *quiet);

/* The thread begins; `descriptor` is its own, which its stack is below. */
void race_quiet_begin(struct race_quiet *quiet,
		      struct race_descriptor descriptor);

/* Where a thread stands. */
struct race_quiet_place {
	uint64_t pc, sp;
	uint64_t back;		/* where a function that begins here returns to,
				   if calls leave that in a register; else 0 */
	bool is_program;
};

/*
 * The thread is about to execute what is there.  To be told whenever it comes
 * from the program's code to the system's or back, and where
 * race_quiet_awaits() says so.  True if a call has returned, which `*out` was.
 */
bool race_quiet_step(struct race_quiet *quiet,
		     const struct race_quiet_place *place,
		     struct race_quiet_frame *out);

static inline bool race_quiet_awaits(const struct race_quiet *quiet,
				     uint64_t pc)
{
	return quiet->depth &&
	       (quiet->has_signal ||
		quiet->frames[quiet->depth - 1].back == pc);
}

/* A call begins; false if it is part of what is quiet already. */
bool race_quiet_call(struct race_quiet *quiet,
		     const struct race_quiet_frame *call);

/* A signal comes; a handler returns. */
void race_quiet_signal(struct race_quiet *quiet);
void race_quiet_return(struct race_quiet *quiet);

/* Whether the thread is in quiet code now. */
static inline bool race_quiet_is_on(const struct race_quiet *quiet)
{
	return quiet->depth &&
	       quiet->frames[quiet->depth - 1].kind != QUIET_NOT;
}

/* Whether the thread is about to end, or has just begun. */
bool race_quiet_is_outermost(const struct race_quiet *quiet);

/* Whether memory is handed out, whose words are nobody else's business. */
bool race_quiet_is_memory(const struct race_quiet *quiet);

/* Whether a thread takes its part of a loop, which orders nothing. */
bool race_quiet_is_share(const struct race_quiet *quiet);

/* Whether an access is none of the program's. */
bool race_quiet_hides(const struct race_quiet *quiet, uint64_t addr);

/* Whether the word at `addr` orders threads if it serves to synchronize. */
bool race_quiet_orders(const struct race_quiet *quiet, uint64_t addr);

#endif
