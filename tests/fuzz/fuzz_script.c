/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever the streams of a segment are, script_add() and script_order() stay
 * in bounds and return a documented code.  Events that they accept are in
 * order: slices one after the other, times never falling, each event in a
 * slice of its own thread.  The first byte says how many streams there are,
 * and whether the recording was cut short; then each stream has two bytes,
 * the sizes of its packets and its reads, and these.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "replayer/script.h"

#define ENTRIES 16384u

struct segment {
	const uint8_t *at;
	size_t left;
	bool is_cut;
	struct cache cache;
	struct script script;
};

static const uint8_t *take(struct segment *segment, size_t size)
{
	const uint8_t *taken = segment->at;

	segment->at += size;
	segment->left -= size;
	return taken;
}

static size_t take_size(struct segment *segment)
{
	return segment->left ? *take(segment, 1) : 0;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int add_stream(struct segment *segment, uint32_t stream)
{
	size_t packets_size = take_size(segment);
	size_t reads_size = take_size(segment);
	struct packet_stream packets = {
		.path = "fuzz", .stream = stream, .state = { .doubt = 5 },
		.is_cut = segment->is_cut, .last_page = 9,
	};
	struct script_reads reads = { .cache = &segment->cache };

	packets_size = least(packets_size, segment->left);
	packets.bytes = malloc(packets_size + 1);
	assert(packets.bytes);
	memcpy(packets.bytes, take(segment, packets_size), packets_size);
	packets.in = (struct input) { packets.bytes,
				      packets.bytes + packets_size, 0 };
	reads.size = least(reads_size, segment->left);
	reads.bytes = take(segment, reads.size);
	cache_flush(&segment->cache);
	return script_add(&segment->script, &packets, stream == 0, &reads,
			  NULL);
}

static void check_order(const struct script *script)
{
	const struct slices *slices = &script->slices;
	size_t next = 0, effects = 0;

	assert(slices->count && slices->list[0].start == 0);
	for (size_t i = 0; i < slices->count; i++) {
		const struct slice *slice = &slices->list[i];
		uint64_t time = slice->start;

		assert(slice->number == i);
		assert(!i || slice->start == slice[-1].end);
		for (size_t j = 0; j < slice->count; j++, next++) {
			const struct script_event *event =
				&script->events[next];

			assert(event->stream == slice->stream);
			assert(time <= event->time);
			assert(event->time <= slice->end);
			time = event->time;
			effects += event->count;
		}
	}
	assert(next == script->event_count);
	assert(effects <= script->effect_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct segment segment = { .at = data, .left = size };
	uint8_t how = (uint8_t)take_size(&segment);
	int rc = 0;

	segment.is_cut = how & 1;
	assert(!cache_init(&segment.cache, ENTRIES));
	for (uint32_t i = 0; i < 1u + how / 2 % 3 && !rc; i++)
		rc = add_stream(&segment, i);
	if (!rc)
		rc = script_order(&segment.script, segment.is_cut);
	assert(!rc || is_documented(rc));
	if (!rc)
		check_order(&segment.script);
	script_release(&segment.script);
	cache_release(&segment.cache);
	return 0;
}
