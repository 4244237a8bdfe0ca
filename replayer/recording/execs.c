/* SPDX-License-Identifier: GPL-2.0-or-later */
/* execs.c - see execs.h */
#include "replayer/recording/execs_internal.h"

#include <assert.h>
#include <stdlib.h>

#include "replayer/recording/program_list.h"
#include "replayer/recording/streams.h"

static bool is_sound(const struct recording *recording, const struct exec *exec)
{
	return exec->stream < recording->thread_count &&
	       (!exec->stream ||
		recording_first(recording, exec->stream) < exec->time);
}

/* None of a process that only ever had one thread: nothing follows of them. */
static void find_execs(struct recording *recording)
{
	const struct recording_program *list;
	size_t count;

	recording->has_execs = true;
	if (recording->thread_count < 2 ||
	    recording_programs(recording, &list, &count, NULL))
		return;
	recording->execs = calloc(count, sizeof(*recording->execs));
	for (size_t i = 1; recording->execs && i < count; i++) {
		const struct exec exec = { list[i].time, list[i].stream };

		if (is_sound(recording, &exec))
			recording->execs[recording->exec_count++] = exec;
	}
}

const struct exec *recording_execs(struct recording *recording, size_t *count)
{
	if (!recording->has_execs)
		find_execs(recording);
	*count = recording->exec_count;
	return recording->execs;
}

uint32_t recording_stream_of(struct recording *recording, uint32_t thread,
			     uint64_t t)
{
	size_t count;
	const struct exec *execs = recording_execs(recording, &count);

	assert(thread < recording->thread_count);
	for (size_t i = 0; i < count && !thread && execs[i].time <= t; i++)
		if (i + 1 == count || execs[i + 1].time > t)
			return execs[i].stream;
	return thread;
}

uint32_t recording_thread_of(struct recording *recording, uint32_t stream,
			     uint64_t t)
{
	size_t count;
	const struct exec *execs = recording_execs(recording, &count);

	assert(stream < recording->thread_count);
	for (size_t i = 0; i < count && execs[i].time <= t; i++)
		if (execs[i].stream == stream)
			return 0;
	return stream;
}

bool recording_was_replaced(struct recording *recording, uint32_t stream,
			    uint64_t t)
{
	uint64_t first = recording_first(recording, stream);
	size_t count;
	const struct exec *execs = recording_execs(recording, &count);

	for (size_t i = 0; i < count && execs[i].time <= t; i++)
		if (execs[i].stream != stream && execs[i].time > first)
			return true;
	return false;
}

bool recording_exec_ends(struct recording *recording, uint32_t thread,
			 uint64_t *time)
{
	uint64_t first = recording_first(recording, thread);
	size_t count;
	const struct exec *execs = recording_execs(recording, &count);

	for (size_t i = 0; i < count && thread; i++) {
		if (execs[i].time <= first || execs[i].time > recording->end)
			continue;
		*time = execs[i].time;
		return true;
	}
	return false;
}
