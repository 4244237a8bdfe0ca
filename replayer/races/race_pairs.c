/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_pairs.c - see race_pairs.h */
#include "replayer/races/race_pairs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/races/race_internal.h"
#include "replayer/races/race_search.h"
#include "replayer/recording/recording.h"
#include "replayer/symbols/symbols.h"

/* Two places in the code that race, and the race of their lines. */
struct pair {
	uint64_t places[2];
	size_t race;		/* in the list */
};

struct search {
	struct recording *recording;
	struct races *races;
	size_t room;		/* of their list */
	struct race_replay *replay;
	struct pair **slots;	/* a hash table */
	size_t pair_count, slot_count;
	int error;
};

enum race_kind race_kind_of(const struct race *race)
{
	return race->sides[0].writes && race->sides[1].writes ?
		       RACE_OF_WRITES : RACE_WITH_READ;
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

static bool is_pair(const struct pair *pair, uint64_t one, uint64_t other)
{
	const uint64_t *places = pair->places;

	return (places[0] == one && places[1] == other) ||
	       (places[0] == other && places[1] == one);
}

static size_t slot_of(const struct search *search, uint64_t one,
		      uint64_t other)
{
	size_t slot = hash_of(one, other) & (search->slot_count - 1);

	while (search->slots[slot] &&
	       !is_pair(search->slots[slot], one, other))
		slot = (slot + 1) & (search->slot_count - 1);
	return slot;
}

static int grow(struct search *search)
{
	struct search larger = *search;

	larger.slot_count = search->slot_count ? search->slot_count * 2 : 256;
	larger.slots = calloc(larger.slot_count, sizeof(*larger.slots));
	if (!larger.slots)
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < search->slot_count; i++) {
		struct pair *pair = search->slots[i];

		if (pair)
			larger.slots[slot_of(&larger, pair->places[0],
					     pair->places[1])] = pair;
	}
	free(search->slots);
	*search = larger;
	return 0;
}

/* ------- pairs of lines ------- */

static struct race_side side_of(struct search *search,
				const struct race_entry *entry)
{
	struct race_side side = {
		.at.time = entry->time, .pc = entry->pc, .place = entry->place,
		.writes = entry->writes,
	};

	if (recording_tid(search->recording,
			  recording_thread_of(search->recording, entry->thread,
					      entry->time),
			  &side.tid, NULL))
		search->error = ERR_CORRUPT;
	lines_find(search->races->lines, side.at.time, side.place, &side.line);
	return side;
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

/* The race of the same lines, made if there is none. */
static size_t find_race(struct search *search, const struct race *race)
{
	struct races *races = search->races;
	size_t i;

	for (i = 0; i < races->count; i++)
		if (is_same_race(&races->list[i], race))
			return i;
	if (array_room(races->list, races->count, search->room)) {
		search->error = ERR_NO_MEMORY;
		return SIZE_MAX;
	}
	races->list[races->count++] = *race;
	return i;
}

static void set_symbol(struct search *search, struct race *race)
{
	struct source_line line;

	race->symbol[0] = '\0';
	if (names_of(lines_names(search->races->lines), race->sides[1].at.time,
		     race->address, race->symbol, sizeof(race->symbol)))
		return;
	lines_find(search->races->lines, race->sides[1].at.time, race->address,
		   &line);
	if (line.module[0])
		snprintf(race->symbol, sizeof(race->symbol), "%s+0x%" PRIx64,
			 line.module, line.offset);
}

/* An access, and one before it that it races with. */
struct sighting {
	const struct race_entry *before;
	struct race_entry now;
	uint64_t addr;
};

static struct race make_race(struct search *search,
			     const struct sighting *sighting)
{
	struct race race = {
		.address = memory_address(race_memory(search->replay),
					  sighting->addr),
		.sides = {
			side_of(search, sighting->before),
			side_of(search, &sighting->now),
		},
	};

	set_symbol(search, &race);
	return race;
}

static struct pair *add_pair(struct search *search,
			     const struct sighting *sighting)
{
	struct race race = make_race(search, sighting);
	struct pair *pair = calloc(1, sizeof(*pair));

	if (!pair) {
		search->error = ERR_NO_MEMORY;
		return NULL;
	}
	pair->places[0] = sighting->before->place;
	pair->places[1] = sighting->now.place;
	pair->race = find_race(search, &race);
	if (pair->race != SIZE_MAX)
		return pair;
	free(pair);
	return NULL;
}

static struct race *race_of(struct search *search,
			    const struct sighting *sighting)
{
	uint64_t one = sighting->before->place, other = sighting->now.place;
	struct pair **pair;

	if (search->pair_count >= search->slot_count / 2 && grow(search)) {
		search->error = ERR_NO_MEMORY;
		return NULL;
	}
	pair = &search->slots[slot_of(search, one, other)];
	if (!*pair) {
		*pair = add_pair(search, sighting);
		search->pair_count += *pair != NULL;
	}
	return *pair ? &search->races->list[(*pair)->race] : NULL;
}

static void set_example(struct search *search, struct race *race,
			const struct sighting *sighting)
{
	struct race better = make_race(search, sighting);

	race->address = better.address;
	memcpy(race->symbol, better.symbol, sizeof(race->symbol));
	memcpy(race->sides, better.sides, sizeof(race->sides));
}

static void on_found(void *context, const struct race_entry *before,
		     uint32_t thread, const struct race_access *now,
		     uint64_t addr)
{
	struct search *search = context;
	struct sighting sighting = {
		.before = before,
		.now = {
			.thread = thread, .time = now->time, .pc = now->pc,
			.place = now->place, .writes = now->writes,
		},
		.addr = addr,
	};
	struct race *race = race_of(search, &sighting);
	enum race_kind kind = before->writes && now->writes ? RACE_OF_WRITES :
							     RACE_WITH_READ;

	if (!race)
		return;
	/* Two writes are the better example. */
	if (kind == RACE_OF_WRITES && race_kind_of(race) != kind)
		set_example(search, race, &sighting);
	race->has_kind[kind] = true;
	/* An instruction counts once, whatever it accesses. */
	if (!race->count || race->last_time != now->time)
		race->count++;
	race->last_time = now->time;
}

static int compare(const void *a, const void *b)
{
	const struct race *one = a, *other = b;
	int order = position_compare(&one->sides[1].at, &other->sides[1].at);

	return order ? order :
		       position_compare(&one->sides[0].at, &other->sides[0].at);
}

/* An instruction executes after all events of its time. */
static int place_sides(const struct races *races, struct recording *recording,
		       struct failure *why)
{
	int rc = 0;

	for (size_t i = 0; i < 2 * races->count && !rc; i++) {
		struct position *at = &races->list[i / 2].sides[i % 2].at;

		rc = recording_events_at(recording, at->time, &at->events, why);
	}
	return rc;
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

int races_start(struct race_replay *replay, struct lines *lines,
		struct failure *why)
{
	replay->atomics.lines = lines;
	if (lines_each_code(lines, replay->end, add_code, &replay->homes))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	return 0;
}

int races_mark(struct race_replay *replay, struct lines *lines,
	       struct failure *why)
{
	int rc;

	if (race_atomics_start(&replay->atomics, lines, replay->end))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = race_replay_run(replay, true, why);
	if (!rc && race_words_was_early(&replay->detector.words)) {
		replay->collects = true;
		rc = race_replay_run(replay, true, why);
		replay->collects = false;
	}
	return rc;
}

int races_look(struct race_replay *replay, struct lines *lines,
	       struct failure *why)
{
	struct race_words *words = &replay->detector.words;
	uint64_t first = recording_start(replay->recording);
	int rc = lines_each_atomic(lines, first, race_home_has_atomics,
				   mark_atomic, words);

	if (!rc)
		rc = lines_each_atomic(lines, replay->end,
				       race_home_has_atomics, mark_atomic,
				       words);
	if (rc)
		return failed(why, rc, "out of memory");
	if (race_replay_has_focus(replay))
		race_words_share(words);
	return race_replay_run(replay, false, why);
}

static void release_search(struct search *search)
{
	for (size_t i = 0; i < search->slot_count; i++)
		free(search->slots[i]);
	free(search->slots);
}

int races_find(struct races *out, struct recording *recording,
	       race_progress *progress, void *context, struct failure *why)
{
	struct search search = { .recording = recording, .races = out };
	struct race_replay replay;
	int rc;

	search.replay = &replay;
	*out = (struct races) { 0 };
	rc = race_replay_init(&replay, recording, 0, recording_end(recording),
			      on_found, &search, why);
	replay.progress = progress;
	replay.progress_context = context;
	if (!rc)
		rc = lines_create(&out->lines, recording, why);
	/* A thread alone has no races. */
	if (!rc && replay.start < replay.end)
		rc = races_start(&replay, out->lines, why);
	if (!rc && replay.start < replay.end)
		rc = races_mark(&replay, out->lines, why);
	if (!rc && replay.start < replay.end)
		rc = races_look(&replay, out->lines, why);
	if (!rc && search.error)
		rc = failed(why, search.error, search.error == ERR_NO_MEMORY ?
			    "out of memory" : "a thread has no key frame");
	race_replay_release(&replay);
	if (!rc)
		rc = place_sides(out, recording, why);
	if (!rc && out->count)
		qsort(out->list, out->count, sizeof(*out->list), compare);
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
