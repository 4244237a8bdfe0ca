/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * points.c - where a replay can start: at key frames, and at checkpoints
 *
 * Whoever goes back will go back further, mostly by little.  So a replay that
 * goes back takes checkpoints where half of the way is left, and half of that,
 * and so on.  Going back again by n steps then means to execute about n.
 */
#include "replayer/replayer_internal.h"

#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/side_file.h"
#include "replayer/guests.h"

/*
 * So many steps take 2 ms.  One back in gzip takes 2 ms instead of 12, in
 * python3 3 instead of 27, where the first one takes 13 and 31: a checkpoint
 * takes 1 ms or so, and another to start there.  A quarter of the gap saves
 * half a millisecond and makes the first step a fifth slower.
 *
 * The written pages of a segment of python3 take some 10 MB: all the
 * checkpoints of two or three segments are kept.
 */
#define POINTS_MOST (96u << 20)
#define POINTS_GAP (1u << 20)

/*
 * To execute as many takes less than a millisecond; steps back are told of some
 * thousand instructions at a time.
 */
#define POINT_NEAR (1u << 17)

/*
 * Where a question has to execute twice as many steps, it leaves start points
 * for the next.  To store them may take as long as the replay.  Where pacing ended
 * the segments, they are shorter: up to 94 million steps in what was measured.  Only a child's first is longer, and what was recorded
 * with long segments on purpose.
 */
#define STORED_GAP (UINT64_C(64) << 20)

void points_init(struct points *points)
{
	points->most = POINTS_MOST;
	points->gap = POINTS_GAP;
	points->lays = true;
}

static void drop(struct points *points, size_t index)
{
	points->size -= points->list[index]->size;
	checkpoint_release(points->list[index]);
	points->list[index] = points->list[--points->count];
}

/* Makes room for so many bytes more. */
static void trim(struct points *points, uint64_t more)
{
	while (points->count && points->size + more > points->most) {
		size_t least = 0;

		for (size_t i = 1; i < points->count; i++)
			if (points->list[i]->used < points->list[least]->used)
				least = i;
		drop(points, least);
	}
}

void points_release(struct points *points)
{
	while (points->count)
		drop(points, points->count - 1);
	free(points->list);
	*points = (struct points){ 0 };
}

void replayer_keep_points(struct replayer *rep, uint64_t most, uint64_t gap)
{
	rep->points.most = most;
	rep->points.gap = gap;
	trim(&rep->points, 0);
	if (rep->guest->trim_points)
		rep->guest->trim_points(rep);
}

void replayer_lay_points(struct replayer *rep, bool lays)
{
	rep->points.lays = lays;
}

/* ------- finding one ------- */

static bool is_behind(const struct segment_position *a,
		      const struct segment_position *b)
{
	return a->time != b->time ? a->time < b->time : a->events <= b->events;
}

/* The last checkpoint at or before a place, in its segment; NULL: none is. */
static struct checkpoint *find(const struct points *points,
			       const struct segment_position *place)
{
	struct checkpoint *found = NULL;

	for (size_t i = 0; i < points->count; i++) {
		struct checkpoint *point = points->list[i];

		if (point->at.segment == place->segment &&
		    is_behind(&point->at, place) &&
		    (!found || is_behind(&found->at, &point->at)))
			found = point;
	}
	return found;
}

struct checkpoint *points_find(const struct replayer *rep,
			       const struct segment_position *place)
{
	return find(&rep->points, place);
}

int points_before(struct replayer *rep, const struct position *position,
		  struct position *out, struct failure *why)
{
	struct segment_position place;
	const struct checkpoint *point;
	int rc = recording_place(rep->recording, position, &place, why);

	if (rc)
		return rc;
	out->time = recording_time(rep->recording, place.segment);
	if (place.segment && place.time == out->time && !place.events)
		out->time = recording_time(rep->recording, --place.segment);
	place.time--;
	place.events = EVENTS_ALL;
	point = find(&rep->points, &place);
	if (point) {
		*out = (struct position){ point->at.time, point->at.events };
		return 0;
	}
	return recording_events_before(rep->recording, place.segment,
				       &out->events, why);
}

/* ------- those of the side file ------- */

static int keep(struct replayer *rep, struct checkpoint *point,
		struct failure *why)
{
	struct points *points = &rep->points;

	trim(points, point->size);
	if (array_room(points->list, points->count, points->room)) {
		checkpoint_release(point);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	point->used = ++points->uses;
	points->size += point->size;
	points->list[points->count++] = point;
	if (rep->guest->trim_points)
		rep->guest->trim_points(rep);
	return 0;
}

const struct side_record *points_find_stored(const struct replayer *rep,
					     const struct segment_position *to)
{
	const struct checkpoint *here = find(&rep->points, to);
	const struct side_record *record = NULL;

	if (rep->points.side)
		record = side_file_before(rep->points.side, SIDE_POINT,
					  to->segment,
					  stored_point_place(rep, to));
	if (record && here &&
	    stored_point_place(rep, &here->at) >= record->place)
		record = NULL;
	return record;
}

bool points_are_nearer(const struct replayer *rep,
		       const struct segment_position *to)
{
	const struct checkpoint *point = find(&rep->points, to);
	const struct side_record *stored = points_find_stored(rep, to);
	uint64_t start = recording_time(rep->recording, to->segment);

	if (stored && (rep->segment < to->segment ||
		       vm_steps(rep->vm) - start <
			       stored->place >> STORED_EVENTS_BITS))
		return true;
	return point && (rep->segment < to->segment ||
			 vm_steps(rep->vm) < point->at.time);
}

int replayer_start_time(const struct replayer *rep,
			const struct position *position, uint64_t *out,
			struct failure *why)
{
	struct segment_position place;
	const struct checkpoint *point;
	const struct side_record *stored;
	int rc = recording_place(rep->recording, position, &place, why);

	if (rc)
		return rc;
	*out = recording_time(rep->recording, place.segment);
	point = find(&rep->points, &place);
	stored = points_find_stored(rep, &place);
	if (stored)
		*out += stored->place >> STORED_EVENTS_BITS;
	else if (point)
		*out = point->at.time;
	return 0;
}

static int load_stored(struct replayer *rep, const struct segment_position *to,
		       struct failure *why)
{
	const struct side_record *record = points_find_stored(rep, to);
	struct output bytes = { 0 };
	struct checkpoint *point = NULL;
	int rc = 0;

	if (record && side_file_read(rep->points.side, record, &bytes))
		rc = stored_point_decode(rep, bytes.bytes, bytes.size,
					 to->segment, &point, why);
	output_release(&bytes);
	return point ? keep(rep, point, why) : rc;
}

/* ------- going there ------- */

int points_start(struct replayer *rep, const struct segment_position *to,
		 struct failure *why)
{
	int rc = load_stored(rep, to, why);
	struct checkpoint *point = find(&rep->points, to);

	if (rc)
		return rc;
	if (point) {
		point->used = ++rep->points.uses;
		return checkpoint_start(rep, point, why);
	}
	rc = start_at_frame(rep, to->segment, why);
	if (rc)
		return rc;
	replayer_fetch(rep, to->time - rep->start);
	return rep->error ? failed(why, rep->error, "%s", rep->why.text) : 0;
}

/* A machine's, as in a side file; `*out` is NULL if it takes more than `most`. */
static int take_encoded(struct replayer *rep, uint64_t most,
			struct checkpoint **out, struct failure *why)
{
	struct checkpoint *point = calloc(1, sizeof(*point));
	struct output bytes = { 0 };
	int rc;

	*out = NULL;
	if (!point)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = rep->guest->encode_point(rep, &point->at, &bytes, why);
	if (!rc && bytes.error)
		rc = failed(why, bytes.error, "out of memory");
	if (rc || !bytes.size || bytes.size > most) {
		output_release(&bytes);
		free(point);
		return rc;
	}
	point->encoded = bytes.bytes;
	point->encoded_size = bytes.size;
	point->size = sizeof(*point) + bytes.size;
	*out = point;
	return 0;
}

int replayer_keep_point(struct replayer *rep, struct failure *why)
{
	uint64_t most = rep->points.most / 2;
	struct checkpoint *point;
	int rc = rep->machine ? take_encoded(rep, most, &point, why) :
				checkpoint_take(rep, most, &point, why);

	return rc || !point ? rc : keep(rep, point, why);
}

void replayer_expect_back(struct replayer *rep)
{
	rep->expects_back = true;
}

int points_lay_near(struct replayer *rep, const struct segment_position *to,
		    struct failure *why)
{
	int rc;

	if (!rep->points.most || to->time - vm_steps(rep->vm) < 2 * POINT_NEAR)
		return 0;
	rc = events_run(rep, to->time - POINT_NEAR, EVENTS_ALL, why);
	return rc ? rc : replayer_keep_point(rep, why);
}

/* Runs half of the way, again and again, and keeps where it comes to. */
static int run_halves(struct replayer *rep, const struct segment_position *to,
		      uint64_t gap,
		      int (*keep_here)(struct replayer *rep, bool *kept,
				       struct failure *why),
		      struct failure *why)
{
	bool kept = true;
	int rc = 0;

	while (!rc && kept) {
		uint64_t now = vm_steps(rep->vm), half = (to->time - now) / 2;

		if (half < gap)
			break;
		rc = events_run(rep, now + half, EVENTS_ALL, why);
		if (!rc)
			rc = keep_here(rep, &kept, why);
	}
	return rc;
}

int points_store_on_way(struct replayer *rep,
			const struct segment_position *to, struct failure *why)
{
	if (!rep->points.side || !side_file_may_add(rep->points.side))
		return 0;
	return run_halves(rep, to, STORED_GAP, replayer_store_point, why);
}

/* Where none can be kept, the next one may be. */
static int keep_one(struct replayer *rep, bool *kept, struct failure *why)
{
	*kept = true;
	return replayer_keep_point(rep, why);
}

int points_lay(struct replayer *rep, const struct segment_position *to,
	       struct failure *why)
{
	if (!rep->points.most || !rep->points.lays)
		return 0;
	return run_halves(rep, to, rep->points.gap, keep_one, why);
}
