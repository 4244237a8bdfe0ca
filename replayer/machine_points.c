/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_points.c - states inside a segment of a machine, kept to start there
 *
 * As of programs (points.c): who goes back by little will do so again.  A state
 * has the pages that were written since the key frame; which those are, the
 * board knows, in the order in which they were written first: those of an
 * earlier state come first.  It lives as long as its segment is loaded.
 */
#include "replayer/machine_internal.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"

#define POINTS_MOST (UINT64_C(96) << 20)

struct machine_point {
	uint64_t time;
	uint32_t events;
	enum board_stop stop;
	struct reg_file regs;
	uint64_t *cache;
	struct prediction_reader reads;
	struct packet_stream packets;
	struct packet next;
	bool has_next;
	uint64_t next_time;
	size_t page_count;
	uint8_t *bytes;		/* of the first pages of board_writes() */
};

static uint64_t size_of(const struct machine_replay *replay,
			const struct machine_point *point)
{
	return sizeof(*point) + replay->cache.entries * sizeof(uint64_t) +
	       point->page_count * GUEST_PAGE;
}

static void drop(struct machine_points *points, size_t index)
{
	free(points->list[index].cache);
	free(points->list[index].bytes);
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

static int keep(struct machine_replay *replay, struct failure *why)
{
	struct machine_points *points = &replay->points;
	const size_t words = replay->cache.entries * sizeof(uint64_t);
	size_t count;
	const struct board_write *writes = board_writes(replay->board, &count);
	struct machine_point point = {
		.time = board_steps(replay->board), .events = replay->events,
		.stop = replay->stop, .reads = replay->reads,
		.packets = replay->packets, .next = replay->next,
		.has_next = replay->has_next, .next_time = replay->next_time,
		.page_count = count,
	};

	if (array_room(points->list, points->count, points->room))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	point.cache = malloc(words);
	point.bytes = malloc(count * GUEST_PAGE + 1);
	if (!point.cache || !point.bytes) {
		free(point.cache);
		free(point.bytes);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	memcpy(point.cache, replay->cache.words, words);
	board_registers(replay->board, &point.regs);
	for (size_t i = 0; i < count; i++)
		memcpy(point.bytes + i * GUEST_PAGE,
		       board_bytes(replay->board,
				   writes[i].page << GUEST_PAGE_SHIFT,
				   GUEST_PAGE), GUEST_PAGE);
	points->list[points->count++] = point;
	points->size += size_of(replay, &point);
	while (points->count && points->size > POINTS_MOST) {
		points->size -= size_of(replay, &points->list[0]);
		drop(points, 0);
	}
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
	memcpy(replay->cache.words, point->cache,
	       replay->cache.entries * sizeof(uint64_t));
	replay->reads = point->reads;
	replay->packets = point->packets;
	replay->next = point->next;
	replay->has_next = point->has_next;
	replay->next_time = point->next_time;
	replay->stop = point->stop;
	replay->events = point->events;
	replay->error = 0;
	board_set_registers(replay->board, &point->regs);
	board_set_steps(replay->board, point->time);
	return true;
}
