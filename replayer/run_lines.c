/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_lines.c - where FILE.idx says that nothing watched is accessed
 *
 * The index of a recording knows pages.  The fine level, which is in FILE.idx if
 * somebody has asked for it, knows lines of memory, and in which part of a
 * segment they were accessed: what is behind that is not executed, nor are
 * segments that have no such line.
 */
#include "formats/error.h"
#include "formats/side_file.h"
#include "index/index.h"
#include "replayer/replayer_internal.h"
#include "replayer/run_internal.h"

/* The epochs of a segment that may matter; all: it is not known. */
struct epochs {
	uint64_t set;
	unsigned shift;
	bool has_shift;
};

static const struct epochs unknown = { .set = UINT64_MAX };

/* False if there is no such record, or it is damaged. */
static bool load(struct side_file *side, enum side_kind kind, size_t segment,
		 struct line_set *out)
{
	const struct side_record *record =
		side_file_find(side, kind, segment, 0);
	struct output bytes = { 0 };
	bool is_there = record && side_file_read(side, record, &bytes) &&
			!line_set_decode(out, bytes.bytes, bytes.size);

	output_release(&bytes);
	return is_there;
}

static bool is_of_kind(const struct replay_watch *watch, enum side_kind kind)
{
	return kind == SIDE_READS ? watch->reads : watch->writes;
}

/* Adds those in which anything is accessed in one way. */
static void add(const struct search *search, enum side_kind kind,
		size_t segment, struct epochs *epochs)
{
	const struct replay_until *until = search->until;
	struct line_set lines = { 0 };
	bool is_any = false;

	for (size_t i = 0; i < until->watch_count; i++)
		is_any |= is_of_kind(&until->watches[i], kind);
	if (!is_any || epochs->set == UINT64_MAX)
		return;
	/* One of them may have had its epochs joined. */
	if (!load(search->side, kind, segment, &lines) ||
	    (epochs->has_shift && epochs->shift != lines.shift)) {
		*epochs = unknown;
	} else {
		epochs->shift = lines.shift;
		epochs->has_shift = true;
		for (size_t i = 0; i < until->watch_count; i++)
			if (is_of_kind(&until->watches[i], kind))
				epochs->set |= line_set_epochs(
					&lines, until->watches[i].data.first,
					until->watches[i].data.last);
	}
	line_set_release(&lines);
}

/* Leaves the epochs that are between two times, of steps. */
static uint64_t between(const struct epochs *epochs, uint64_t first,
			uint64_t last)
{
	uint64_t set = epochs->set;

	first >>= epochs->shift;
	last >>= epochs->shift;
	if (first >= EPOCHS_MOST)
		first = EPOCHS_MOST - 1;
	set &= UINT64_MAX << first;
	if (last < EPOCHS_MOST - 1)
		set &= (UINT64_C(2) << last) - 1;
	return set;
}

/* Brings `*end` to behind the last epoch of a set that is not empty. */
static void bring_nearer(struct position *end, uint64_t start, uint64_t set,
			 unsigned shift)
{
	uint64_t count = EPOCHS_MOST - (uint64_t)__builtin_clzll(set);
	struct position behind = { start + (count << shift), EVENTS_ALL };

	/* The last one has all that comes later. */
	if (count < EPOCHS_MOST && run_is_before(&behind, end))
		*end = behind;
}

int run_narrow(struct search *search, const struct position *first,
	       struct position *end, bool *may, struct failure *why)
{
	struct recording *recording = search->rep->recording;
	struct epochs epochs = { 0 };
	struct segment_position place;
	bool others = false;
	uint64_t set, start;
	int rc;

	if (!search->side || search->until->break_count)
		return 0;
	rc = recording_place(recording, first, &place, why);
	if (rc)
		return rc;
	add(search, SIDE_WRITES, place.segment, &epochs);
	add(search, SIDE_READS, place.segment, &epochs);
	if (epochs.set == UINT64_MAX)
		return 0;
	rc = run_may_meet_event(search, place.segment, &others, why);
	if (rc || others)
		return rc;
	start = recording_time(recording, place.segment);
	set = between(&epochs, first->time - start, end->time - start);
	*may = set;
	if (set)
		bring_nearer(end, start, set, epochs.shift);
	return 0;
}
