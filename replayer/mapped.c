/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mapped.c - whether an address is mapped at a time: see recording.h */
#include "replayer/recording.h"

#include <stdlib.h>

#include "formats/packet.h"

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

static void follow(const struct packet *packet, uint64_t addr, bool *mapped)
{
	if (packet->kind == PACKET_MAP &&
	    is_inside(addr, packet->addr, packet->size))
		*mapped = true;
	if ((packet->kind == PACKET_UNMAP || packet->kind == PACKET_MOVE) &&
	    is_inside(addr, packet->addr, packet->size))
		*mapped = false;
	if (packet->kind == PACKET_MOVE &&
	    is_inside(addr, packet->target, packet->size))
		*mapped = true;
}

int recording_is_mapped(struct recording *recording, uint64_t t, uint64_t addr,
			bool *mapped, struct failure *why)
{
	size_t segment = recording_segment_at(recording, t);
	uint64_t left = t - recording_time(recording, segment);
	struct key_frame frame;
	struct packet_state state;
	struct packet packet;
	struct input in;
	uint8_t *bytes;
	size_t size;
	int rc;

	rc = recording_key_frame(recording, segment, &frame, why);
	if (rc)
		return rc;
	*mapped = is_in_key_frame(&frame, addr);
	state = (struct packet_state) { .doubt = frame.doubt };
	key_frame_release(&frame);
	rc = recording_stream(recording, segment, CHUNK_EVENTS, &bytes, &size,
			      why);
	if (rc)
		return rc;
	in = (struct input) { bytes, bytes + size, 0 };
	while (input_left(&in) && !packet_decode(&in, &state, &packet)) {
		if (packet_is_event(packet.kind)) {
			if (packet.steps > left)
				break;
			left -= packet.steps;
		}
		follow(&packet, addr, mapped);
	}
	free(bytes);
	return 0;
}
