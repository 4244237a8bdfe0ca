/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diversion_calls.h - the kernel that a diversion has
 *
 * It answers system calls that change nothing but the guest's own memory, and
 * those whose answer the recording has: who the process is, what the time is.
 * Standard output and error output are a terminal, whose text is told.  Sleep
 * and time limits take no time, but clocks are later then.  There is one
 * thread, and one processor; what would wait for another thread is refused, as
 * all else is, files among it.
 *
 * Ownership:  everything is borrowed.
 * Errors:     ERR_INPUT: the call is refused; those of replayer.h.
 */
#ifndef CPREC_REPLAYER_SESSION_DIVERSION_CALLS_H
#define CPREC_REPLAYER_SESSION_DIVERSION_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "replayer/recording/recording.h"

struct failure;
struct query;
struct vm;

struct diversion_kernel {
	struct query *query;	/* of the recording, where it is asked */
	struct vm *vm;
	struct position at;	/* where the diversion began */
	uint32_t stream;	/* of the thread that runs */
	uint64_t began;		/* steps of the vm then */
	uint64_t slept;		/* nanoseconds that it would have waited */
	uint64_t heap_end;	/* brk(2); 0: as recorded */
	uint64_t random;	/* the last bytes of getrandom(2); 0: none */

	/* What it prints: 1 or 2.  May be NULL. */
	void (*printed)(void *context, int descriptor, const uint8_t *bytes,
			size_t size);
	void *context;
};

enum diversion_call {
	DIVERSION_CALL_DONE,	/* its result is in its register */
	DIVERSION_CALL_ENDS,	/* the thread, or the process */
	DIVERSION_CALL_SIGNAL,	/* it sends itself a signal */
};

/* The vm has stopped behind a system call. */
int diversion_call(struct diversion_kernel *kernel, enum diversion_call *out,
		   uint32_t *signal, struct failure *why);

#endif
