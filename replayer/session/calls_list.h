/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_list.h - what a process and its kernel told each other, in order
 *
 * Visits system calls, where they begin and where they are over, signals, and
 * ends of threads, while the replayer executes all between.  A visitor may look
 * at registers and memory, as they are then.
 *
 * Ownership:  everything is borrowed, for the length of a visit.
 * Errors:     those of replayer.h and of visitors.
 */
#ifndef CPREC_REPLAYER_SESSION_CALLS_LIST_H
#define CPREC_REPLAYER_SESSION_CALLS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/recording/recording.h"

struct failure;
struct linux_call;
struct replayer;

enum call_visit {
	VISIT_ENTER,		/* a call begins; nothing has been done yet */
	VISIT_LEAVE,		/* it is over, its results are there */
	VISIT_SIGNAL,		/* a signal came, a handler may be entered */
	VISIT_END,		/* the thread ends */
};

struct call_event {
	enum call_visit visit;

	/*
	 * Of calls, behind the instruction; of the end of one that gave way,
	 * behind that.  Of signals and ends, before them.
	 */
	struct position at;
	uint32_t stream, tid;
	const char *program;	/* of a machine: its name; NULL: it is none */
	uint64_t task;		/* ... and the address of its structure */

	/* VISIT_ENTER, VISIT_LEAVE: what is called, also by a call for several
	 * others, whose number it then is. */
	const struct linux_call *call;	/* NULL: nobody knows it */
	uint64_t number, args[KERNEL_ARGS], sp;
	bool was_entered;	/* VISIT_LEAVE: a VISIT_ENTER told so */
	bool lacks_args;	/* VISIT_LEAVE: of a machine, the call has
				   replaced the registers that had them */

	/* VISIT_LEAVE; VISIT_END: a status, or minus a signal. */
	int64_t result;
#define CALL_RESTARTS (-512)	/* a signal came; it is made again: Linux has
				   the number as ERESTARTSYS */
#define CALL_RESTARTS_LAST (-516)	/* of a machine: other ways of that */

	/* VISIT_SIGNAL: */
	uint64_t signal;
	bool is_fault;		/* replayer_last_fault() says why */
	bool has_handler;	/* it was entered; registers are its own */
	guest_addr info;	/* where the handler, or of a machine its
				   kernel, has what is known of it; or 0 */
	bool is_behind_call;	/* a call of the thread's own was successful
				   right before: `call` and `args` */
	uint32_t pid;
	bool has_uid;		/* it is known whose process it is: */
	uint32_t uid;
};

struct calls_list {
	struct replayer *replayer;
	struct recording *recording;

	/* Anything but 0 ends the visits and is returned. */
	int (*visit)(void *context, const struct call_event *event);

	/* From time to time; true to end the visits.  May be NULL. */
	bool (*is_enough)(void *context, uint64_t t);
	void *context;
};

/*
 * Those from one position to another.  Of a call that began before, only the
 * end is visited.  At the start of the first process, that is the call that
 * executed its program.
 */
int calls_list_visit(const struct calls_list *list, const struct position *from,
		     const struct position *to, struct failure *why);

#endif
