/* SPDX-License-Identifier: GPL-2.0-or-later */
/* questions.c - what all questions have in common; positions */
#include "library/handles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vm/linux/abi/names.h"

int question_begin(struct cprec_recording *handle, bool moves,
		   struct cprec_failure *why)
{
	if (moves && handle->runs)
		return failed(inner(why), (enum error)CPREC_BUSY,
			      "this cannot be asked from this callback");
	return query_is_wanted(handle->query, inner(why));
}

int question_follow(struct cprec_recording *handle, struct cprec_failure *why)
{
	if (handle->follows)
		return failed(inner(why), (enum error)CPREC_BUSY, "calls,"
			      " visits and conditions cannot be asked for from"
			      " each other's callbacks");
	return question_begin(handle, true, why);
}

int question_take(void *out, size_t room, const void *asked,
		  struct cprec_failure *why)
{
	const uint8_t *bytes = asked;
	size_t size;

	memcpy(&size, asked, sizeof(size));
	if (size < sizeof(size))
		return failed(inner(why), ERR_INPUT,
			      "the size of a structure is not set");
	/* What a later library would know of is asked for. */
	for (size_t i = room; i < size; i++)
		if (bytes[i])
			return failed(inner(why), ERR_VERSION, "this needs a"
				      " later version of the library");
	memset(out, 0, room);
	memcpy(out, asked, size < room ? size : room);
	return 0;
}

int question_range(struct cprec_recording *handle,
		   const struct cprec_position *from,
		   const struct cprec_position *to, struct position *first,
		   struct position *last, struct cprec_failure *why)
{
	const struct position start = { recording_start(handle->recording), 0 };
	const struct position end = { recording_end(handle->recording),
				      EVENTS_ALL };

	*first = from ? to_position(*from) : start;
	*last = to ? to_position(*to) : end;
	if (position_compare(first, &start) < 0 ||
	    position_compare(last, &end) > 0)
		return failed(inner(why), ERR_INPUT, "a position is outside"
			      " the recording");
	if (position_compare(first, last) > 0)
		return failed(inner(why), ERR_INPUT, "the first position is"
			      " behind the last");
	return 0;
}

int tid_of(struct cprec_recording *handle, uint32_t stream, uint64_t t,
	   uint32_t *out, struct failure *why)
{
	return recording_tid(handle->recording,
			     recording_thread_of(handle->recording, stream, t),
			     out, why);
}

const char *agent_name(char text[64], struct cprec_recording *handle,
		       enum packet_kind event, uint64_t number)
{
	const char *name = NULL;

	if (event == PACKET_SYSCALL || event == PACKET_RETURN ||
	    event == PACKET_FIXED_CALL)
		name = linux_syscall_name(
			recording_reg_table(handle->recording)->arch, number);
	if (name)
		snprintf(text, 64, "%s()", name);
	else if (event == PACKET_SIGNAL)
		snprintf(text, 64, "signal %llu", (unsigned long long)number);
	else
		snprintf(text, 64, event == PACKET_DMA ? "a device" :
							 "the kernel");
	return text;
}

/* ------- positions ------- */

PUBLIC int cprec_find_position(struct cprec_recording *handle,
			       const char *text, struct cprec_position *out,
			       struct cprec_failure *why)
{
	struct position position;
	bool is_time;
	int rc = question_begin(handle, false, why);

	if (!rc)
		rc = place_position(&position, &is_time, handle->recording,
				    text, inner(why));
	if (!rc)
		*out = from_position(position);
	return rc;
}

PUBLIC const char *cprec_position_text(char text[CPREC_POSITION_TEXT],
				       struct cprec_position position)
{
	const struct position given = to_position(position);

	_Static_assert(CPREC_POSITION_TEXT >= POSITION_TEXT, "there is room");
	return position_text(text, &given);
}

PUBLIC const char *cprec_percent_text(char text[CPREC_PERCENT_TEXT],
				      struct cprec_recording *handle,
				      struct cprec_position position)
{
	uint64_t start = recording_start(handle->recording);
	unsigned tenths = time_tenths(position.time - start,
				      recording_end(handle->recording) - start);

	snprintf(text, CPREC_PERCENT_TEXT, "%u.%u", tenths / 10, tenths % 10);
	return text;
}

PUBLIC int cprec_position_compare(struct cprec_position a,
				  struct cprec_position b)
{
	const struct position left = to_position(a), right = to_position(b);

	return position_compare(&left, &right);
}

PUBLIC int cprec_find_clock(struct cprec_recording *handle,
			    struct cprec_position position, int64_t *out,
			    struct cprec_failure *why)
{
	struct position first, last;
	int rc = question_begin(handle, false, why);

	if (!rc)
		rc = question_range(handle, &position, NULL, &first, &last,
				    why);
	return rc ? rc : recording_clock_at(handle->recording, first.time, out,
					    inner(why));
}

/* ------- places to start from ------- */

PUBLIC int cprec_use_physical(struct cprec_recording *handle, bool physical,
			      struct cprec_failure *why)
{
	const struct address_space space = { .is_physical = physical };
	int rc = question_begin(handle, true, why);

	if (!rc && !recording_is_machine(handle->recording))
		rc = failed(inner(why), ERR_INPUT, "a program has no physical"
			    " addresses");
	if (!rc)
		query_use_space(handle->query, &space);
	return rc;
}

static int follow(struct cprec_recording *handle, const char *process,
		  struct failure *why)
{
	const struct position first = {
		recording_start(handle->recording), 0,
	};
	const struct position last = {
		recording_end(handle->recording), EVENTS_ALL,
	};
	char *kept = process ? strdup(process) : NULL;
	int rc = 0;

	if (process && !kept)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (!handle->kernel)
		rc = kernel_create(&handle->kernel, handle->query, why);
	if (!rc)
		rc = kernel_follow(handle->kernel, kept, &first, &last, why);
	free(rc ? kept : handle->followed);
	if (!rc)
		handle->followed = kept;
	return rc;
}

PUBLIC int cprec_follow_process(struct cprec_recording *handle,
				const char *process, struct cprec_failure *why)
{
	int rc = question_begin(handle, true, why);

	if (!rc && !recording_is_machine(handle->recording))
		rc = failed(inner(why), ERR_INPUT, "only machines have a"
			    " kernel with processes");
	return rc ? rc : follow(handle, process, inner(why));
}

PUBLIC void cprec_keep_limits(struct cprec_recording *handle, uint64_t bytes,
			      uint64_t gap)
{
	struct replayer *replayer;

	if (!query_replayer(handle->query, &replayer, NULL))
		replayer_keep_points(replayer, bytes, gap ? gap : 1);
}

PUBLIC int cprec_keep_range(struct cprec_recording *handle,
			    struct cprec_position from,
			    struct cprec_position to, uint64_t gap,
			    struct cprec_failure *why)
{
	struct position at, last;
	struct replayer *replayer;
	int rc = question_begin(handle, true, why);

	if (!rc)
		rc = question_range(handle, &from, &to, &at, &last, why);
	if (!rc)
		rc = query_replayer(handle->query, &replayer, inner(why));
	while (!rc) {
		rc = replayer_seek(replayer, &at, inner(why));
		if (!rc)
			rc = replayer_keep_point(replayer, inner(why));
		if (rc || !gap || last.time - at.time < gap)
			break;
		at = (struct position){ at.time + gap, 0 };
	}
	return rc;
}
