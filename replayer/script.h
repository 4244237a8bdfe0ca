/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script.h - one segment's streams, unpacked: what will happen to the guest
 *
 * Each read stream is taken through the prediction cache of its thread here,
 * in the order of the packets, so that contents are known before the guest
 * runs: the events of all threads in the order in which they happened, with
 * their effects, and the pages that touches will find.
 *
 * Units:      times are steps of all threads since the segment's start.
 * Ownership:  script_release() frees; packets point into the script.
 * Errors:     ERR_TRUNCATED, ERR_CORRUPT, ERR_NO_MEMORY; those of recording.h.
 */
#ifndef CPREC_REPLAYER_SCRIPT_H
#define CPREC_REPLAYER_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "formats/packet.h"
#include "replayer/recording/recording.h"

struct failure;

struct script_effect {
	struct packet packet;
	const uint8_t *contents;	/* WRITE: packet.size bytes */
};

struct script_event {
	struct packet packet;
	uint64_t time;
	uint64_t joint;			/* the time of all threads; `time` is
					   another one for a thread alone */
	uint32_t stream;		/* whose thread it happens to */
	size_t first, count;		/* its effects */
};

/* What the first touch of a doubtful page finds. */
struct script_touch {
	uint64_t page, doubt;
	enum touch_source source;
	const uint8_t *contents;	/* TOUCH_READS */
	uint64_t id;			/* TOUCH_STORED */
};

/* What others have changed by the start of one of the thread's turns. */
struct script_seen {
	size_t event;		/* the SLICE; SIZE_MAX: the segment's start */
	guest_addr addr;
	uint64_t size;
	const uint8_t *contents;	/* NULL: the stored page `id` */
	uint64_t id;
};

#define SCRIPT_NO_PAGE UINT64_MAX	/* a free slot among the touches */

struct script {
	struct script_event *events;
	size_t event_count, event_room;
	struct script_effect *effects;
	size_t effect_count, effect_room;
	struct script_touch *touches;	/* open addressing */
	size_t touch_count, touch_room;
	struct script_seen *seen;	/* of one thread alone; by event */
	size_t seen_count, seen_room;
	struct script_doubts {	/* that the thread has been told of */
		uint64_t until;		/* all up to this one */
		uint64_t *list;		/* and these, rising */
		size_t count, room;
	} doubts;
	bool alone;
	size_t turn;		/* alone: the SLICE event of the present turn */
	uint8_t **contents;	/* allocated pieces, streams among them */
	size_t content_count, content_room;
	uint64_t content_size;	/* of what was unpacked */
	struct slices slices;
};

/*
 * Reads and unpacks a segment of a recording, whose first key frame is
 * `frame`.  `cache` (which may be zeroed) is overwritten.
 */
int script_load(struct script *out, struct recording *recording,
		size_t segment, const struct key_frame *frame,
		struct cache *cache, struct failure *why);

/*
 * The same for one thread of it, without the others: times are its own steps.
 * `own` is its newest key frame.
 */
int script_load_alone(struct script *out, struct recording *recording,
		      size_t segment, uint32_t stream,
		      const struct key_frame *frame,
		      const struct key_frame *own, struct cache *cache,
		      struct failure *why);

/* What a thread was told in a segment. */
struct script_reads {
	struct cache *cache;	/* as the key frame says; afterwards as the
				   stream leaves it */
	const uint8_t *bytes;	/* the read stream */
	size_t size;
};

/*
 * Unpacks one stream into a script (zeroed at first).  Takes packets->bytes
 * over.  `is_first`: its key frame starts the segment.  When all streams are
 * there, script_order() puts their events in order and checks it.
 */
int script_add(struct script *script, struct packet_stream *packets,
	       bool is_first, const struct script_reads *reads,
	       struct failure *why);
int script_order(struct script *script, bool is_cut);
void script_release(struct script *script);

/* The contents that a touch finds. */
int script_touch_contents(const struct script_touch *touch,
			  struct recording *recording,
			  uint8_t bytes[GUEST_PAGE], struct failure *why);

/* The same of what a turn begins with: seen->size bytes. */
int script_seen_contents(const struct script_seen *seen,
			 struct recording *recording,
			 uint8_t bytes[GUEST_PAGE], struct failure *why);

/* NULL if the recording has no such touch in this segment. */
const struct script_touch *script_find_touch(const struct script *script,
					     uint64_t page, uint64_t doubt);

#endif
