/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_prediction.c - read streams, against a model that goes byte by byte */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cache/prediction.h"
#include "formats/error.h"
#include "tests/unit/between.h"
#include "tests/unit/table.h"

#define ENTRIES 16384u

/* ------- streams byte for byte ------- */

struct observation {
	uint64_t addr;
	size_t size;
	const char *bytes;
};

struct stream_row {
	const char *name;
	struct observation seen[6];	/* up to one of size 0 */
	size_t length;
	uint8_t stream[32];
	uint64_t hits, misses;
};

static const struct stream_row stream_rows[] = {
	{ "nothing", { { 0 } }, 0, { 0 }, 0, 0 },
	{ "zeros are predicted at the start", { { 64, 4, "\0\0\0\0" } },
	  0, { 0 }, 1, 0 },
	{ "a word", { { 64, 8, "abcdefgh" } },
	  10, { 0, 1, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' }, 0, 1 },
	{ "a word seen twice",
	  { { 64, 8, "abcdefgh" }, { 64, 8, "abcdefgh" } },
	  10, { 0, 1, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' }, 1, 1 },
	{ "a word near the one before",
	  { { 64, 8, "abcdefgh" }, { 64, 1, "a" }, { 64, 8, "decdefgh" } },
	  15, { 0, 1, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h',
		1, 0, 1, 0x86, 0xc }, 1, 2 },
	{ "words that count up and down, one of them over its end",
	  { { 64, 16, "a\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff" },
	    { 0, 1, "\0" },
	    { 64, 16, "b\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0" },
	    { 64, 8, "a\0\0\0\0\0\0\0" } },
	  24, { 0, 2, 'a', 0, 0, 0, 0, 0, 0, 0,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		1, 0, 3, 2, 6, 1 }, 1, 5 },
	{ "a word as far away as a difference can be",
	  { { 64, 8, "\1\0\0\0\0\0\0\0" }, { 0, 1, "\0" },
	    { 64, 8, "\0\0\x10\0\0\0\0\0" } },
	  16, { 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0xfe, 0xff, 0x7f },
	  1, 2 },
	{ "a word that is too far away",
	  { { 64, 8, "\1\0\0\0\0\0\0\0" }, { 0, 1, "\0" },
	    { 64, 8, "\1\0\x10\0\0\0\0\0" } },
	  20, { 0, 1, 1, 0, 0, 0, 0, 0, 0, 0,
		1, 1, 1, 0, 16, 0, 0, 0, 0, 0 }, 1, 2 },
	{ "a word far away beside near ones",
	  { { 64, 8, "a\0\0\0\0\0\0\0" }, { 0, 1, "\0" },
	    { 72, 8, "a\0\0\0\0\0\0\0" }, { 0, 1, "\0" },
	    { 64, 16, "a\0\0\2\0\0\0\0b\0\0\0\0\0\0\0" } },
	  28, { 0, 1, 'a', 0, 0, 0, 0, 0, 0, 0,
		1, 1, 'a', 0, 0, 0, 0, 0, 0, 0,
		1, 0, 2, 0x80, 0x80, 0x80, 0x20, 2 }, 2, 4 },
	{ "a word whose entry is zero", { { 64, 8, "\1\0\0\0\0\0\0\0" } },
	  10, { 0, 1, 1, 0, 0, 0, 0, 0, 0, 0 }, 0, 1 },
	{ "a near word in a run with a part of one",
	  { { 64, 10, "\1\0\0\0\0\0\0\0ab" } },
	  12, { 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 'a', 'b' }, 0, 2 },
	{ "hits between misses",
	  { { 64, 1, "a" }, { 64, 1, "a" }, { 64, 1, "a" }, { 64, 1, "b" } },
	  6, { 0, 1, 'a', 2, 1, 'b' }, 2, 2 },
	{ "misses in a row", { { 64, 1, "a" }, { 64, 2, "bc" } },
	  5, { 0, 2, 'a', 'b', 'c' }, 0, 2 },
	{ "a part of a word leaves the rest",
	  { { 64, 8, "abcdefgh" }, { 66, 2, "xy" }, { 64, 8, "abxyefgh" } },
	  12, { 0, 2, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'x', 'y' },
	  1, 2 },
	{ "cut at the border of a word", { { 70, 4, "abcd" } },
	  6, { 0, 2, 'a', 'b', 'c', 'd' }, 0, 2 },
	{ "a hit and a miss in one", { { 70, 4, "\0\0cd" } },
	  4, { 1, 1, 'c', 'd' }, 1, 1 },
	{ "head, words and tail", { { 7, 10, "a\0\0\0\0\0\0\0\0b" } },
	  6, { 0, 1, 'a', 1, 1, 'b' }, 1, 2 },
	{ "slots are shared by addresses that are a cache apart",
	  { { 64, 1, "a" }, { 64 + 8 * ENTRIES, 1, "a" }, { 64, 1, "b" } },
	  6, { 0, 1, 'a', 1, 1, 'b' }, 1, 2 },
	{ "from the last entry to the first",
	  { { 8 * ENTRIES - 8, 16, "aaaaaaaabbbbbbbb" }, { 0, 1, "b" },
	    { 8 * ENTRIES - 1, 2, "ab" } },
	  18, { 0, 2, 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a',
		'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b' }, 3, 2 },
	{ "at the end of the address space", { { UINT64_MAX, 1, "z" } },
	  3, { 0, 1, 'z' }, 0, 1 },
};

static void stream_row(void **state)
{
	const struct stream_row *row = *state;
	struct prediction_writer writer;
	struct prediction_reader reader;
	struct cache sent, got;

	assert_int_equal(cache_init(&sent, ENTRIES), 0);
	assert_int_equal(cache_init(&got, ENTRIES), 0);
	prediction_writer_init(&writer, &sent);
	for (size_t i = 0; row->seen[i].size; i++)
		prediction_record(&writer, row->seen[i].addr,
				  row->seen[i].bytes, row->seen[i].size);
	prediction_finish(&writer);
	assert_int_equal(writer.stream.error, 0);
	assert_int_equal(writer.stream.size, row->length);
	if (row->length)
		assert_memory_equal(writer.stream.bytes, row->stream,
				    row->length);
	assert_int_equal(writer.total_hits, row->hits);
	assert_int_equal(writer.total_misses, row->misses);

	prediction_reader_init(&reader, &got, row->stream, row->length);
	for (size_t i = 0; row->seen[i].size; i++) {
		uint8_t bytes[16];

		assert_int_equal(prediction_replay(&reader, row->seen[i].addr,
						   bytes, row->seen[i].size),
				 0);
		assert_memory_equal(bytes, row->seen[i].bytes,
				    row->seen[i].size);
	}
	assert_memory_equal(sent.words, got.words, 8 * ENTRIES);
	prediction_writer_release(&writer);
	cache_release(&sent);
	cache_release(&got);
}

/* ------- streams that are wrong ------- */

struct bad_row {
	const char *name;
	int expected;
	size_t length;
	uint8_t stream[16];
};

static const struct bad_row bad_rows[] = {
	{ "a run without misses", ERR_CORRUPT, 3, { 0, 0, 0 } },
	{ "a run that is cut before its misses", ERR_TRUNCATED, 2, { 0, 0 } },
	{ "a difference in a longer form", ERR_CORRUPT, 5,
	  { 0, 0, 1, 0x80, 0 } },
	{ "more differences than bytes", ERR_TRUNCATED, 4, { 0, 0, 2, 1 } },
	{ "a difference that is cut", ERR_TRUNCATED, 4, { 0, 0, 1, 0x80 } },
	{ "hits in a longer form", ERR_CORRUPT, 4, { 0x80, 0, 1, 'a' } },
	{ "a run that is cut behind its hits", ERR_TRUNCATED, 1, { 0 } },
	{ "more misses than bytes", ERR_TRUNCATED, 3, { 0, 2, 'a' } },
	{ "2^64 - 1 misses", ERR_TRUNCATED, 12,
	  { 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1 } },
	{ "a word that is cut", ERR_TRUNCATED, 9,
	  { 0, 1, 1, 2, 3, 4, 5, 6, 7 } },
};

static void bad_row(void **state)
{
	const struct bad_row *row = *state;
	struct prediction_reader reader;
	struct cache cache;
	uint8_t bytes[8];

	assert_int_equal(cache_init(&cache, ENTRIES), 0);
	prediction_reader_init(&reader, &cache, row->stream, row->length);
	assert_int_equal(prediction_replay(&reader, 64, bytes, 8),
			 row->expected);
	/* And it stays so. */
	assert_int_equal(prediction_replay(&reader, 64, bytes, 1),
			 row->expected);
	cache_release(&cache);
}

/* Only a whole word can be written as a difference. */
static void difference_of_a_part(void **state)
{
	static const uint8_t stream[] = { 0, 0, 1, 2 };
	struct prediction_reader reader;
	struct cache cache;
	uint8_t bytes[8];

	(void)state;
	assert_int_equal(cache_init(&cache, ENTRIES), 0);
	prediction_reader_init(&reader, &cache, stream, sizeof(stream));
	assert_int_equal(prediction_replay(&reader, 64, bytes, 4), ERR_CORRUPT);
	assert_int_equal(prediction_replay(&reader, 64, bytes, 8), ERR_CORRUPT);
	cache_release(&cache);
}

static void all_is_predicted_after_the_end(void **state)
{
	static const uint8_t stream[] = { 1, 1, 'a' };
	struct prediction_reader reader;
	struct cache cache;
	uint8_t bytes[4096];

	(void)state;
	assert_int_equal(cache_init(&cache, ENTRIES), 0);
	prediction_reader_init(&reader, &cache, stream, sizeof(stream));
	assert_int_equal(prediction_replay(&reader, 0, bytes, 1), 0);
	assert_int_equal(bytes[0], 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(prediction_replay(&reader, 0, bytes, 1), 0);
		assert_int_equal(bytes[0], 'a');
	}
	assert_int_equal(prediction_replay(&reader, 0, bytes, 4096), 0);
	assert_int_equal(bytes[0], 'a');
	assert_int_equal(bytes[1], 0);
	cache_release(&cache);
}

/* ------- long streams, against a model ------- */

/* The specification, word for word and slowly. */
struct model {
	uint8_t cache[8 * ENTRIES];
	struct output stream, missed;
	struct output moved;
	bool is_part;		/* of a word, is in the run */
	size_t cost;		/* of the run's differences */
	uint64_t hits, misses, total_hits, near_runs, far_runs;
};

static void model_cut(struct model *model)
{
	bool is_far;

	if (!model->misses)
		return;
	is_far = model->is_part || model->cost > 3 * model->misses;
	output_varint(&model->stream, model->hits);
	if (!is_far)
		output_varint(&model->stream, 0);
	output_varint(&model->stream, model->misses);
	if (is_far)
		output_bytes(&model->stream, model->missed.bytes,
			     model->missed.size);
	else
		output_bytes(&model->stream, model->moved.bytes,
			     model->moved.size);
	*(is_far ? &model->far_runs : &model->near_runs) += 1;
	output_clear(&model->missed);
	output_clear(&model->moved);
	model->hits = model->misses = 0;
	model->is_part = false;
	model->cost = 0;
}

static void model_miss(struct model *model, uint8_t *entry,
		       const uint8_t *bytes, size_t piece)
{
	uint64_t before, word;
	size_t size = model->moved.size;

	model->misses++;
	output_bytes(&model->missed, bytes, piece);
	if (piece == 8) {
		memcpy(&before, entry, 8);
		memcpy(&word, bytes, 8);
		output_signed(&model->moved, (int64_t)(word - before));
		model->cost += before ? model->moved.size - size : 8;
	} else {
		model->is_part = true;
	}
	memcpy(entry, bytes, piece);
}

static void model_record(struct model *model, uint64_t addr,
			 const uint8_t *bytes, size_t size)
{
	while (size) {
		uint8_t *entry = model->cache + addr % sizeof(model->cache);
		size_t piece = 1;

		while (piece < size && (addr + piece) % 8)
			piece++;
		if (memcmp(entry, bytes, piece)) {
			model_miss(model, entry, bytes, piece);
		} else {
			model_cut(model);
			model->hits++;
			model->total_hits++;
		}
		addr += piece;
		bytes += piece;
		size -= piece;
	}
}

static uint64_t next_random(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/* An observation that hits about as often as it misses. */
static size_t observe(uint64_t *random, uint64_t *addr, uint8_t bytes[9000])
{
	uint64_t choice = next_random(random);
	size_t size = choice % 16 ? 1 + choice / 16 % 40
				  : 1 + choice / 16 % 9000;
	unsigned rareness = 1 + (choice >> 40 & 63);

	*addr = next_random(random) % (3 * 8 * ENTRIES);
	if (choice >> 50 & 1)
		*addr &= ~UINT64_C(4095);
	for (size_t i = 0; i < size; i++)
		bytes[i] = next_random(random) % (rareness + 1) == 0;
	return size;
}

static void same_as_the_model(void **state)
{
	struct model *model = calloc(1, sizeof(*model));
	struct prediction_writer writer;
	struct cache cache;
	uint64_t random = 88172645463325252u;

	(void)state;
	assert_non_null(model);
	assert_int_equal(cache_init(&cache, ENTRIES), 0);
	prediction_writer_init(&writer, &cache);
	for (unsigned i = 0; i < 5000; i++) {
		uint8_t bytes[9000];
		uint64_t addr;
		size_t size = observe(&random, &addr, bytes);
		uint64_t hits = writer.total_hits;
		size_t expected;

		expected = prediction_would_hit(&writer, addr, bytes, size);
		prediction_record(&writer, addr, bytes, size);
		assert_int_equal(writer.total_hits - hits, expected);
		model_record(model, addr, bytes, size);
		if (i % 1000 == 500) {
			prediction_cut(&writer);
			model_cut(model);
		}
	}
	prediction_finish(&writer);
	model_cut(model);
	assert_int_equal(writer.stream.size, model->stream.size);
	assert_memory_equal(writer.stream.bytes, model->stream.bytes,
			    model->stream.size);
	assert_memory_equal(cache.words, model->cache, sizeof(model->cache));
	assert_int_equal(writer.total_hits, model->total_hits);
	assert_true(writer.total_hits > 10000 && writer.total_misses > 10000);
	assert_true(model->near_runs > 1000 && model->far_runs > 1000);
	prediction_writer_release(&writer);
	cache_release(&cache);
	output_release(&model->stream);
	output_release(&model->missed);
	output_release(&model->moved);
	free(model);
}

/* Records, taking the stream in parts, with two segments. */
static void record_parts(struct prediction_writer *writer,
			 struct output segments[2], unsigned count)
{
	uint64_t random = 1234567;

	for (unsigned i = 0; i < count; i++) {
		struct output *segment = &segments[i >= count / 2];
		uint8_t bytes[9000];
		uint64_t addr;
		size_t size = observe(&random, &addr, bytes);

		prediction_record(writer, addr, bytes, size);
		if (i % 7 == 0)
			prediction_cut(writer);
		if (i == count / 2 - 1 || i == count - 1)
			prediction_finish(writer);
		output_bytes(segment, writer->stream.bytes,
			     writer->stream.size);
		output_clear(&writer->stream);
	}
}

static void parts_and_segments_replay(void **state)
{
	enum { OBSERVATIONS = 3000 };
	struct output segments[2] = { { 0 } };
	struct prediction_writer writer;
	struct prediction_reader reader;
	struct cache sent, got;
	uint64_t random = 1234567;

	(void)state;
	assert_int_equal(cache_init(&sent, ENTRIES), 0);
	assert_int_equal(cache_init(&got, ENTRIES), 0);
	prediction_writer_init(&writer, &sent);
	record_parts(&writer, segments, OBSERVATIONS);
	for (unsigned i = 0; i < OBSERVATIONS; i++) {
		struct output *segment = &segments[i >= OBSERVATIONS / 2];
		uint8_t bytes[9000], found[9000];
		uint64_t addr;
		size_t size = observe(&random, &addr, bytes);

		if (i % (OBSERVATIONS / 2) == 0)
			prediction_reader_init(&reader, &got, segment->bytes,
					       segment->size);
		assert_int_equal(prediction_replay(&reader, addr, found, size),
				 0);
		assert_memory_equal(found, bytes, size);
	}
	assert_memory_equal(sent.words, got.words, 8 * ENTRIES);
	prediction_writer_release(&writer);
	cache_release(&sent);
	cache_release(&got);
	output_release(&segments[0]);
	output_release(&segments[1]);
}

static void would_hit_changes_nothing(void **state)
{
	struct prediction_writer writer;
	struct cache cache;

	(void)state;
	assert_int_equal(cache_init(&cache, ENTRIES), 0);
	prediction_writer_init(&writer, &cache);
	prediction_record(&writer, 64, "abcdefgh", 8);
	assert_int_equal(prediction_would_hit(&writer, 64, "abcdefgh", 8), 1);
	assert_int_equal(prediction_would_hit(&writer, 64, "abcdefgX", 8), 0);
	assert_int_equal(prediction_would_hit(&writer, 62, "X\0abcdefghX", 11),
			 1);
	assert_int_equal(prediction_would_hit(&writer, 64, "abc", 3), 1);
	assert_int_equal(writer.misses, 1);
	assert_int_equal(writer.hits, 0);
	prediction_writer_release(&writer);
	cache_release(&cache);
}

/* A run under way waits, too, however long it is. */
static void what_waits_is_told(void **state)
{
	uint8_t noise[256];
	struct prediction_writer writer;
	struct cache cache;
	size_t waiting = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)(i * i / 7 + 1);
	assert_int_equal(cache_init(&cache, ENTRIES), 0);
	prediction_writer_init(&writer, &cache);
	assert_int_equal(prediction_waiting(&writer), 0);
	for (uint64_t addr = 0; addr < 4096; addr += sizeof(noise)) {
		prediction_record(&writer, addr, noise, sizeof(noise));
		waiting = prediction_waiting(&writer);
		assert_int_equal(waiting, addr + sizeof(noise));
	}
	prediction_cut(&writer);
	assert_int_equal(prediction_waiting(&writer), writer.stream.size);
	assert_between(writer.stream.size, waiting, waiting + 20);
	prediction_writer_release(&writer);
	cache_release(&cache);
}

static void cache_sizes(void **state)
{
	struct cache cache;

	(void)state;
	assert_true(cache_is_size(16384));
	assert_true(cache_is_size(32768));
	assert_true(cache_is_size(65536));
	assert_true(cache_is_size(CACHE_ENTRIES_DEFAULT));
	assert_false(cache_is_size(0));
	assert_false(cache_is_size(8192));
	assert_false(cache_is_size(131072));
	assert_false(cache_is_size(UINT64_C(32768) << 32));
	assert_int_equal(cache_init(&cache, 65536), 0);
	*cache_entry(&cache, 9) = 7;
	assert_true(cache.words[1] == 7);
	assert_ptr_equal(cache_entry(&cache, 8 * 65536 + 15), &cache.words[1]);
	cache_flush(&cache);
	assert_true(cache.words[1] == 0);
	cache_release(&cache);
	cache_release(&cache);
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, stream_rows, stream_row);
	add_rows(&list, bad_rows, bad_row);
	add_test(&list, "a difference of a part of a word",
		 difference_of_a_part, NULL);
	add_test(&list, "all is predicted after the end",
		 all_is_predicted_after_the_end, NULL);
	add_test(&list, "the same as the model", same_as_the_model, NULL);
	add_test(&list, "parts and segments replay", parts_and_segments_replay,
		 NULL);
	add_test(&list, "would_hit changes nothing", would_hit_changes_nothing,
		 NULL);
	add_test(&list, "what waits is told", what_waits_is_told, NULL);
	add_test(&list, "sizes of the cache", cache_sizes, NULL);
	return run_list("prediction", &list);
}
