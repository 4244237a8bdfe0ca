/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script.c - see script.h */
#include "replayer/script.h"

#include <stdlib.h>
#include <string.h>

#include "cache/prediction.h"
#include "formats/array.h"
#include "formats/error.h"

/* What one script may unpack to: the recorder keeps segments far smaller. */
#define CONTENTS_MOST (UINT64_C(1) << 31)

/* ------- touches ------- */

static struct script_touch *touch_slot(struct script_touch *table, size_t room,
				       uint64_t page, uint64_t doubt)
{
	size_t at = ((page * 31 + doubt) * UINT64_C(0x9e3779b97f4a7c15) >> 24) &
		    (room - 1);

	while (table[at].page != SCRIPT_NO_PAGE &&
	       (table[at].page != page || table[at].doubt != doubt))
		at = (at + 1) & (room - 1);
	return &table[at];
}

static int grow_touches(struct script *script)
{
	size_t room = script->touch_room ? script->touch_room * 2 : 256;
	struct script_touch *table;

	if (script->touch_count * 4 < script->touch_room * 3)
		return 0;
	table = malloc(room * sizeof(*table));
	if (!table)
		return ERR_NO_MEMORY;
	memset(table, 0xff, room * sizeof(*table));
	for (size_t i = 0; i < script->touch_room; i++) {
		const struct script_touch *old = &script->touches[i];

		if (old->page != SCRIPT_NO_PAGE)
			*touch_slot(table, room, old->page, old->doubt) = *old;
	}
	free(script->touches);
	script->touches = table;
	script->touch_room = room;
	return 0;
}

const struct script_touch *script_find_touch(const struct script *script,
					     uint64_t page, uint64_t doubt)
{
	const struct script_touch *slot;

	if (!script->touch_room)
		return NULL;
	slot = touch_slot(script->touches, script->touch_room, page, doubt);
	return slot->page == SCRIPT_NO_PAGE ? NULL : slot;
}

/* ------- contents ------- */

/* Keeps bytes that packets point to, until the script is released. */
static int keep(struct script *script, uint8_t *bytes)
{
	int rc = array_room(script->contents, script->content_count,
			    script->content_room);

	if (rc)
		free(bytes);
	else
		script->contents[script->content_count++] = bytes;
	return rc;
}

/* Takes `size` bytes seen at `addr` out of the read stream. */
static int take_contents(struct script *script,
			 struct prediction_reader *reads, guest_addr addr,
			 uint64_t size, const uint8_t **out)
{
	uint8_t *bytes;

	if (size > CONTENTS_MOST - script->content_size)
		return ERR_CORRUPT;
	script->content_size += size;
	bytes = malloc(size);
	if (!bytes || keep(script, bytes))
		return ERR_NO_MEMORY;
	*out = bytes;
	return prediction_replay(reads, addr, bytes, size);
}

/* ------- packets ------- */

static int add_event(struct script *script, const struct packet *packet,
		     const struct stream_clock *clock)
{
	uint64_t time = script->alone ? clock->own : clock->time;
	int rc = array_room(script->events, script->event_count,
			    script->event_room);

	if (rc)
		return rc;
	if (packet->kind == PACKET_SLICE)
		script->turn = script->event_count;
	script->events[script->event_count++] = (struct script_event) {
		.packet = *packet, .time = time, .joint = clock->time,
		.stream = clock->stream, .first = script->effect_count,
	};
	return 0;
}

static int add_effect(struct script *script, const struct packet *packet,
		      struct prediction_reader *reads)
{
	struct script_effect *effect;
	int rc;

	rc = array_room(script->effects, script->effect_count,
			script->effect_room);
	if (rc)
		return rc;
	effect = &script->effects[script->effect_count++];
	*effect = (struct script_effect){ .packet = *packet };
	script->events[script->event_count - 1].count++;
	if (packet->kind != PACKET_WRITE)
		return 0;
	return take_contents(script, reads, packet->addr, packet->size,
			     &effect->contents);
}

/* ------- one thread alone ------- */

static int note_doubt(struct script *script, uint64_t number)
{
	struct script_doubts *doubts = &script->doubts;
	if (array_room(doubts->list, doubts->count, doubts->room))
		return ERR_NO_MEMORY;
	doubts->list[doubts->count++] = number;
	return 0;
}

/* Whether the thread's own stream, or the key frame, has told of a doubt. */
static bool knows_doubt(const struct script *script, uint64_t number)
{
	const struct script_doubts *doubts = &script->doubts;
	size_t low = 0, high = doubts->count;

	if (number <= doubts->until)
		return true;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (doubts->list[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < doubts->count && doubts->list[low] == number;
}

/* Memory that others changed is so from the beginning of the turn. */
static int add_seen(struct script *script, const struct packet *packet,
		    struct prediction_reader *reads)
{
	bool is_page = packet->kind != PACKET_SEEN;
	struct script_seen *seen;
	int rc =
		array_room(script->seen, script->seen_count, script->seen_room);

	if (rc)
		return rc;
	seen = &script->seen[script->seen_count++];
	*seen = (struct script_seen) {
		.event = script->turn,
		.addr = packet->addr,
		.size = is_page ? GUEST_PAGE : packet->size,
		.id = packet->page_id,
	};
	if (is_page && packet->source == TOUCH_STORED)
		return 0;
	return take_contents(script, reads, seen->addr, seen->size,
			     &seen->contents);
}

/* ------- touches, continued ------- */

static int add_touch(struct script *script, const struct packet *packet,
		     struct prediction_reader *reads)
{
	uint64_t page = packet->addr >> GUEST_PAGE_SHIFT;
	struct script_touch *slot;
	int rc = grow_touches(script);

	if (rc)
		return rc;
	slot = touch_slot(script->touches, script->touch_room, page,
			  packet->number);
	if (slot->page != SCRIPT_NO_PAGE)
		return ERR_CORRUPT;	/* a doubt is resolved once */
	*slot = (struct script_touch){ page, packet->number, packet->source,
				       NULL, packet->page_id };
	script->touch_count++;
	if (packet->source != TOUCH_READS)
		return 0;
	return take_contents(script, reads, packet->addr, GUEST_PAGE,
			     &slot->contents);
}

/* What other threads wrote is in memory; the cache must learn of it. */
static int pass_seen(const struct packet *packet,
		     struct prediction_reader *reads)
{
	uint8_t bytes[GUEST_PAGE];
	uint64_t size = packet->size;

	if (packet->kind == PACKET_SEEN_PAGE) {
		if (packet->source == TOUCH_STORED)
			return 0;
		size = GUEST_PAGE;
	}
	return prediction_replay(reads, packet->addr, bytes, size);
}

/* `first` is where the stream's own events begin. */
static int add_packet(struct script *script, const struct packet *packet,
		      const struct stream_clock *clock,
		      struct prediction_reader *reads, size_t first)
{
	if (packet_is_event(packet->kind))
		return add_event(script, packet, clock);
	if (script->alone &&
	    (packet->kind == PACKET_SEEN || packet->kind == PACKET_SEEN_PAGE ||
	     (packet->kind == PACKET_TOUCH &&
	      !knows_doubt(script, packet->number))))
		return add_seen(script, packet, reads);
	if (packet->kind == PACKET_TOUCH)
		return add_touch(script, packet, reads);
	if (packet->kind == PACKET_SEEN || packet->kind == PACKET_SEEN_PAGE)
		return pass_seen(packet, reads);
	if (script->event_count == first)
		return ERR_CORRUPT;	/* an effect of nothing */
	/* Memory is one: what others did is there already. */
	if (!script->alone &&
	    packet_is_told(script->events[script->event_count - 1].packet.kind,
			   packet->kind))
		return 0;
	if (script->alone && packet->kind == PACKET_DOUBT &&
	    note_doubt(script, packet->number))
		return ERR_NO_MEMORY;
	return add_effect(script, packet, reads);
}

static int damaged(const struct packet_stream *packets, int code,
		   struct failure *why)
{
	if (code == ERR_NO_MEMORY)
		return failed(why, code, "out of memory");
	return failed(why, code,
		      "'%s': the streams of segment %zu are damaged",
		      packets->path, packets->segment);
}

int script_add(struct script *script, struct packet_stream *packets,
	       bool is_first, const struct script_reads *reads,
	       struct failure *why)
{
	size_t first = script->event_count;
	struct prediction_reader reader;
	struct stream_clock clock;
	struct packet packet;
	int more;
	int rc = keep(script, packets->bytes);

	packets->bytes = NULL;
	if (!rc)
		rc = slices_begin(&script->slices, &clock, packets->stream,
				  is_first);
	prediction_reader_init(&reader, reads->cache, reads->bytes,
			       reads->size);
	while (!rc) {
		more = packet_stream_next(packets, &packet, why);
		if (more <= 0)
			return more;
		rc = slices_follow(&script->slices, &clock, &packet);
		if (rc)
			return packet_stream_damaged(packets, rc, why);
		rc = add_packet(script, &packet, &clock, &reader, first);
	}
	return damaged(packets, rc, why);
}

/* Events of several slices, in the order of the slices. */
static int sort_events(struct script *script)
{
	const struct slices *slices = &script->slices;
	struct script_event *sorted;
	size_t count = 0;

	sorted = malloc((script->event_count + 1) * sizeof(*sorted));
	if (!sorted)
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < slices->count; i++) {
		const struct slice *slice = &slices->list[i];

		if (slice->count)
			memcpy(sorted + count, script->events + slice->first,
			       slice->count * sizeof(*sorted));
		count += slice->count;
	}
	free(script->events);
	script->events = sorted;
	script->event_room = script->event_count + 1;
	script->event_count = count;
	return 0;
}

int script_order(struct script *script, bool is_cut)
{
	bool is_one = script->slices.count == 1;
	int rc = slices_order(&script->slices, is_cut);

	/* The events of one slice are in order. */
	return rc || is_one ? rc : sort_events(script);
}

/* ------- segments of a recording ------- */

static int set_cache(struct cache *cache, const struct key_frame *frame)
{
	if (cache->entries != frame->cache_entries) {
		cache_release(cache);
		if (cache_init(cache, frame->cache_entries))
			return ERR_NO_MEMORY;
	}
	if (frame->cache_size)
		memcpy(cache->words, frame->cache, frame->cache_size);
	else
		cache_flush(cache);
	return 0;
}

/* `frame` is the stream's newest one. */
static int add_stream(struct script *script, struct recording *recording,
		      struct packet_stream *packets, bool is_first,
		      const struct key_frame *frame, struct cache *cache,
		      struct failure *why)
{
	struct script_reads reads = { .cache = cache };
	uint8_t *bytes = NULL;
	int rc;

	if (set_cache(cache, frame))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = recording_stream(recording, packets->segment, packets->stream,
			      CHUNK_READS, &bytes, &reads.size, why);
	reads.bytes = bytes;
	if (!rc)
		rc = script_add(script, packets, is_first, &reads, why);
	free(bytes);
	return rc;
}

static int load_first(struct script *script, struct recording *recording,
		      size_t segment, uint32_t stream,
		      const struct key_frame *frame, struct cache *cache,
		      struct failure *why)
{
	struct packet_stream packets;
	int rc = packet_stream_open(&packets, recording, segment, stream,
				    frame, why);

	if (rc)
		return rc;
	rc = add_stream(script, recording, &packets, true, frame, cache, why);
	packet_stream_close(&packets);
	return rc;
}

static int load_other(struct script *script, struct recording *recording,
		      size_t segment, uint32_t stream,
		      const struct key_frame *first, struct cache *cache,
		      struct failure *why)
{
	struct packet_stream packets;
	struct key_frame frame;
	int rc = recording_thread_frame(recording, segment, stream, &frame,
					why);

	if (rc)
		return rc;
	if (recording_has_frame(recording, segment, stream))
		first = &frame;
	rc = packet_stream_open(&packets, recording, segment, stream, first,
				why);
	if (!rc && input_left(&packets.in))
		rc = add_stream(script, recording, &packets, false, &frame,
				cache, why);
	packet_stream_close(&packets);
	key_frame_release(&frame);
	return rc;
}

int script_load(struct script *out, struct recording *recording,
		size_t segment, const struct key_frame *frame,
		struct cache *cache, struct failure *why)
{
	size_t count;
	const uint32_t *streams = recording_streams(recording, segment, &count);
	int rc;

	memset(out, 0, sizeof(*out));
	rc = load_first(out, recording, segment, streams[0], frame, cache, why);
	for (size_t i = 1; i < count && !rc; i++)
		rc = load_other(out, recording, segment, streams[i], frame,
				cache, why);
	if (rc)
		return rc;
	rc = script_order(out, recording_is_cut(recording, segment));
	if (rc == ERR_NO_MEMORY)
		return failed(why, rc, "out of memory");
	if (rc)
		return failed(why, rc,
			      "'%s': the slices of segment %zu are damaged",
			      trace_reader_path(recording_reader(recording)), segment);
	return 0;
}

int script_load_alone(struct script *out, struct recording *recording,
		      size_t segment, uint32_t stream,
		      const struct key_frame *frame,
		      const struct key_frame *own, struct cache *cache,
		      struct failure *why)
{
	bool has_frame = recording_has_frame(recording, segment, stream);
	size_t count;
	bool is_first =
		recording_streams(recording, segment, &count)[0] == stream;
	struct packet_stream packets;
	int rc;

	memset(out, 0, sizeof(*out));
	out->alone = true;
	out->turn = SIZE_MAX;
	out->doubts.until = frame->doubt;
	rc = packet_stream_open(&packets, recording, segment, stream,
				has_frame ? own : frame, why);
	if (!rc && input_left(&packets.in))
		rc = add_stream(out, recording, &packets, is_first, own,
				cache, why);
	packet_stream_close(&packets);
	return rc;
}

int script_seen_contents(const struct script_seen *seen,
			 struct recording *recording,
			 uint8_t bytes[GUEST_PAGE], struct failure *why)
{
	if (!seen->contents)
		return recording_page(recording, seen->id, bytes, why);
	memcpy(bytes, seen->contents, seen->size);
	return 0;
}

int script_touch_contents(const struct script_touch *touch,
			  struct recording *recording,
			  uint8_t bytes[GUEST_PAGE], struct failure *why)
{
	if (touch->source == TOUCH_STORED)
		return recording_page(recording, touch->id, bytes, why);
	memcpy(bytes, touch->contents, GUEST_PAGE);
	return 0;
}

void script_release(struct script *script)
{
	for (size_t i = 0; i < script->content_count; i++)
		free(script->contents[i]);
	free(script->contents);
	free(script->events);
	free(script->effects);
	free(script->touches);
	free(script->seen);
	free(script->doubts.list);
	slices_release(&script->slices);
	memset(script, 0, sizeof(*script));
}
