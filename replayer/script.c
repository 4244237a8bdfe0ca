/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script.c - see script.h */
#include "replayer/script.h"

#include <stdlib.h>
#include <string.h>

#include "cache/prediction.h"
#include "formats/error.h"

/* What one script may unpack to: the recorder keeps segments far smaller. */
#define CONTENTS_MOST (UINT64_C(1) << 31)

/* Makes room for one more; the array doubles. */
static int grow(void **array, size_t count, size_t *room, size_t size)
{
	size_t wanted = *room ? *room * 2 : 256;
	void *more;

	if (count < *room)
		return 0;
	more = realloc(*array, wanted * size);
	if (!more)
		return ERR_NO_MEMORY;
	*array = more;
	*room = wanted;
	return 0;
}

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

/* Takes `size` bytes seen at `addr` out of the read stream. */
static int take_contents(struct script *script,
			 struct prediction_reader *reads, guest_addr addr,
			 uint64_t size, uint64_t *total, const uint8_t **out)
{
	uint8_t *bytes;
	int rc;

	if (size > CONTENTS_MOST - *total)
		return ERR_CORRUPT;
	*total += size;
	rc = grow((void **)&script->contents, script->content_count,
		  &script->content_room, sizeof(*script->contents));
	if (rc)
		return rc;
	bytes = malloc(size);
	if (!bytes)
		return ERR_NO_MEMORY;
	script->contents[script->content_count++] = bytes;
	*out = bytes;
	return prediction_replay(reads, addr, bytes, size);
}

/* ------- packets ------- */

static int add_event(struct script *script, const struct packet *packet,
		     uint64_t *time)
{
	struct script_event *event;
	int rc = grow((void **)&script->events, script->event_count,
		      &script->event_room, sizeof(*script->events));

	if (rc)
		return rc;
	if (packet->steps > UINT64_MAX - *time)
		return ERR_CORRUPT;
	*time += packet->steps;
	event = &script->events[script->event_count++];
	*event = (struct script_event){ .packet = *packet, .time = *time,
					.first = script->effect_count };
	return 0;
}

static int add_effect(struct script *script, const struct packet *packet,
		      struct prediction_reader *reads, uint64_t *total)
{
	struct script_effect *effect;
	int rc;

	if (!script->event_count)
		return ERR_CORRUPT;	/* an effect of nothing */
	rc = grow((void **)&script->effects, script->effect_count,
		  &script->effect_room, sizeof(*script->effects));
	if (rc)
		return rc;
	effect = &script->effects[script->effect_count++];
	*effect = (struct script_effect){ .packet = *packet };
	script->events[script->event_count - 1].count++;
	if (packet->kind != PACKET_WRITE)
		return 0;
	return take_contents(script, reads, packet->addr, packet->size, total,
			     &effect->contents);
}

static int add_touch(struct script *script, const struct packet *packet,
		     struct prediction_reader *reads, uint64_t *total)
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
	return take_contents(script, reads, packet->addr, GUEST_PAGE, total,
			     &slot->contents);
}

int script_read(struct script *out, uint64_t doubt, struct cache *cache,
		uint8_t *events, size_t events_size, const uint8_t *reads_bytes,
		size_t reads_size)
{
	struct input in = { events, events + events_size, 0 };
	struct packet_state state = { .doubt = doubt };
	struct prediction_reader reads;
	uint64_t time = 0, total = 0;
	int rc = 0;

	memset(out, 0, sizeof(*out));
	out->stream = events;
	prediction_reader_init(&reads, cache, reads_bytes, reads_size);
	while (!rc && input_left(&in)) {
		struct packet packet;

		rc = packet_decode(&in, &state, &packet);
		if (rc)
			break;
		if (packet_is_event(packet.kind))
			rc = add_event(out, &packet, &time);
		else if (packet.kind == PACKET_TOUCH)
			rc = add_touch(out, &packet, &reads, &total);
		else
			rc = add_effect(out, &packet, &reads, &total);
	}
	return rc;
}

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

int script_load(struct script *out, struct recording *recording,
		size_t segment, const struct key_frame *frame,
		struct cache *cache, struct failure *why)
{
	uint8_t *events = NULL, *reads = NULL;
	size_t events_size, reads_size;
	int rc;

	memset(out, 0, sizeof(*out));
	if (set_cache(cache, frame))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = recording_stream(recording, segment, CHUNK_EVENTS, &events,
			      &events_size, why);
	if (rc)
		return rc;
	rc = recording_stream(recording, segment, CHUNK_READS, &reads,
			      &reads_size, why);
	if (rc) {
		free(events);
		return rc;
	}
	rc = script_read(out, frame->doubt, cache, events, events_size, reads,
			 reads_size);
	free(reads);
	if (rc)
		return failed(why, rc,
			      "'%s': the streams of segment %zu are damaged",
			      trace_reader_path(recording_reader(recording)),
			      segment);
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
	free(script->stream);
	memset(script, 0, sizeof(*script));
}
