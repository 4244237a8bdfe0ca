/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_lines.c - the fine level of the index against a table of all accesses */
#include "index/lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "tests/unit/table.h"

enum { LENGTH = 100000, LINES = 4096, FAR = 0x7ff000000 };

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Half of the lines are near address 0, half far away. */
static guest_addr address_of(unsigned line)
{
	return (line < LINES / 2 ? line : FAR + (guest_addr)line)
	       << LINE_SHIFT;
}

/* What is to be found. */
static struct {
	uint64_t epochs;
	unsigned words;
} lines[LINES + 1];

static void expect(unsigned line, uint64_t epoch, unsigned words)
{
	lines[line].epochs |= UINT64_C(1) << epoch;
	lines[line].words |= words;
}

/* Of some words of a line. */
static uint64_t expected(unsigned line, unsigned words)
{
	return lines[line].words & words ? lines[line].epochs : 0;
}

/* Notes accesses of four bytes to a word, or to the last one and the next. */
static void note(struct lines_builder *builder, unsigned count)
{
	memset(lines, 0, sizeof(lines));
	builder->shift = lines_shift(LENGTH);
	for (unsigned i = 0; i < count; i++) {
		unsigned line = (unsigned)(next_random() % (LINES - 1));
		uint64_t time = next_random() % LENGTH;
		uint64_t epoch = time >> builder->shift;
		unsigned word = (unsigned)(next_random() % 7);
		bool crosses = i % 8 == 0 && line != LINES / 2 - 1;

		lines_note(builder, time,
			   address_of(line) + (crosses ? LINE_SIZE - 4 :
							 word * 8 + i % 8),
			   crosses ? 8 : 4);
		expect(line, epoch, crosses ? 0x80 : 1u << word);
		if (crosses)
			expect(line + 1, epoch, 1);
		else if (i % 8 > 4)
			expect(line, epoch, 2u << word);
	}
}

static void take(struct lines_builder *builder, size_t most,
		 struct line_set *out)
{
	struct output bytes = { 0 };

	assert_int_equal(lines_encode(&bytes, builder, most), 0);
	assert_int_equal(line_set_decode(out, bytes.bytes, bytes.size), 0);
	output_release(&bytes);
	lines_release(builder);
}

static void a_table(void **state)
{
	struct lines_builder builder = { 0 };
	struct line_set set;

	(void)state;
	note(&builder, 3000);
	take(&builder, SIZE_MAX / 64, &set);
	for (unsigned i = 0; i < 8 * LINES; i++) {
		guest_addr word = address_of(i / 8) + i % 8 * 8;

		if (line_set_epochs(&set, word + 3, word + 3) !=
		    expected(i / 8, 1u << i % 8))
			fail_msg("line %u, word %u", i / 8, i % 8);
	}
	for (unsigned i = 0; i + 200 < LINES / 2; i += 37) {
		uint64_t all;

		all = expected(i, 0x80) | expected(i + 200, 1);
		for (unsigned k = i + 1; k < i + 200; k++)
			all |= expected(k, 0xff);
		assert_int_equal(line_set_epochs(&set, address_of(i) + 60,
						 address_of(i + 200)),
				 all);
	}
	assert_int_equal(line_set_epochs(&set, UINT64_C(1) << 42,
					 UINT64_C(1) << 43), 0);
	line_set_release(&set);
}

/* With less room there are fewer epochs, and none is lost. */
static void with_less_room(void **state)
{
	struct lines_builder builder = { 0 };
	unsigned shift = lines_shift(LENGTH);
	struct line_set set;

	(void)state;
	note(&builder, 20000);
	take(&builder, 6000, &set);
	assert_true(set.shift > shift);
	for (unsigned i = 0; i < LINES; i++) {
		uint64_t joined = 0;

		for (unsigned e = 0; e < EPOCHS_MOST; e++)
			if (lines[i].epochs >> e & 1)
				joined |= UINT64_C(1)
					  << (e >> (set.shift - shift));
		assert_int_equal(line_set_epochs(&set, address_of(i),
						 address_of(i) + LINE_SIZE - 1),
				 joined);
	}
	line_set_release(&set);
}

/* Whether any line of the page that has this one was accessed. */
static bool is_page_used(unsigned line)
{
	guest_addr page = address_of(line) >> GUEST_PAGE_SHIFT;
	bool is_used = false;

	for (unsigned i = 0; i < LINES; i++)
		is_used |= lines[i].epochs &&
			   address_of(i) >> GUEST_PAGE_SHIFT == page;
	return is_used;
}

/* With hardly any room, lines are told without epochs; with none, pages. */
static void with_no_room(void **state)
{
	static const size_t rooms[] = { 700, 10 };

	(void)state;
	for (size_t k = 0; k < COUNT(rooms); k++) {
		struct lines_builder builder = { 0 };
		struct line_set set;
		unsigned unused = 0;

		note(&builder, 3000);
		take(&builder, rooms[k], &set);
		assert_int_equal(LENGTH >> set.shift, 0);
		assert_int_equal(line_set_size(&set),
				 set.page_count * sizeof(*set.pages));
		for (unsigned i = 0; i < LINES; i++) {
			bool is_used = k ? is_page_used(i) : lines[i].epochs;

			unused += !is_used;
			assert_int_equal(line_set_epochs(&set, address_of(i),
							 address_of(i)),
					 is_used);
		}
		assert_int_equal(unused > 100, !k);
		assert_int_equal(line_set_epochs(&set, UINT64_C(1) << 42,
						 UINT64_C(1) << 43), 0);
		line_set_release(&set);
	}
}

/* No prefix and no changed byte does harm. */
static void damaged(void **state)
{
	struct lines_builder builder = { 0 };
	struct output bytes = { 0 };
	struct line_set set;

	note(&builder, 300);
	assert_int_equal(lines_encode(&bytes, &builder,
				      *(const size_t *)*state), 0);
	for (size_t size = 0; size < bytes.size; size++)
		assert_int_not_equal(line_set_decode(&set, bytes.bytes, size),
				     0);
	for (unsigned i = 0; i < 20000; i++) {
		size_t at = next_random() % bytes.size;
		uint8_t was = bytes.bytes[at];

		bytes.bytes[at] = (uint8_t)next_random();
		if (!line_set_decode(&set, bytes.bytes, bytes.size)) {
			line_set_epochs(&set, 0, UINT64_MAX);
			line_set_release(&set);
		}
		bytes.bytes[at] = was;
	}
	lines_release(&builder);
	output_release(&bytes);
}

int main(void)
{
	static const size_t fine = 1 << 20, coarse = 10;
	static struct test_list list;

	add_test(&list, "a table", a_table, NULL);
	add_test(&list, "with less room", with_less_room, NULL);
	add_test(&list, "with no room", with_no_room, NULL);
	add_test(&list, "damaged", damaged, &fine);
	add_test(&list, "damaged, without epochs", damaged, &coarse);
	return run_list("lines", &list);
}
