/* SPDX-License-Identifier: GPL-2.0-or-later */
/* places.c - see places.h */
#include "replayer/session/places.h"

#include <inttypes.h>
#include <string.h>

#include "formats/bookmarks.h"
#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/session/numbers.h"
#include "replayer/session/console_lines.h"
#include "replayer/session/outputs.h"
#include "replayer/session/times.h"

/* ------- times ------- */

bool place_may_be_time(const char *text)
{
	struct time_text time;

	return time_text_parse(text, &time);
}

/* Where a line of output was written.  It may take a replay. */
static int find_output(uint64_t line, struct recording *recording,
		       uint64_t *out, struct failure *why)
{
	struct query *query = NULL;
	struct position at = { 0 };
	int rc;

	if (recording_is_machine(recording))
		return console_find_line(recording, line, out, why);
	rc = query_create(&query, recording, why);
	if (!rc)
		rc = outputs_find_line(query, line, &at, why);
	query_destroy(query);
	*out = at.time;
	return rc;
}

/* What the clock on the wall said, as far as it was looked at. */
static int find_clock(const struct time_text *time, const char *text,
		      struct recording *recording, uint64_t *out,
		      struct failure *why)
{
	const char *path = trace_reader_path(recording_reader(recording));
	char from[CLOCK_TEXT], to[CLOCK_TEXT];
	int64_t first, last, asked;
	int rc = recording_clock_range(recording, &first, &last, why);

	if (rc)
		return rc;
	asked = clock_text_find(&time->clock, first);
	if (asked >= first && asked <= last)
		return recording_time_at_clock(recording, asked, out, why);
	clock_print(from, first);
	clock_print(to, last);
	if (time->may_be_clock)
		return failed(why, ERR_NOT_FOUND,
			      "'%s' has no thread %" PRIu32
			      ", and was not recorded at %s, but from %s to %s",
			      path, time->tid, text, from, to);
	return failed(why, ERR_INPUT, "'%s' was recorded from %s to %s", path,
		      from, to);
}

/* Of a recording, or of a thread, that lasts from `start` to `end`. */
static int find_base(const struct time_text *time, const char *text,
		     struct recording *recording, uint64_t start, uint64_t end,
		     uint64_t *out, struct failure *why)
{
	switch (time->base) {
	case TIME_NUMBER:
		*out = time->number;
		break;
	case TIME_START:
		*out = start;
		break;
	case TIME_END:
		*out = end;
		break;
	case TIME_SHARE:
		*out = start + time_text_share(&time->share, end - start);
		break;
	case TIME_OUTPUT:
		return find_output(time->number, recording, out, why);
	case TIME_CLOCK:
		return find_clock(time, text, recording, out, why);
	case TIME_BOOKMARK:
		break;		/* find_bookmark() made a number of it */
	}
	return 0;
}

/* The base, and so much later or earlier. */
static int find_count(const struct time_text *time, const char *text,
		      struct recording *recording, uint64_t start,
		      uint64_t end, uint64_t *out, struct failure *why)
{
	int rc = find_base(time, text, recording, start, end, out, why);
	uint64_t most;

	if (rc)
		return rc;
	most = time->is_minus ? *out : UINT64_MAX - *out;
	if (time->offset > most)
		return failed(why, ERR_INPUT, "there is no time '%s': %s", text,
			      time->is_minus ? "it is before 0" :
					       "it is no number of 64 bits");
	if (time->is_minus)
		*out -= time->offset;
	else
		*out += time->offset;
	return 0;
}

/* "TID:T": where the thread had retired so many instructions. */
static int find_thread_time(struct position *out, bool *is_time,
			    struct recording *recording,
			    const struct time_text *time, const char *text,
			    struct failure *why)
{
	uint64_t steps = 0;
	struct recording_thread thread;
	uint32_t number, tid = time->tid;
	int rc = recording_find_thread(recording, tid, recording_end(recording),
				       &number, why);

	if (!rc)
		rc = recording_thread(recording, number, &thread, why);
	if (!rc)
		rc = find_count(time, text, recording, thread.steps_before,
				thread.steps, &steps, why);
	if (rc)
		return rc;
	if (steps < thread.steps_before)
		return failed(why, ERR_INPUT,
			      "thread %" PRIu32 " begins at %" PRIu32 ":%" PRIu64
			      " in this recording, after %" PRIu32 ":%" PRIu64,
			      tid, tid, thread.steps_before, tid, steps);
	if (steps > thread.steps)
		return failed(why, ERR_INPUT,
			      "thread %" PRIu32 " ends at %" PRIu32 ":%" PRIu64
			      ", before %" PRIu32 ":%" PRIu64, tid, tid,
			      thread.steps, tid, steps);
	rc = recording_time_of(recording, tid, steps, &out->time, why);
	*is_time = !rc;
	return rc;
}

/* There are so many events at the time. */
static int check_events(const struct position *position, uint32_t most,
			struct failure *why)
{
	if (position->events <= most)
		return 0;
	return failed(why, ERR_INPUT,
		      "%" PRIu32 " event%s happen%s at t=%" PRIu64
		      ": there is no t=%" PRIu64 ".%" PRIu32, most,
		      most == 1 ? "" : "s", most == 1 ? "s" : "",
		      position->time, position->time, position->events);
}

static int find_events(struct position *out, struct recording *recording,
		       bool is_last, struct failure *why)
{
	uint32_t most;
	int rc;

	if (!out->events && !is_last)
		return 0;
	rc = recording_events_at(recording, out->time, &most, why);
	if (!rc && is_last)
		out->events = most;
	return rc ? rc : check_events(out, most, why);
}

static int find_time(struct position *out, bool *is_time,
		     struct recording *recording, const struct time_text *time,
		     const char *text, struct failure *why)
{
	const char *path = trace_reader_path(recording_reader(recording));
	uint64_t start = recording_start(recording);
	uint64_t end = recording_end(recording);
	int rc = find_count(time, text, recording, start, end, &out->time,
			    why);

	*is_time = !rc;
	if (rc)
		return rc;
	if (out->time < start)
		return failed(why, ERR_INPUT,
			      "'%s' begins at t=%" PRIu64 ", after t=%" PRIu64,
			      path, start, out->time);
	if (out->time > end)
		return failed(why, ERR_INPUT,
			      "'%s' ends at t=%" PRIu64 ", before t=%" PRIu64,
			      path, end, out->time);
	return 0;
}

/* Hours and minutes look like a thread and a number, and mean it if it is. */
static void choose_clock(struct time_text *time, struct recording *recording)
{
	uint32_t number;

	if (!time->may_be_clock ||
	    !recording_find_thread(recording, time->tid,
				   recording_end(recording), &number, NULL))
		return;
	time->has_thread = false;
	time->base = TIME_CLOCK;
}

static int find_bookmark(struct time_text *time, struct recording *recording,
			 struct failure *why)
{
	struct bookmarks bookmarks;
	const struct bookmark *found;
	int rc = bookmarks_read(&bookmarks, trace_reader_path(
		recording_reader(recording)), recording_meta(recording), why);

	if (rc)
		return rc;
	found = bookmarks_find(&bookmarks, time->name);
	if (found) {
		time->base = TIME_NUMBER;
		time->number = found->time;
		time->events = time->offset ? 0 : found->events;
	}
	bookmarks_release(&bookmarks);
	if (found)
		return 0;
	return failed(why, ERR_INPUT,
		      "cannot take '%s' for a time: there is no bookmark of"
		      " that name, and %s is needed", time->name,
		      PLACE_TIME_WANTED);
}

int place_position(struct position *out, bool *is_time,
		   struct recording *recording, const char *text,
		   struct failure *why)
{
	struct time_text time;
	int rc = 0;

	*out = (struct position){ 0 };
	*is_time = false;
	if (!time_text_parse(text, &time))
		return failed(why, ERR_INPUT,
			      "cannot take '%s' for a time: %s is needed", text,
			      PLACE_TIME_WANTED);
	if (time.base == TIME_BOOKMARK)
		rc = find_bookmark(&time, recording, why);
	if (rc)
		return rc;
	out->events = time.events;
	choose_clock(&time, recording);
	if (time.has_thread)
		rc = find_thread_time(out, is_time, recording, &time, text,
				      why);
	else
		rc = find_time(out, is_time, recording, &time, text, why);
	return rc ? rc : find_events(out, recording, time.is_last, why);
}

/* ------- addresses ------- */

int place_check_address(const char *text, struct failure *why)
{
	struct address_text address;
	const char *wrong;

	if (number_parse_address(text, &address, &wrong))
		return 0;
	return failed(why, ERR_INPUT,
		      "cannot take '%.80s%s' for an address: %s", text,
		      strlen(text) > 80 ? "..." : "", wrong);
}
