/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever the read stream is, prediction_replay() stays in bounds and returns
 * a documented code.  What it finds out, recorded again, is found out again.
 * The first half of the bytes says what is observed, three bytes each (slot,
 * place in the word, size); the second half is the stream.
 */
#include "tests/fuzz/fuzz.h"

#include "cache/prediction.h"

#define ENTRIES 16384u

struct seen {
	uint64_t addr;
	size_t size;
};

static struct seen observation(const uint8_t *data)
{
	struct seen seen = {
		.addr = (uint64_t)(data[0] % 4) * 8 + data[1] % 8,
		.size = data[2],
	};

	/* Also where the array of entries ends. */
	if (data[1] & 0x80)
		seen.addr += 8 * (ENTRIES - 2);
	return seen;
}

static void record_again(const struct output *found, const uint8_t *data,
			 size_t count)
{
	struct prediction_writer writer;
	struct prediction_reader reader;
	struct cache sent, got;
	const uint8_t *at = found->bytes;

	assert(!cache_init(&sent, ENTRIES) && !cache_init(&got, ENTRIES));
	prediction_writer_init(&writer, &sent);
	for (size_t i = 0; i < count; i++) {
		struct seen seen = observation(data + 3 * i);

		prediction_record(&writer, seen.addr, at, seen.size);
		at += seen.size;
	}
	prediction_finish(&writer);
	assert(!writer.stream.error);
	prediction_reader_init(&reader, &got, writer.stream.bytes,
			       writer.stream.size);
	at = found->bytes;
	for (size_t i = 0; i < count; i++) {
		struct seen seen = observation(data + 3 * i);
		uint8_t bytes[255];

		assert(!prediction_replay(&reader, seen.addr, bytes,
					  seen.size));
		assert(!seen.size || !memcmp(bytes, at, seen.size));
		at += seen.size;
	}
	prediction_writer_release(&writer);
	cache_release(&sent);
	cache_release(&got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t count = size / 2 / 3;
	const uint8_t *stream = data + 3 * count;
	struct prediction_reader reader;
	struct output found = { 0 };
	struct cache cache;
	int rc = 0;

	assert(!cache_init(&cache, ENTRIES));
	prediction_reader_init(&reader, &cache, stream, size - 3 * count);
	for (size_t i = 0; i < count && !rc; i++) {
		struct seen seen = observation(data + 3 * i);
		uint8_t *bytes = output_space(&found, seen.size);

		rc = prediction_replay(&reader, seen.addr, bytes, seen.size);
	}
	assert(!rc || is_documented(rc));
	if (!rc)
		record_again(&found, data, count);
	output_release(&found);
	cache_release(&cache);
	return 0;
}
