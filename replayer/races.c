/* SPDX-License-Identifier: GPL-2.0-or-later */
/* races.c - see races.h */
#include "replayer/races.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording.h"

/* Races by pairs of places in the code: a hash table. */
struct search {
	struct recording *recording;
	struct race **slots;
	size_t count, room;
	int error;
};

bool race_is_of_writes(const struct race *race)
{
	return race->sides[0].writes && race->sides[1].writes;
}

/* ------- pairs of places ------- */

/* The same for both orders. */
static size_t hash_of(uint64_t one, uint64_t other)
{
	uint64_t low = one < other ? one : other;
	uint64_t high = one < other ? other : one;

	return (size_t)((low * UINT64_C(0x9e3779b97f4a7c15) + high) *
			UINT64_C(0xff51afd7ed558ccd) >> 20);
}

static bool is_pair(const struct race *race, uint64_t one, uint64_t other)
{
	const struct race_side *sides = race->sides;

	return (sides[0].place == one && sides[1].place == other) ||
	       (sides[0].place == other && sides[1].place == one);
}

static size_t slot_of(const struct search *search, uint64_t one,
		      uint64_t other)
{
	size_t slot = hash_of(one, other) & (search->room - 1);

	while (search->slots[slot] &&
	       !is_pair(search->slots[slot], one, other))
		slot = (slot + 1) & (search->room - 1);
	return slot;
}

static int grow(struct search *search)
{
	struct search larger = *search;

	larger.room = search->room ? search->room * 2 : 256;
	larger.slots = calloc(larger.room, sizeof(*larger.slots));
	if (!larger.slots)
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < search->room; i++) {
		struct race *race = search->slots[i];

		if (race)
			larger.slots[slot_of(&larger, race->sides[0].place,
					     race->sides[1].place)] = race;
	}
	free(search->slots);
	*search = larger;
	return 0;
}

static struct race *find_race(struct search *search, uint64_t one,
			      uint64_t other)
{
	struct race **race;

	if (search->count >= search->room / 2 && grow(search))
		return NULL;
	race = &search->slots[slot_of(search, one, other)];
	if (!*race) {
		*race = calloc(1, sizeof(**race));
		search->count += *race != NULL;
	}
	return *race;
}

static void set_example(struct search *search, struct race *race,
			const struct race_entry *before, uint32_t thread,
			const struct race_access *now, uint64_t addr)
{
	race->address = addr;
	race->sides[0] = (struct race_side) {
		.time = before->time, .pc = before->pc,
		.place = before->place, .writes = before->writes,
	};
	race->sides[1] = (struct race_side) {
		.time = now->time, .pc = now->pc,
		.place = now->place, .writes = now->writes,
	};
	if (recording_tid(search->recording, before->thread,
			  &race->sides[0].tid, NULL) ||
	    recording_tid(search->recording, thread, &race->sides[1].tid,
			  NULL))
		search->error = ERR_CORRUPT;
}

static void on_found(void *context, const struct race_entry *before,
		     uint32_t thread, const struct race_access *now,
		     uint64_t addr)
{
	struct search *search = context;
	struct race *race = find_race(search, before->place, now->place);

	if (!race) {
		search->error = ERR_NO_MEMORY;
		return;
	}
	/* Two writes are the better example. */
	if (!race->count || (before->writes && now->writes &&
			     !race_is_of_writes(race)))
		set_example(search, race, before, thread, now, addr);
	/* An instruction counts once, whatever it accesses. */
	if (!race->count || race->last_time != now->time)
		race->count++;
	race->last_time = now->time;
}

/* ------- pairs of lines ------- */

static void describe(struct races *races, struct recording *recording,
		     struct race *race)
{
	size_t segment = recording_segment_at(recording, race->sides[1].time);

	for (unsigned i = 0; i < 2; i++)
		lines_find(races->lines, race->sides[i].time,
			   race->sides[i].place, &race->sides[i].line);
	if (!recording_name(recording, segment, race->address, race->symbol,
			    sizeof(race->symbol)))
		race->symbol[0] = '\0';
}

static bool is_same_line(const struct race_side *a, const struct race_side *b)
{
	if (a->line.line && b->line.line)
		return a->line.line == b->line.line &&
		       !strcmp(a->line.file, b->line.file);
	return a->place == b->place;
}

static bool is_same_race(const struct race *a, const struct race *b)
{
	const struct race_side *one = a->sides, *other = b->sides;

	return (is_same_line(&one[0], &other[0]) &&
		is_same_line(&one[1], &other[1])) ||
	       (is_same_line(&one[0], &other[1]) &&
		is_same_line(&one[1], &other[0]));
}

static bool is_better(const struct race *a, const struct race *b)
{
	if (race_is_of_writes(a) != race_is_of_writes(b))
		return race_is_of_writes(a);
	return a->sides[1].time < b->sides[1].time;
}

/* Joins the race with one of the same lines that is there already. */
static bool merge(struct races *races, const struct race *race)
{
	for (size_t i = 0; i < races->count; i++) {
		struct race *there = &races->list[i];
		uint64_t count = there->count + race->count;

		if (!is_same_race(there, race))
			continue;
		if (is_better(race, there))
			*there = *race;
		there->count = count;
		return true;
	}
	return false;
}

static int compare(const void *a, const void *b)
{
	const struct race *one = a, *other = b;

	if (one->sides[1].time != other->sides[1].time)
		return one->sides[1].time < other->sides[1].time ? -1 : 1;
	if (one->sides[0].time != other->sides[0].time)
		return one->sides[0].time < other->sides[0].time ? -1 : 1;
	return 0;
}

static int list_races(struct races *races, struct recording *recording,
		      const struct search *search, struct failure *why)
{
	races->list = calloc(search->count + 1, sizeof(*races->list));
	if (!races->list)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < search->room; i++) {
		struct race *race = search->slots[i];

		if (!race)
			continue;
		describe(races, recording, race);
		if (!merge(races, race))
			races->list[races->count++] = *race;
	}
	qsort(races->list, races->count, sizeof(*races->list), compare);
	return 0;
}

/* ------- finding them ------- */

static int mark_atomic(void *context, uint64_t addr, uint64_t size)
{
	return race_words_synchronize(context, addr, size, true);
}

static int add_code(void *context, uint64_t start, uint64_t end)
{
	return race_homes_add(context, start, end);
}

/* Variables that are atomic by their type, and what code is the program's. */
static int take_from_lines(struct race_replay *replay, struct lines *lines,
			  struct failure *why)
{
	struct race_words *words = &replay->detector.words;
	int rc = lines_each_atomic(lines, 0, mark_atomic, words);

	if (!rc)
		rc = lines_each_atomic(lines, replay->end, mark_atomic, words);
	if (!rc)
		rc = lines_each_code(lines, replay->end, add_code,
				     &replay->homes);
	return rc ? failed(why, rc, "out of memory") : 0;
}

int races_search(struct race_replay *replay, struct lines *lines,
		 struct failure *why)
{
	int rc = 0;

	/* A thread alone races with nobody. */
	if (recording_threads(replay->recording) < 2)
		return 0;
	rc = take_from_lines(replay, lines, why);
	if (!rc)
		rc = race_replay_run(replay, true, why);
	if (!rc)
		rc = race_replay_run(replay, false, why);
	return rc;
}

static void release_search(struct search *search)
{
	for (size_t i = 0; i < search->room; i++)
		free(search->slots[i]);
	free(search->slots);
}

int races_find(struct races *out, struct recording *recording,
	       race_progress *progress, void *context, struct failure *why)
{
	struct search search = { .recording = recording };
	struct race_replay replay;
	int rc;

	*out = (struct races) { 0 };
	rc = race_replay_init(&replay, recording, recording_end(recording),
			      on_found, &search, why);
	replay.progress = progress;
	replay.progress_context = context;
	if (!rc)
		rc = lines_create(&out->lines, recording, why);
	if (!rc)
		rc = races_search(&replay, out->lines, why);
	if (!rc && search.error)
		rc = failed(why, search.error, search.error == ERR_NO_MEMORY ?
			    "out of memory" : "a thread has no key frame");
	race_replay_release(&replay);
	if (!rc)
		rc = list_races(out, recording, &search, why);
	release_search(&search);
	if (rc)
		races_release(out);
	return rc;
}

void races_release(struct races *races)
{
	free(races->list);
	lines_destroy(races->lines);
	*races = (struct races) { 0 };
}
