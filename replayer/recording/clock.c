/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock.c - see clock.h */
#include "replayer/recording/clock.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/recording/chunks.h"
#include "replayer/recording/recording_data.h"

/* ------- all moments ------- */

/* What lies behind the end of a recording that was cut short is left out. */
static int add_moment(struct recording *recording, const struct moment *moment,
		      struct failure *why)
{
	struct moments *moments = &recording->moments;
	size_t count = moments->count;

	if (moment->time > recording->end ||
	    (count && moment->time < moments->list[count - 1].time))
		return 0;
	if (array_room(moments->list, moments->count, moments->room))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	moments->list[moments->count++] = *moment;
	return 0;
}

static int add_chunk(struct recording *recording, size_t chunk,
		     struct failure *why)
{
	const struct chunk_info *info =
		trace_reader_info(recording->reader, chunk);
	struct moment *list;
	uint8_t *bytes;
	size_t count;
	int rc = trace_reader_chunk(recording->reader, chunk, &bytes, why);

	if (rc)
		return rc;
	rc = moments_decode(&list, &count, bytes, info->size);
	free(bytes);
	if (rc)
		return recording_damaged(recording, (uint32_t)chunk, rc,
					 "contents", why);
	for (size_t i = 0; i < count && !rc; i++)
		rc = add_moment(recording, &list[i], why);
	free(list);
	return rc;
}

static int read_moments(struct recording *recording, struct failure *why)
{
	size_t count = trace_reader_count(recording->reader);
	int rc = 0;

	if (!recording->moments.is_read) {
		recording->moments.count = 0;
		for (size_t i = 0; i < count && !rc; i++)
			if (trace_reader_info(recording->reader, i)->kind ==
			    CHUNK_MOMENTS)
				rc = add_chunk(recording, i, why);
		recording->moments.is_read = !rc;
	}
	if (!rc && !recording->moments.count)
		rc = failed(why, ERR_NOT_FOUND, "'%s' does not say when it was:"
			    " times of day cannot be found in it",
			    trace_reader_path(recording->reader));
	return rc;
}

/* ------- between two of them ------- */

/* The point between `from` and `to` that is as far as `at` of `whole`. */
static int64_t between(int64_t from, int64_t to, uint64_t at, uint64_t whole)
{
	if (!whole)
		return to;
	return (int64_t)(from + ((__int128)to - from) * at / whole);
}

int recording_clock_range(struct recording *recording, int64_t *first,
			  int64_t *last, struct failure *why)
{
	const struct moments *moments = &recording->moments;
	int rc = read_moments(recording, why);

	if (rc)
		return rc;
	*first = moments->list[0].clock;
	*last = moments->list[moments->count - 1].clock;
	return 0;
}

int recording_time_at_clock(struct recording *recording, int64_t clock,
			    uint64_t *out, struct failure *why)
{
	const struct moment *list, *last;
	size_t i = 0;
	int rc = read_moments(recording, why);

	if (rc)
		return rc;
	list = recording->moments.list;
	while (i < recording->moments.count && list[i].clock < clock)
		i++;
	if (i == recording->moments.count)
		return failed(why, ERR_NOT_FOUND,
			      "the recording had ended by then");
	if (i == 0 && list[0].clock > clock)
		return failed(why, ERR_NOT_FOUND,
			      "the recording had not begun by then");
	*out = list[i].time;
	if (i == 0)
		return 0;
	last = &list[i - 1];
	*out = (uint64_t)between((int64_t)last->time, (int64_t)list[i].time,
				 (uint64_t)clock - (uint64_t)last->clock,
				 (uint64_t)list[i].clock -
					 (uint64_t)last->clock);
	return 0;
}

int recording_clock_at(struct recording *recording, uint64_t t, int64_t *out,
		       struct failure *why)
{
	const struct moment *list;
	size_t i = 0, count;
	int rc = read_moments(recording, why);

	if (rc)
		return rc;
	list = recording->moments.list;
	count = recording->moments.count;
	while (i < count && list[i].time < t)
		i++;
	if (i == 0 || i == count)
		*out = list[i ? count - 1 : 0].clock;
	else
		*out = between(list[i - 1].clock, list[i].clock,
			       t - list[i - 1].time,
			       list[i].time - list[i - 1].time);
	return 0;
}
