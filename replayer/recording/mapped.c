/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mapped.c - see mapped.h */
#include "replayer/recording/mapped.h"

#include "replayer/recording/packets.h"
#include "replayer/recording/positions.h"
#include "replayer/recording/segments.h"

struct question {
	uint64_t addr;
	struct segment_position place;
	bool mapped;
	bool may_be_shared;	/* a region that is moved takes its kind along */
};

static bool is_inside(uint64_t addr, uint64_t start, uint64_t size)
{
	return addr >= start && addr - start < size;
}

static void ask_key_frame(const struct key_frame *frame,
			  struct question *question)
{
	for (size_t i = 0; i < frame->region_count; i++) {
		const struct region *region = &frame->regions[i];

		if (question->addr < region->start ||
		    question->addr >= region->end)
			continue;
		question->mapped = true;
		question->may_be_shared = region->kind == REGION_SHARED;
	}
}

/* Ends the visits behind the position that is asked for. */
static int follow(void *context, const struct packet_place *place,
		  const struct packet *packet)
{
	struct question *question = context;
	uint64_t addr = question->addr;

	if (place->time > question->place.time ||
	    (place->time == question->place.time &&
	     place->events > question->place.events))
		return 1;
	if (place->is_told)
		return 0;
	if (packet->kind == PACKET_MAP &&
	    is_inside(addr, packet->addr, packet->size)) {
		question->mapped = true;
		question->may_be_shared = packet->region == REGION_SHARED;
	}
	if ((packet->kind == PACKET_UNMAP || packet->kind == PACKET_MOVE) &&
	    is_inside(addr, packet->addr, packet->size))
		question->mapped = false;
	if (packet->kind == PACKET_MOVE &&
	    is_inside(addr, packet->target, packet->size))
		question->mapped = question->may_be_shared = true;
	return 0;
}

static int ask(struct recording *recording, const struct position *position,
	       struct question *question, struct failure *why)
{
	struct key_frame frame;
	size_t segment;
	int rc = recording_place(recording, position, &question->place, why);

	segment = question->place.segment;
	if (!rc)
		rc = recording_key_frame(recording, segment, &frame, why);
	if (rc)
		return rc;
	ask_key_frame(&frame, question);
	key_frame_release(&frame);
	rc = recording_each_packet(recording, segment, follow, question, why);
	return rc < 0 ? rc : 0;
}

int recording_is_mapped(struct recording *recording,
			const struct position *position, uint64_t addr,
			bool *mapped, struct failure *why)
{
	struct question question = { .addr = addr };
	int rc = ask(recording, position, &question, why);

	*mapped = question.mapped;
	return rc;
}

int recording_may_be_shared(struct recording *recording, uint64_t t,
			    uint64_t addr, bool *shared, struct failure *why)
{
	const struct position position = { t, EVENTS_ALL };
	struct question question = { .addr = addr };
	int rc = ask(recording, &position, &question, why);

	*shared = question.mapped && question.may_be_shared;
	return rc;
}

/* ------- common pages ------- */

/*
 * The last change of what is mapped at an address, up to a time and before the
 * packet with a number.
 */
struct search {
	uint64_t t, addr;
	size_t most, seen;	/* packets */
	size_t number;		/* of the change, SIZE_MAX: none */
	uint64_t home;		/* that the address has then */
	bool was_moved;		/* from `home` */
};

static int follow_home(void *context, const struct packet_place *place,
		       const struct packet *packet)
{
	struct search *search = context;
	uint64_t from = packet->kind == PACKET_MOVE ? packet->target :
						      packet->addr;

	if (place->time > search->t || search->seen == search->most)
		return 1;
	search->seen++;
	if (place->is_told ||
	    (packet->kind != PACKET_MAP && packet->kind != PACKET_MOVE) ||
	    !is_inside(search->addr, from, packet->size))
		return 0;
	search->number = search->seen - 1;
	search->was_moved = packet->kind == PACKET_MOVE;
	search->home = search->addr;
	if (search->was_moved)
		search->home = packet->addr + (search->addr - from);
	else if (packet->target)
		search->home = packet->target + (search->addr - from);
	return 0;
}

static uint64_t home_in_key_frame(const struct key_frame *frame, uint64_t addr)
{
	for (size_t i = 0; i < frame->region_count; i++) {
		const struct region *region = &frame->regions[i];

		if (region->common && region->start <= addr &&
		    addr < region->end)
			return region->common + (addr - region->start);
	}
	return addr;
}

int recording_home(struct recording *recording, uint64_t t, uint64_t addr,
		   uint64_t *home, struct failure *why)
{
	size_t segment = recording_segment_at(recording, t);
	struct search search = { .t = t, .most = SIZE_MAX, .home = addr };
	struct key_frame frame;
	int rc;

	do {
		search.addr = search.home;
		search.seen = 0;
		search.number = SIZE_MAX;
		search.was_moved = false;
		rc = recording_each_packet(recording, segment, follow_home,
					   &search, why);
		search.most = search.number;
	} while (rc >= 0 && search.was_moved);
	*home = search.home;
	if (rc < 0 || search.number != SIZE_MAX)
		return rc < 0 ? rc : 0;
	rc = recording_key_frame(recording, segment, &frame, why);
	if (rc)
		return rc;
	*home = home_in_key_frame(&frame, search.addr);
	key_frame_release(&frame);
	return 0;
}
