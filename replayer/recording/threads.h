/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads.h - the threads of the guest, by their numbers and times
 */
#ifndef CPREC_REPLAYER_RECORDING_THREADS_H
#define CPREC_REPLAYER_RECORDING_THREADS_H

#include <stdbool.h>
#include <stdint.h>

struct failure;
struct recording;

struct recording_thread {
	uint32_t tid;		/* the guest's number */
	uint64_t first, last;	/* times: it began, it ended or was last seen;
				   behind the end of a recording that was cut
				   short, if what it did was lost */
	uint64_t steps_before;	/* its own, up to `first`: 0, unless it is older
				   than the recording */
	uint64_t steps;		/* its own, up to `last` */
	bool has_ended;		/* else it was there to the end, or it is not
				   known what became of it */
};

int recording_thread(struct recording *recording, uint32_t thread,
		     struct recording_thread *out, struct failure *why);

/*
 * Thread `tid` as of time `t`: of several with this number, the newest that
 * had begun.  ERR_NOT_FOUND if none had.
 */
int recording_find_thread(struct recording *recording, uint32_t tid, uint64_t t,
			  uint32_t *thread, struct failure *why);

/*
 * The stream of the thread `tid` at time `t`.  ERR_NOT_FOUND if it has not begun,
 * or if another thread's exec has ended it.
 */
int recording_find_stream(struct recording *recording, uint32_t tid, uint64_t t,
			  uint32_t *out, struct failure *why);

#endif
