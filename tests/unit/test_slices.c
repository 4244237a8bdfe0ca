/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_slices.c - turns of threads, put in order and checked */
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/slices.h"
#include "tests/unit/table.h"

#define MOST_PACKETS 6

#define RUN(n) { .kind = PACKET_VALUE, .steps = n }
#define EXIT(n) { .kind = PACKET_EXIT, .steps = n }
#define TURN(n, more, others) { .kind = PACKET_SLICE, .steps = n, \
				.slices = more, .skipped = others }

struct row {
	const char *name;
	struct packet streams[3][MOST_PACKETS];
	int rc, cut_rc;		/* of a whole recording, of one cut short */
	size_t count;		/* slices, if there is no error; of one cut
				   short: */
	size_t cut_count;
	uint64_t end;		/* of one cut short */
};

static const struct row rows[] = {
	{ "one thread", { { RUN(5), RUN(6) } }, 0, 0, 1, 1, 11 },
	{ "nothing", { { { 0 } } }, 0, 0, 1, 1, 0 },
	{ "two threads", { { RUN(5), TURN(1, 2, 4), RUN(1) },
			   { TURN(0, 1, 6), RUN(3), TURN(1, 2, 1) } },
	  0, 0, 4, 4, 11 },
	{ "empty turns", { { TURN(0, 3, 0) }, { TURN(0, 1, 0) },
			   { TURN(0, 2, 0), RUN(1) } },
	  ERR_CORRUPT, ERR_CORRUPT, 0, 0, 0 },
	{ "empty turns of two", { { TURN(0, 2, 0), RUN(1) },
				  { TURN(0, 1, 0) } }, 0, 0, 3, 3, 1 },
	{ "turns of a thread alone", { { RUN(1), TURN(2, 1, 0), RUN(1) } },
	  0, 0, 2, 2, 4 },
	{ "a turn of a thread that skipped what nobody ran",
	  { { RUN(1), TURN(2, 1, 5), RUN(1) } },
	  ERR_CORRUPT, ERR_CORRUPT, 0, 0, 0 },
	{ "a thread that ends", { { RUN(5), EXIT(1) }, { TURN(0, 1, 6) } },
	  0, 0, 2, 2, 6 },
	{ "more after the end", { { EXIT(1), RUN(1) } },
	  ERR_CORRUPT, ERR_CORRUPT, 0, 0, 0 },
	{ "a turn after the end", { { EXIT(1), TURN(0, 1, 0) } },
	  ERR_CORRUPT, ERR_CORRUPT, 0, 0, 0 },
	{ "a thread without a turn", { { RUN(5) }, { RUN(1) } },
	  ERR_CORRUPT, ERR_CORRUPT, 0, 0, 0 },
	{ "steps before the first turn", { { RUN(5) }, { TURN(1, 1, 4) } },
	  ERR_CORRUPT, ERR_CORRUPT, 0, 0, 0 },
	{ "one number twice", { { RUN(5) }, { TURN(0, 1, 5) },
				{ TURN(0, 1, 5) } },
	  ERR_CORRUPT, ERR_CORRUPT, 0, 0, 0 },
	{ "a number missing", { { RUN(5) }, { TURN(0, 2, 5), RUN(1) } },
	  ERR_CORRUPT, 0, 0, 1, 5 },
	{ "a number missing in between",
	  { { RUN(5), TURN(1, 3, 4) }, { TURN(0, 1, 6), RUN(1) } },
	  ERR_CORRUPT, 0, 0, 2, 7 },
	{ "the greatest number", { { RUN(5) }, { TURN(0, UINT64_MAX, 5) } },
	  ERR_CORRUPT, 0, 0, 1, 5 },
	{ "a number that wraps around",
	  { { RUN(5) }, { TURN(0, UINT64_MAX, 5), TURN(0, 2, 0) } },
	  ERR_CORRUPT, ERR_CORRUPT, 0, 0, 0 },
	{ "turns that overlap", { { RUN(5), RUN(5) }, { TURN(0, 1, 7) } },
	  ERR_CORRUPT, ERR_CORRUPT, 0, 0, 0 },
	{ "a turn that ends late", { { RUN(5), TURN(5, 2, 1) },
				     { TURN(0, 1, 7), RUN(4) } },
	  ERR_CORRUPT, ERR_CORRUPT, 0, 0, 0 },
	{ "a turn that ends early", { { RUN(5), TURN(1, 2, 5) },
				      { TURN(0, 1, 7), RUN(4) } },
	  ERR_CORRUPT, ERR_CORRUPT, 0, 0, 0 },
	{ "a turn that begins before the one before it",
	  { { RUN(5) }, { TURN(0, 2, 5) }, { TURN(0, 1, 8) } },
	  ERR_CORRUPT, ERR_CORRUPT, 0, 0, 0 },
	{ "steps that wrap around", { { RUN(5), RUN(UINT64_MAX - 5) } },
	  ERR_CORRUPT, ERR_CORRUPT, 0, 0, 0 },
	{ "others' steps that wrap around",
	  { { RUN(5), TURN(1, 1, UINT64_MAX - 6) } },
	  ERR_CORRUPT, ERR_CORRUPT, 0, 0, 0 },
};

static int follow(struct slices *slices, const struct row *row, unsigned number)
{
	const struct packet *packets = row->streams[number];
	struct stream_clock clock;
	int rc = slices_begin(slices, &clock, number, number == 0);

	for (size_t i = 0; i < MOST_PACKETS && packets[i].kind && !rc; i++)
		rc = slices_follow(slices, &clock, &packets[i]);
	return rc;
}

static int follow_all(struct slices *slices, const struct row *row, bool is_cut)
{
	int rc = 0;

	*slices = (struct slices) { 0 };
	for (unsigned i = 0; i < 3 && !rc; i++)
		rc = follow(slices, row, i);
	return rc ? rc : slices_order(slices, is_cut);
}

static void order_row(void **state)
{
	const struct row *row = *state;
	struct slices slices;

	assert_int_equal(follow_all(&slices, row, false), row->rc);
	if (!row->rc)
		assert_int_equal(slices.count, row->count);
	for (size_t i = 0; i < slices.count && !row->rc; i++) {
		const struct slice *slice = &slices.list[i];

		assert_int_equal(slice->number, i);
		assert_true(slice->start <= slice->last);
		assert_true(slice->last <= slice->end);
		assert_int_equal(slice->start, i ? slice[-1].end : 0);
	}
	slices_release(&slices);
	assert_int_equal(follow_all(&slices, row, true), row->cut_rc);
	if (!row->cut_rc) {
		assert_int_equal(slices.count, row->cut_count);
		assert_int_equal(slices.list[slices.count - 1].end, row->end);
	}
	slices_release(&slices);
}

static void found_by_time(void **state)
{
	static const size_t expected[] = { 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 3 };
	struct slices slices;

	(void)state;
	assert_int_equal(follow_all(&slices, &rows[2], false), 0);
	for (size_t i = 0; i < COUNT(expected); i++)
		assert_int_equal(slices_at(&slices, i), expected[i]);
	assert_int_equal(slices_at(&slices, UINT64_MAX), 3);
	assert_int_equal(slices.list[0].own, 0);
	assert_int_equal(slices.list[1].own, 0);
	assert_int_equal(slices.list[2].own, 6);
	assert_int_equal(slices.list[3].own, 4);
	assert_int_equal(slices.list[3].stream, 1);
	slices_release(&slices);
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, rows, order_row);
	add_test(&list, "found by time", found_by_time, NULL);
	return run_list("slices", &list);
}
