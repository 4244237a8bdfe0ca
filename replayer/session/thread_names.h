/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread_names.h - what threads are called, as in /proc/PID/task/TID/comm
 *
 * A thread begins with the name of the one that makes it; a program gives its
 * thread the name of its file; and prctl() and writes to that file of /proc give
 * others, also to other threads.  A recording has no names, but its packets say
 * when there were calls that may have set one.  What they asked for is in
 * registers and memory, and is looked up when it is needed for the first time.
 *
 * A process that was forked begins with the name of the thread that forked it, in
 * the recording of that process.  What was written to a file of /proc is not
 * known, unless that was opened, written and closed in a row.
 *
 * Ownership:  the recording is borrowed.
 * Errors:     those of query.h.
 */
#ifndef CPREC_REPLAYER_SESSION_THREAD_NAMES_H
#define CPREC_REPLAYER_SESSION_THREAD_NAMES_H

#include <stdint.h>

#include "replayer/recording/recording.h"

struct failure;
struct thread_names;

/* Bytes, with the NUL at the end. */
#define THREAD_NAME_SIZE 16

/* Looks for calls in all packets. */
int thread_names_create(struct thread_names **out, struct recording *recording,
			struct failure *why);
void thread_names_destroy(struct thread_names *names);

/* The name of a thread, by its number in the recording, at a position.
 * ERR_NOT_FOUND: it is not known. */
int thread_names_find(struct thread_names *names, uint32_t thread,
		      const struct position *at, char out[THREAD_NAME_SIZE],
		      struct failure *why);

#endif
