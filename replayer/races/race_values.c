/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_values.c - see race_values.h */
#include "replayer/races/race_values.h"

#include <assert.h>
#include <stdlib.h>

#include "formats/error.h"
#include "index/index.h"
#include "replayer/races/race_writes.h"
#include "replayer/races/race_search.h"
#include "replayer/recording/recording.h"

/* ------- answers ------- */

static int add_value(struct race_question *question, struct lines *lines,
		     const struct race_value *value)
{
	struct race_value *more =
		realloc(question->values,
			(question->count + 1) * sizeof(*more));

	if (!more)
		return ERR_NO_MEMORY;
	question->values = more;
	more[question->count] = *value;
	more[question->count].addr -= question->home - question->addr;
	if (value->has_writer)
		lines_find(lines, value->time, value->place,
			   &more[question->count].line);
	question->count++;
	return 0;
}

static int compare_values(const void *a, const void *b)
{
	const struct race_value *one = a, *other = b;

	if (one->has_writer != other->has_writer)
		return one->has_writer ? 1 : -1;
	return (one->time > other->time) - (one->time < other->time);
}

static int answer(struct race_question *question, struct lines *lines)
{
	int rc = 0;

	for (unsigned i = 0; i < RACE_SLOTS && !rc; i++) {
		const struct race_slot *slot = &question->slots[i];

		if (!slot->is_there || (!slot->rivals && !slot->is_read))
			continue;
		rc = add_value(question, lines, &slot->now);
		if (!rc && slot->is_read && !slot->rivals)
			rc = add_value(question, lines, &slot->old);
	}
	if (question->count)
		qsort(question->values, question->count,
		      sizeof(*question->values), compare_values);
	return rc;
}

/* ------- searching ------- */

static uint64_t first_time(const struct race_values *values)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < values->count; i++)
		if (values->list[i].at < first)
			first = values->list[i].at;
	return first;
}

static uint64_t last_time(const struct race_values *values)
{
	uint64_t last = 0;

	for (size_t i = 0; i < values->count; i++)
		if (values->list[i].at > last)
			last = values->list[i].at;
	return last;
}

/* Whether one of the pages may have been written before `time` steps. */
static bool is_written(const struct segment_index *index,
		       const struct race_question *question, uint64_t time)
{
	uint64_t last = (question->home + question->size - 1) >>
			GUEST_PAGE_SHIFT;

	for (uint64_t page = question->home >> GUEST_PAGE_SHIFT; page <= last;
	     page++)
		if (!page_index_is_unchanged(index, page, time))
			return true;
	return false;
}

/*
 * A time before which the page may have been written, while there were several
 * threads: about the last one; 0 if it was not.
 */
static int last_write(const struct race_question *question,
		      const struct race_replay *replay, uint64_t *out,
		      struct failure *why)
{
	struct recording *recording = replay->recording;
	size_t segment = recording_segment_at(recording, question->at) + 1;
	uint64_t end = question->at;
	bool is_shared;
	int rc = recording_may_be_shared(recording, question->at,
					 question->addr, &is_shared, why);

	*out = is_shared ? question->at : 0;
	if (rc)
		return rc;
	while (!*out && end > replay->threaded && segment-- > 0) {
		uint64_t start = recording_time(recording, segment);
		struct segment_index index;

		rc = recording_index(recording, segment, &index, why);
		if (rc)
			return rc;
		/* Of a segment that begins then, there may be events. */
		if (is_written(&index, question, end - start))
			*out = end;
		segment_index_release(&index);
		end = start;
	}
	return 0;
}

/*
 * Whether a race can concern a question, in what the search watches of the time
 * before it: several threads run there, and the page may be written.
 */
static int may_concern(struct race_question *question,
		       const struct race_replay *replay, bool *may,
		       struct failure *why)
{
	bool alone;
	uint64_t last;
	int rc = last_write(question, replay, &last, why);

	*may = false;
	if (last && replay->start > replay->threaded)
		question->since = replay->start;
	if (rc || last <= replay->start)
		return rc;
	rc = recording_runs_alone(replay->recording, replay->start,
				  question->at, &alone, why);
	*may = !alone;
	return rc;
}

/* Whether any of the questions needs a search; and what it leaves out. */
static int may_race(const struct race_values *values,
		    const struct race_replay *replay, bool *may,
		    struct failure *why)
{
	int rc = 0;

	*may = false;
	for (size_t i = 0; i < values->count && !rc; i++) {
		bool concerned;

		rc = may_concern(&values->list[i], replay, &concerned, why);
		*may |= concerned;
	}
	return rc;
}

static int make_slots(struct race_values *values)
{
	for (size_t i = 0; i < values->count; i++) {
		struct race_question *question = &values->list[i];

		assert(question->size);
		question->slots = calloc(RACE_SLOTS, sizeof(*question->slots));
		question->readers = calloc(RACE_READERS,
					   sizeof(*question->readers));
		question->memory = malloc(question->size);
		question->is_known = calloc(question->size, 1);
		if (!question->slots || !question->readers ||
		    !question->memory || !question->is_known)
			return ERR_NO_MEMORY;
	}
	return 0;
}

/* Whether several threads use a word of it, and one writes. */
static bool is_shared(const struct race_question *question,
		      struct race_words *words)
{
	uint64_t first = question->home & ~(uint64_t)(RACE_WORD - 1);
	uint64_t last = question->home + question->size - 1;
	uint64_t count = (last - first) / RACE_WORD + 1;

	for (uint64_t i = 0; i < count; i++)
		if (race_words_is_shared(words, first + i * RACE_WORD))
			return true;
	return false;
}

static bool is_any_shared(const struct race_values *values,
			  struct race_words *words)
{
	for (size_t i = 0; i < values->count; i++)
		if (is_shared(&values->list[i], words))
			return true;
	return false;
}

static bool is_enough(void *context)
{
	struct race_writes *writes = context;

	return is_any_shared(writes->values, &writes->replay.detector.words);
}

/* The memory that questions are about, in whole words. */
static struct vm_range focus_of(const struct race_values *values)
{
	struct vm_range focus = { UINT64_MAX, 0 };

	for (size_t i = 0; i < values->count; i++) {
		const struct race_question *question = &values->list[i];
		uint64_t last = question->home + question->size - 1;

		if (question->home < focus.first)
			focus.first = question->home;
		if (last > focus.last)
			focus.last = last;
	}
	focus.first &= ~(uint64_t)(RACE_WORD - 1);
	focus.last |= RACE_WORD - 1;
	return focus;
}

/* Whether several threads touch any of it, as far as that is seen at once. */
static int look_for_sharing(struct race_writes *writes, bool *is_shared,
			    struct failure *why)
{
	struct race_replay *replay = &writes->replay;
	int rc;

	replay->focus = focus_of(writes->values);
	rc = race_replay_touch(replay, is_enough, writes, why);
	*is_shared = is_enough(writes);
	race_words_release(&replay->detector.words);
	return rc;
}

/* Accesses are told with the addresses of common pages. */
static int find_homes(struct race_values *values, struct recording *recording,
		      struct failure *why)
{
	int rc = 0;

	for (size_t i = 0; i < values->count && !rc; i++)
		rc = recording_home(recording, values->list[i].at,
				    values->list[i].addr,
				    &values->list[i].home, why);
	return rc;
}

static int find_values(struct race_writes *writes, struct failure *why)
{
	struct race_values *values = writes->values;
	struct race_replay *replay = &writes->replay;
	bool may = false;
	int rc = 0;

	if (replay->start < replay->end)
		rc = may_race(values, replay, &may, why);
	if (rc || !may)
		return rc;
	rc = lines_create(&values->lines, replay->recording, why);
	if (!rc)
		rc = races_start(replay, values->lines, why);
	if (!rc)
		rc = look_for_sharing(writes, &may, why);
	if (rc || !may)
		return rc;
	if (make_slots(values))
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	if (!rc)
		rc = races_mark(replay, values->lines, why);
	if (!rc && is_any_shared(values, &replay->detector.words))
		rc = races_look(replay, values->lines, why);
	for (size_t i = 0; i < values->count && !rc; i++)
		if (answer(&values->list[i], values->lines))
			rc = failed(why, ERR_NO_MEMORY, "out of memory");
	return rc;
}

int race_values_find(struct race_values *values, struct recording *recording,
		     uint64_t most, race_progress *progress, void *context,
		     struct failure *why)
{
	uint64_t first = first_time(values);
	uint64_t start = first > most ? first - most : 0;
	struct race_writes writes = { .values = values, .is_stale = true };
	struct race_replay *replay = &writes.replay;
	int rc;

	if (!values->count)
		return 0;
	rc = race_replay_init(replay, recording, start, last_time(values),
			      race_writes_found, &writes, why);
	replay->progress = progress;
	replay->progress_context = context;
	replay->on_access = race_writes_access;
	replay->on_forget = race_writes_forget;
	replay->on_store = race_writes_store;
	replay->access_context = &writes;
	if (!rc)
		rc = find_homes(values, recording, why);
	if (!rc)
		rc = find_values(&writes, why);
	race_replay_release(replay);
	return rc;
}

void race_values_release(struct race_values *values)
{
	for (size_t i = 0; i < values->count; i++) {
		free(values->list[i].slots);
		free(values->list[i].readers);
		free(values->list[i].memory);
		free(values->list[i].is_known);
		free(values->list[i].values);
	}
	free(values->list);
	lines_destroy(values->lines);
	*values = (struct race_values) { 0 };
}
