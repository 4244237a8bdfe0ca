/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_key_frame.c - key frames and segment indexes from and to bytes */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/key_frame.h"
#include "tests/unit/table.h"

#define REGS_SIZE 534

/* ------- a frame with everything in it ------- */

static struct region regions[] = {
	{ 0x1000, 0x3000, MAY_READ, REGION_FILE, 0x5000, "/lib/a" },
	{ 0x3000, 0x4000, MAY_READ | MAY_WRITE, REGION_FILE, 0x7000, "/lib/a" },
	{ 0x9000, 0xa000, 0, REGION_ANON, 0, "" },
	{ 0xb000, 0xc000, 7, REGION_SHARED, REGION_OFFSET_END - GUEST_PAGE,
	  "/dev/shm/x" },
	{ 0xc000, 0xd000, 1, REGION_SHARED, 0x1000, "/dev/shm/y",
	  GUEST_ADDR_END - GUEST_PAGE },
	{ 0x7ffffffde000, GUEST_ADDR_END, 3, REGION_ANON, 0, "[stack]" },
};

static struct doubt_range doubts[] = {
	{ 1, 2, 9 }, { 3, 1, 1 }, { 0x7ffffffde, 5, 9 },
};

static struct page_ref pages[] = {
	{ 0, 5 }, { 1, 6 }, { 9, 0 }, { 0x7ffffffde, PAGE_ID_END - 1 },
	{ (GUEST_ADDR_END >> GUEST_PAGE_SHIFT) - 1, 1 },
};

static struct key_frame full_frame(void)
{
	struct key_frame frame = {
		.time = UINT64_MAX,
		.steps = 12345678,
		.doubt = 9,
		.tid = UINT32_MAX,
		.cache_entries = 16384,
		.regions = regions,
		.region_count = COUNT(regions),
		.doubts = doubts,
		.doubt_count = COUNT(doubts),
		.pages = pages,
		.page_count = COUNT(pages),
	};

	for (unsigned i = 0; i < REGS_SIZE; i++)
		frame.regs.bytes[i] = (uint8_t)(i * 3 + 1);
	return frame;
}

static struct output encode(const struct key_frame *frame)
{
	struct output out = { 0 };

	key_frame_encode(&out, reg_table(ARCH_X86_64), frame);
	assert_int_equal(out.error, 0);
	return out;
}

static int decode(struct key_frame *frame, const uint8_t *bytes, size_t size)
{
	return key_frame_decode(frame, reg_table(ARCH_X86_64), bytes, size);
}

static void assert_region(const struct region *found,
			  const struct region *expected)
{
	assert_true(found->start == expected->start);
	assert_true(found->end == expected->end);
	assert_int_equal(found->prot, expected->prot);
	assert_int_equal(found->kind, expected->kind);
	assert_true(found->offset == expected->offset);
	assert_true(found->common == expected->common);
	assert_string_equal(found->name, expected->name);
}

static void all_comes_back(void **state)
{
	struct key_frame frame = full_frame();
	struct key_frame found = { 0 };
	struct output out;

	(void)state;
	frame.cache_size = 8 * 16384;
	frame.cache = malloc(frame.cache_size);
	assert_non_null(frame.cache);
	memset(frame.cache, 0x5a, frame.cache_size);
	out = encode(&frame);
	assert_int_equal(decode(&found, out.bytes, out.size), 0);
	assert_true(found.time == frame.time);
	assert_true(found.steps == frame.steps);
	assert_true(found.doubt == frame.doubt);
	assert_int_equal(found.tid, frame.tid);
	assert_int_equal(found.cache_entries, frame.cache_entries);
	assert_memory_equal(&found.regs, &frame.regs, sizeof(found.regs));
	assert_int_equal(found.region_count, COUNT(regions));
	for (size_t i = 0; i < COUNT(regions); i++)
		assert_region(&found.regions[i], &regions[i]);
	assert_int_equal(found.doubt_count, COUNT(doubts));
	assert_memory_equal(found.doubts, doubts, sizeof(doubts));
	assert_int_equal(found.page_count, COUNT(pages));
	assert_memory_equal(found.pages, pages, sizeof(pages));
	assert_int_equal(found.cache_size, frame.cache_size);
	assert_memory_equal(found.cache, frame.cache, frame.cache_size);
	key_frame_release(&found);
	assert_null(found.regions);
	free(frame.cache);
	output_release(&out);
}

static void an_empty_frame(void **state)
{
	struct key_frame frame = { .cache_entries = 65536 };
	struct key_frame found = { 0 };
	struct output out = encode(&frame);

	(void)state;
	assert_int_equal(out.size, 4 + 3 + REGS_SIZE + 4);
	assert_int_equal(decode(&found, out.bytes, out.size), 0);
	assert_int_equal(found.region_count, 0);
	assert_int_equal(found.page_count, 0);
	key_frame_release(&found);
	output_release(&out);
}

static void every_prefix(void **state)
{
	struct key_frame frame = full_frame();
	struct output out = encode(&frame);

	(void)state;
	for (size_t n = 0; n < out.size; n++) {
		/* A copy of its own, so that a sanitizer sees its end. */
		uint8_t *bytes = malloc(n + !n);
		struct key_frame found = { 0 };

		assert_non_null(bytes);
		memcpy(bytes, out.bytes, n);
		assert_int_equal(decode(&found, bytes, n), ERR_TRUNCATED);
		assert_null(found.regions);
		free(bytes);
	}
	output_release(&out);
}

/* What is accepted can be written again, byte for byte. */
static void every_flipped_bit(void **state)
{
	struct key_frame frame = full_frame();
	struct output out = encode(&frame);

	(void)state;
	for (size_t bit = 0; bit < 8 * out.size; bit++) {
		struct key_frame found = { 0 };
		int rc;

		out.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		rc = decode(&found, out.bytes, out.size);
		if (!rc) {
			struct output again = encode(&found);

			assert_int_equal(again.size, out.size);
			assert_memory_equal(again.bytes, out.bytes, out.size);
			output_release(&again);
			key_frame_release(&found);
		} else {
			assert_true(rc == ERR_TRUNCATED || rc == ERR_CORRUPT);
		}
		out.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	output_release(&out);
}

/* ------- single fields ------- */

/* Bytes before the registers, and behind them. */
struct frame_row {
	const char *name;
	int expected;
	size_t head_length, tail_length;
	uint8_t head[24], tail[32];
};

/* Time 1, steps 1, doubt 5, thread 1, cache of 16384 entries. */
#define HEAD 7, .head = { 1, 1, 5, 1, 0x80, 0x80, 1 }
#define BIG 0x80, 0x80, 0x80, 0x80, 0x80, 0x80

static const struct frame_row frame_rows[] = {
	{ "empty lists", 0, HEAD, .tail_length = 4, .tail = { 0, 0, 0, 0 } },
	{ "a byte too many", ERR_CORRUPT, HEAD, .tail_length = 5 },
	{ "a cache of 16383 entries", ERR_CORRUPT, 7,
	  .head = { 1, 1, 5, 1, 0xff, 0x7f, 0 }, .tail_length = 4 },
	{ "a thread of 2^32", ERR_CORRUPT, 11,
	  .head = { 1, 1, 5, 0x80, 0x80, 0x80, 0x80, 0x10, 0x80, 0x80, 1 },
	  .tail_length = 4 },
	{ "a region", 0, HEAD, .tail_length = 10,
	  .tail = { 1, 1, 1, 0x13, 2, 2, 'a', 0, 0, 0 } },
	{ "a region without a name", 0, HEAD, .tail_length = 9,
	  .tail = { 1, 1, 1, 0x13, 2, 0, 0, 0, 0 } },
	{ "an empty name in full", ERR_CORRUPT, HEAD, .tail_length = 9,
	  .tail = { 1, 1, 1, 0x13, 2, 1, 0, 0, 0 } },
	{ "an empty name behind another", 0, HEAD, .tail_length = 15,
	  .tail = { 2, 1, 1, 0x13, 2, 2, 'a', 0, 1, 0x13, 2, 1, 0, 0, 0 } },
	{ "the name before in full", ERR_CORRUPT, HEAD, .tail_length = 16,
	  .tail = { 2, 1, 1, 0x13, 2, 2, 'a', 0, 1, 0x13, 2, 2, 'a',
		    0, 0, 0 } },
	{ "a name with a NUL", ERR_CORRUPT, HEAD, .tail_length = 11,
	  .tail = { 1, 1, 1, 0x13, 2, 3, 'a', 0, 0, 0, 0 } },
	{ "a name of 4097 bytes", ERR_CORRUPT, HEAD, .tail_length = 11,
	  .tail = { 1, 1, 1, 0x13, 2, 0x82, 0x20, 0, 0, 0, 0 } },
	{ "a region of no pages", ERR_CORRUPT, HEAD, .tail_length = 9,
	  .tail = { 1, 1, 0, 0x13, 2, 0, 0, 0, 0 } },
	{ "a region past 2^57", ERR_CORRUPT, HEAD, .tail_length = 15,
	  .tail = { 1, 1, BIG, 8, 0x13, 2, 0, 0, 0, 0 } },
	{ "a region with protection 8", ERR_CORRUPT, HEAD, .tail_length = 9,
	  .tail = { 1, 1, 1, 0x18, 2, 0, 0, 0, 0 } },
	{ "a region of kind 5", ERR_CORRUPT, HEAD, .tail_length = 9,
	  .tail = { 1, 1, 1, 0x53, 2, 0, 0, 0, 0 } },
	{ "an alias", 0, HEAD, .tail_length = 11,
	  .tail = { 1, 1, 1, 0x33, 5, 2, 2, 'a', 0, 0, 0 } },
	{ "an alias of the last common page", 0, HEAD, .tail_length = 16,
	  .tail = { 1, 1, 1, 0x33, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3, 2, 0, 0, 0, 0 } },
	{ "an alias of more than the last", ERR_CORRUPT, HEAD,
	  .tail_length = 16,
	  .tail = { 1, 1, 2, 0x33, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3, 2, 0, 0, 0, 0 } },
	{ "an alias of pages past 2^57", ERR_CORRUPT, HEAD, .tail_length = 16,
	  .tail = { 1, 1, 1, 0x33, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x4, 2, 0, 0, 0, 0 } },
	{ "common pages as an alias", ERR_CORRUPT, HEAD, .tail_length = 16,
	  .tail = { 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x4, 1, 0x33, 5, 2, 0, 0, 0, 0 } },
	{ "zeros with an offset", ERR_CORRUPT, HEAD, .tail_length = 9,
	  .tail = { 1, 1, 1, 3, 2, 0, 0, 0, 0 } },
	{ "an offset of 2^63", ERR_CORRUPT, HEAD, .tail_length = 16,
	  .tail = { 1, 1, 1, 0x13, 0x80, BIG, 4, 0, 0, 0, 0 } },
	{ "more regions than bytes", ERR_TRUNCATED, HEAD, .tail_length = 9,
	  .tail = { 2, 1, 1, 0x13, 2, 0, 0, 0, 0 } },
	{ "2^24 regions", ERR_TRUNCATED, HEAD, .tail_length = 9,
	  .tail = { 0x80, 0x80, 0x80, 8, 1, 1, 1, 1, 1 } },
	{ "2^24 + 1 regions", ERR_CORRUPT, HEAD, .tail_length = 9,
	  .tail = { 0x81, 0x80, 0x80, 8, 1, 1, 1, 1, 1 } },
	{ "a doubt", 0, HEAD, .tail_length = 7,
	  .tail = { 0, 1, 3, 2, 4, 0, 0 } },
	{ "a doubt of number 0", ERR_CORRUPT, HEAD, .tail_length = 7,
	  .tail = { 0, 1, 3, 2, 5, 0, 0 } },
	{ "a doubt above the newest", ERR_CORRUPT, HEAD, .tail_length = 7,
	  .tail = { 0, 1, 3, 2, 6, 0, 0 } },
	{ "a doubt of no pages", ERR_CORRUPT, HEAD, .tail_length = 7,
	  .tail = { 0, 1, 3, 0, 4, 0, 0 } },
	{ "a doubt past 2^57", ERR_CORRUPT, HEAD, .tail_length = 13,
	  .tail = { 0, 1, BIG, 8, 1, 4, 0, 0 } },
	{ "a page", 0, HEAD, .tail_length = 6,
	  .tail = { 0, 0, 1, 3, 4, 0 } },
	{ "a page of id -1", ERR_CORRUPT, HEAD, .tail_length = 6,
	  .tail = { 0, 0, 1, 3, 1, 0 } },
	{ "a page of id 2^52", ERR_CORRUPT, HEAD, .tail_length = 13,
	  .tail = { 0, 0, 1, 3, 0x80, BIG, 0x20, 0 } },
	{ "a page past 2^57", ERR_CORRUPT, HEAD, .tail_length = 12,
	  .tail = { 0, 0, 1, BIG, 8, 4, 0 } },
	{ "a cache that is not whole", ERR_CORRUPT, HEAD, .tail_length = 12,
	  .tail = { 0, 0, 0, 8 } },
	{ "a cache that is cut", ERR_TRUNCATED, HEAD, .tail_length = 12,
	  .tail = { 0, 0, 0, 0x80, 0x80, 8 } },
};

static void frame_row(void **state)
{
	const struct frame_row *row = *state;
	struct output out = { 0 };
	struct key_frame found = { 0 };

	output_bytes(&out, row->head, row->head_length);
	assert_non_null(output_space(&out, REGS_SIZE));
	memset(out.bytes + row->head_length, 0, REGS_SIZE);
	output_bytes(&out, row->tail, row->tail_length);
	assert_int_equal(decode(&found, out.bytes, out.size), row->expected);
	if (!row->expected) {
		struct output again = encode(&found);

		assert_int_equal(again.size, out.size);
		assert_memory_equal(again.bytes, out.bytes, out.size);
		output_release(&again);
	}
	key_frame_release(&found);
	output_release(&out);
}

/* ------- indexes ------- */

struct index_row {
	const char *name;
	int expected;
	size_t length;
	uint8_t bytes[40];
	size_t count;
	struct page_touch pages[3];
};

#define R PAGE_WAS_READ
#define W PAGE_WAS_WRITTEN
#define D PAGE_WAS_RESOLVED

static const struct index_row index_rows[] = {
	{ "an index of nothing", 0, 2, { 7, 0 }, 0, { { 0 } } },
	{ "a page that was read", 0, 3, { 7, 1, 3 << 3 | R },
	  1, { { 3, R, 0, 0, 0 } } },
	{ "pages that were read and written", 0, 6,
	  { 7, 2, 3 << 3 | W, 7, 1 << 3 | R | W, 0 },
	  2, { { 3, W, 7, 0, 0 }, { 4, R | W, 0, 0, 0 } } },
	{ "one page in doubt again and again", 0, 11,
	  { 7, 3, 3 << 3 | W, 0, D, 4, 10, R | W | D, 1, 4, 3 },
	  3, { { 3, W, 0, 0, 0 }, { 3, D, 0, 2, 5 },
	       { 3, R | W | D, 1, 4, 3 } } },
	{ "an index that is cut", ERR_TRUNCATED, 2, { 7, 1 }, 0, { { 0 } } },
	{ "more pages than bytes", ERR_TRUNCATED, 3, { 7, 2, 3 << 3 | R },
	  0, { { 0 } } },
	{ "2^24 + 1 pages", ERR_CORRUPT, 6,
	  { 7, 0x81, 0x80, 0x80, 8, 9 }, 0, { { 0 } } },
	{ "a byte behind the index", ERR_CORRUPT, 4, { 7, 1, 3 << 3 | R, 0 },
	  0, { { 0 } } },
	{ "a page that was not touched", ERR_CORRUPT, 3, { 7, 1, 3 << 3 },
	  0, { { 0 } } },
	{ "a page that was written after the end", ERR_CORRUPT, 4,
	  { 7, 1, 3 << 3 | W, 8 }, 0, { { 0 } } },
	{ "a page at 2^57", ERR_CORRUPT, 9,
	  { 7, 1, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40 }, 0, { { 0 } } },
	{ "the same page twice", ERR_CORRUPT, 4, { 7, 2, 3 << 3 | R, R },
	  0, { { 0 } } },
	{ "the same doubt twice", ERR_CORRUPT, 8,
	  { 7, 2, 3 << 3 | D, 4, 0, D, 0, 0 }, 0, { { 0 } } },
	{ "doubts that are not in order", ERR_CORRUPT, 8,
	  { 7, 2, 3 << 3 | D, 4, 0, D, 1, 0 }, 0, { { 0 } } },
	{ "a doubt of 0", ERR_CORRUPT, 5, { 7, 1, 3 << 3 | D, 0, 0 },
	  0, { { 0 } } },
	{ "a resolved page of id -1", ERR_CORRUPT, 5,
	  { 7, 1, 3 << 3 | D, 2, 1 }, 0, { { 0 } } },
};

static void index_row(void **state)
{
	const struct index_row *row = *state;
	struct segment_index index = { 0 };
	struct output out = { 0 };

	assert_int_equal(segment_index_decode(&index, row->bytes, row->length),
			 row->expected);
	if (row->expected) {
		assert_null(index.pages);
		return;
	}
	assert_int_equal(index.steps, 7);
	assert_int_equal(index.page_count, row->count);
	for (size_t i = 0; i < row->count; i++)
		assert_memory_equal(&index.pages[i], &row->pages[i],
				    sizeof(row->pages[i]));
	segment_index_encode(&out, &index);
	assert_int_equal(out.size, row->length);
	assert_memory_equal(out.bytes, row->bytes, row->length);
	segment_index_release(&index);
	output_release(&out);
	for (size_t n = 0; n < row->length; n++)
		assert_int_equal(segment_index_decode(&index, row->bytes, n),
				 ERR_TRUNCATED);
}

int main(void)
{
	static struct test_list list;

	add_test(&list, "all comes back", all_comes_back, NULL);
	add_test(&list, "an empty frame", an_empty_frame, NULL);
	add_test(&list, "every prefix of a frame", every_prefix, NULL);
	add_test(&list, "every flipped bit of a frame", every_flipped_bit,
		 NULL);
	add_rows(&list, frame_rows, frame_row);
	add_rows(&list, index_rows, index_row);
	return run_list("key_frame", &list);
}
