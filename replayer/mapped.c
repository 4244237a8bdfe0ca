/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mapped.c - whether an address is mapped at a time: see recording.h */
#include "replayer/recording.h"

#include "replayer/packets.h"

struct question {
	uint64_t t, addr;
	bool mapped;
};

static bool is_inside(uint64_t addr, uint64_t start, uint64_t size)
{
	return addr >= start && addr - start < size;
}

static bool is_in_key_frame(const struct key_frame *frame, uint64_t addr)
{
	for (size_t i = 0; i < frame->region_count; i++)
		if (frame->regions[i].start <= addr &&
		    addr < frame->regions[i].end)
			return true;
	return false;
}

/* Ends the visits behind the time that is asked for. */
static int follow(void *context, const struct packet_place *place,
		  const struct packet *packet)
{
	struct question *question = context;
	uint64_t addr = question->addr;

	if (place->time > question->t)
		return 1;
	if (place->is_told)
		return 0;
	if (packet->kind == PACKET_MAP &&
	    is_inside(addr, packet->addr, packet->size))
		question->mapped = true;
	if ((packet->kind == PACKET_UNMAP || packet->kind == PACKET_MOVE) &&
	    is_inside(addr, packet->addr, packet->size))
		question->mapped = false;
	if (packet->kind == PACKET_MOVE &&
	    is_inside(addr, packet->target, packet->size))
		question->mapped = true;
	return 0;
}

int recording_is_mapped(struct recording *recording, uint64_t t, uint64_t addr,
			bool *mapped, struct failure *why)
{
	size_t segment = recording_segment_at(recording, t);
	struct question question = { .t = t, .addr = addr };
	struct key_frame frame;
	int rc;

	rc = recording_key_frame(recording, segment, &frame, why);
	if (rc)
		return rc;
	question.mapped = is_in_key_frame(&frame, addr);
	key_frame_release(&frame);
	rc = recording_each_packet(recording, segment, follow, &question, why);
	*mapped = question.mapped;
	return rc < 0 ? rc : 0;
}
