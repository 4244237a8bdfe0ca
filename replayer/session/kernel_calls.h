/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_calls.h - what the programs on a machine's kernel ask it for, in order
 *
 * As calls_list.h has it of a program.  The replay is stopped where the kernel's
 * own functions begin that all system calls, signals and ends of threads go
 * through.  A call begins when its program gives way to the kernel, and is over
 * when the kernel has its result, which is some instructions before the program
 * goes on.  While somebody is told, addresses are those of the process and of
 * the kernel.  Threads are numbered like streams.
 *
 * Signals are told that reach a handler, and those that end a process.
 *
 * Ownership:  all is borrowed.
 * Errors:     ERR_NOT_FOUND: the kernel has no such functions; those of
 *             calls_list.h and kernel.h.
 */
#ifndef CPREC_REPLAYER_SESSION_KERNEL_CALLS_H
#define CPREC_REPLAYER_SESSION_KERNEL_CALLS_H

#include "replayer/session/calls_list.h"
#include "replayer/session/kernel.h"

struct kernel_calls {
	const struct calls_list *list;
	struct query *query;	/* whose replayer the list's is */
	struct kernel *kernel;
	struct names *names;	/* of the kernel's functions */
	const char *process;	/* only of this one, a number or a name; NULL:
				   of all */
};

/* Of a call that began before `from`, only the end is visited. */
int kernel_calls_visit(const struct kernel_calls *calls,
		       const struct position *from, const struct position *to,
		       struct failure *why);

#endif
