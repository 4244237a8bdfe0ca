/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_points.c - states inside a segment of a machine, kept to start there
 *
 * As of programs (points.c): who goes back by little will do so again.  A state
 * has the pages that were written since the key frame; which those are, the
 * board knows, in the order in which they were written first: those of an
 * earlier state come first.  It lives as long as its segment is loaded; those
 * that somebody wants to be kept are the replayer's (points.c).
 */
#include "replayer/machine_internal.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"

#define POINTS_MOST (UINT64_C(96) << 20)

/* Of each core. */
struct kept_core {
	struct reg_file regs;
	struct machine_stream stream;	/* but the words of its cache, */
	uint64_t *words;		/* which are these */
};

struct machine_point {
	uint64_t time;
	uint32_t events;
	enum board_stop stop;
	unsigned core;		/* the present one */
	uint64_t slice;
	struct kept_core *cores;
	unsigned core_count;
	size_t page_count;
	uint8_t *bytes;		/* of the first pages of board_writes() */
};

static size_t words_size(const struct machine_stream *stream)
{
	return stream->cache.entries * sizeof(uint64_t);
}

static uint64_t size_of(const struct machine_replay *replay,
			const struct machine_point *point)
{
	return sizeof(*point) +
	       point->core_count * (sizeof(*point->cores) +
				    words_size(&replay->streams[0])) +
	       point->page_count * GUEST_PAGE;
}

static void release(struct machine_point *point)
{
	for (unsigned i = 0; point->cores && i < point->core_count; i++)
		free(point->cores[i].words);
	free(point->cores);
	free(point->bytes);
}

static void drop(struct machine_points *points, size_t index)
{
	release(&points->list[index]);
	points->count--;
	memmove(&points->list[index], &points->list[index + 1],
		(points->count - index) * sizeof(*points->list));
}

void machine_points_drop(struct machine_replay *replay)
{
	struct machine_points *points = &replay->points;

	while (points->count)
		drop(points, points->count - 1);
	free(points->list);
	*points = (struct machine_points){ 0 };
}

/* ------- keeping ------- */

static int keep_core(const struct machine_replay *replay, unsigned core,
		     struct kept_core *out)
{
	const struct machine_stream *stream = &replay->streams[core];

	board_core_registers(replay->board, core, &out->regs);
	out->stream = *stream;
	out->words = malloc(words_size(stream));
	if (!out->words)
		return ERR_NO_MEMORY;
	memcpy(out->words, stream->cache.words, words_size(stream));
	return 0;
}

static int keep_cores(const struct machine_replay *replay,
		      struct machine_point *point)
{
	int rc = 0;

	point->core = board_core(replay->board);
	point->slice = replay->slice;
	point->core_count = board_cores(replay->board);
	point->cores = calloc(point->core_count, sizeof(*point->cores));
	if (!point->cores)
		return ERR_NO_MEMORY;
	for (unsigned i = 0; i < point->core_count && !rc; i++)
		rc = keep_core(replay, i, &point->cores[i]);
	return rc;
}

/* What the replayer keeps counts, too. */
static uint64_t room(const struct machine_replay *replay)
{
	const struct points *kept = replay->rep ? &replay->rep->points : NULL;

	return !kept ? POINTS_MOST :
	       kept->size < kept->most ? kept->most - kept->size : 0;
}

void machine_points_trim(struct machine_replay *replay)
{
	struct machine_points *points = &replay->points;

	while (points->count && points->size > room(replay)) {
		points->size -= size_of(replay, &points->list[0]);
		drop(points, 0);
	}
}

static int keep(struct machine_replay *replay, struct failure *why)
{
	struct machine_points *points = &replay->points;
	size_t count;
	const struct board_write *writes = board_writes(replay->board, &count);
	struct machine_point point = {
		.time = board_steps(replay->board), .events = replay->events,
		.stop = replay->stop, .page_count = count,
	};

	if (array_room(points->list, points->count, points->room))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	point.bytes = malloc(count * GUEST_PAGE + 1);
	if (!point.bytes || keep_cores(replay, &point)) {
		release(&point);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	for (size_t i = 0; i < count; i++)
		memcpy(point.bytes + i * GUEST_PAGE,
		       board_bytes(replay->board,
				   writes[i].page << GUEST_PAGE_SHIFT,
				   GUEST_PAGE), GUEST_PAGE);
	points->list[points->count++] = point;
	points->size += size_of(replay, &point);
	machine_points_trim(replay);
	return 0;
}

int machine_points_lay(struct machine_replay *replay,
		       const struct segment_position *to, struct failure *why)
{
	const uint64_t gap = replay->rep ? replay->rep->points.gap :
					   replay->gap;
	int rc = 0;

	while (!rc) {
		uint64_t now = board_steps(replay->board);
		const struct segment_position half = {
			to->segment, now + (to->time - now) / 2, EVENTS_ALL,
		};

		if (to->time < now || half.time - now < gap)
			break;
		rc = machine_replay_move(replay, &half, why);
		if (!rc)
			rc = keep(replay, why);
	}
	return rc;
}

/* ------- starting ------- */

static const struct machine_point *find(const struct machine_replay *replay,
					const struct segment_position *to)
{
	const struct machine_point *found = NULL;

	for (size_t i = 0; i < replay->points.count; i++) {
		const struct machine_point *point = &replay->points.list[i];

		if ((point->time < to->time ||
		     (point->time == to->time &&
		      point->events <= to->events)) &&
		    (!found || point->time > found->time))
			found = point;
	}
	return found;
}

bool machine_points_time(const struct machine_replay *replay,
			 const struct segment_position *to, uint64_t *out)
{
	const struct machine_point *point = replay->has_segment &&
			to->segment == replay->segment ?
		find(replay, to) : NULL;

	if (point)
		*out = point->time;
	return point;
}

/* The present one's time is that of all: its registers come last. */
static void start_cores(struct machine_replay *replay,
			const struct machine_point *point)
{
	board_switch(replay->board, point->core);
	replay->slice = point->slice;
	for (unsigned i = 0; i < point->core_count; i++) {
		const struct kept_core *kept = &point->cores[i];
		struct machine_stream *stream = &replay->streams[i];

		*stream = kept->stream;
		memcpy(stream->cache.words, kept->words, words_size(stream));
		if (i != point->core)
			board_set_core_registers(replay->board, i, &kept->regs);
	}
	board_set_registers(replay->board, &point->cores[point->core].regs);
}

bool machine_points_start(struct machine_replay *replay,
			  const struct segment_position *to, int *rc,
			  struct failure *why)
{
	const struct machine_point *point = replay->has_segment &&
			to->segment == replay->segment ?
		find(replay, to) : NULL;
	size_t count;
	const struct board_write *writes = board_writes(replay->board, &count);

	if (!point)
		return false;
	*rc = frames_restore(replay, point->page_count, why);
	for (size_t i = 0; i < point->page_count; i++)
		board_store(replay->board, writes[i].page << GUEST_PAGE_SHIFT,
			    point->bytes + i * GUEST_PAGE, GUEST_PAGE);
	start_cores(replay, point);
	replay->stop = point->stop;
	replay->events = point->events;
	replay->error = 0;
	board_set_steps(replay->board, point->time);
	return true;
}
