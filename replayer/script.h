/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script.h - one segment's streams, unpacked: what will happen to the guest
 *
 * The read stream is taken through the prediction cache here, in the order
 * of the packets, so that contents are known before the guest runs: events
 * with their effects in order, and the pages that touches will find.
 *
 * Units:      times are steps since the segment's key frame.
 * Ownership:  script_release() frees; packets point into the script.
 * Errors:     ERR_TRUNCATED, ERR_CORRUPT, ERR_NO_MEMORY; those of recording.h.
 */
#ifndef CPREC_REPLAYER_SCRIPT_H
#define CPREC_REPLAYER_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "formats/packet.h"
#include "replayer/recording.h"

struct failure;

struct script_effect {
	struct packet packet;
	const uint8_t *contents;	/* WRITE: packet.size bytes */
};

struct script_event {
	struct packet packet;
	uint64_t time;
	size_t first, count;		/* its effects */
};

/* What the first touch of a doubtful page finds. */
struct script_touch {
	uint64_t page, doubt;
	enum touch_source source;
	const uint8_t *contents;	/* TOUCH_READS */
	uint64_t id;			/* TOUCH_STORED */
};

#define SCRIPT_NO_PAGE UINT64_MAX	/* a free slot among the touches */

struct script {
	struct script_event *events;
	size_t event_count, event_room;
	struct script_effect *effects;
	size_t effect_count, effect_room;
	struct script_touch *touches;	/* open addressing */
	size_t touch_count, touch_room;
	uint8_t *stream;	/* the event stream: names and registers */
	uint8_t **contents;	/* allocated pieces */
	size_t content_count, content_room;
};

/*
 * Reads and unpacks a segment of a recording, whose key frame is `frame`.
 * Puts `cache` (which may be zeroed) into the state that the frame says.
 */
int script_load(struct script *out, struct recording *recording,
		size_t segment, const struct key_frame *frame,
		struct cache *cache, struct failure *why);

/*
 * Unpacks a segment.  Takes `events` over (malloc()ed), borrows `reads`.
 * `cache` is as the key frame says, and is as the segment leaves it after.
 */
int script_read(struct script *out, uint64_t doubt, struct cache *cache,
		uint8_t *events, size_t events_size, const uint8_t *reads,
		size_t reads_size);
void script_release(struct script *script);

/* The contents that a touch finds. */
int script_touch_contents(const struct script_touch *touch,
			  struct recording *recording,
			  uint8_t bytes[GUEST_PAGE], struct failure *why);

/* NULL if the recording has no such touch in this segment. */
const struct script_touch *script_find_touch(const struct script *script,
					     uint64_t page, uint64_t doubt);

#endif
