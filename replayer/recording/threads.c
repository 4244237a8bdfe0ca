/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads.c - see threads.h */
#include "replayer/recording/threads.h"

#include <assert.h>
#include <inttypes.h>

#include "formats/error.h"
#include "replayer/recording/execs_internal.h"
#include "replayer/recording/segments.h"
#include "replayer/recording/stream_times.h"
#include "replayer/recording/streams.h"
#include "replayer/recording/thread_steps.h"

int recording_find_thread(struct recording *recording, uint32_t tid, uint64_t t,
			  uint32_t *thread, struct failure *why)
{
	for (size_t i = recording->thread_count; i-- > 0;) {
		uint32_t found;
		int rc;

		if (recording_first(recording, (uint32_t)i) > t)
			continue;
		rc = recording_tid(recording, (uint32_t)i, &found, why);
		if (rc)
			return rc;
		*thread = (uint32_t)i;
		if (found == tid)
			return 0;
	}
	return failed(why, ERR_NOT_FOUND,
		      "'%s' has no thread %" PRIu32 " at t=%" PRIu64,
		      trace_reader_path(recording->reader), tid, t);
}

int recording_thread(struct recording *recording, uint32_t thread,
		     struct recording_thread *out, struct failure *why)
{
	uint64_t time;
	bool exits;
	int rc;

	assert(thread < recording->thread_count);
	*out = (struct recording_thread){
		.first = recording_first(recording, thread),
		.last = recording->end,
	};
	rc = recording_tid(recording, thread, &out->tid, why);
	if (out->first > recording->end) {
		out->last = out->first;
		return rc;
	}
	if (!rc)
		rc = recording_steps(recording, thread, out->first,
				     &out->steps_before, why);
	if (!rc)
		rc = recording_exit(recording,
				    recording_stream_of(recording, thread,
							recording->end),
				    &exits, &time, why);
	if (rc)
		return rc;
	out->has_ended = recording_exec_ends(recording, thread, &out->last);
	if (exits && time < out->last)
		out->last = time;
	out->has_ended |= exits;
	return recording_steps(recording, thread, recording->end, &out->steps,
			       why);
}

int recording_find_stream(struct recording *recording, uint32_t tid, uint64_t t,
			  uint32_t *out, struct failure *why)
{
	uint32_t thread;
	int rc = recording_find_thread(recording, tid, t, &thread, why);

	if (rc)
		return rc;
	*out = recording_stream_of(recording, thread, t);
	/* By its own exec another thread became the process's first. */
	if (recording_thread_of(recording, *out, t) != thread)
		return failed(why, ERR_NOT_FOUND,
			      "thread %" PRIu32 " has ended before t=%" PRIu64,
			      tid, t);
	return 0;
}
