/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_pacing.c - when a key frame is due, and what changes that */
#include "recorder/pacing.h"
#include "tests/unit/table.h"

#define MILLION UINT64_C(1000000)
#define HOST 500		/* ns for a fault: so a page takes the host 2 us */

/* Millions of steps after which a segment of such costs is due. */
static uint64_t due_at(const struct pacing *pacing, struct segment_costs *costs,
		       uint64_t steps_per_ms)
{
	while (costs->steps < 1000 * MILLION &&
	       !pacing_is_due(pacing, costs)) {
		costs->steps += MILLION;
		costs->time = costs->steps * MILLION / steps_per_ms;
	}
	return costs->steps / MILLION;
}

/*
 * What a segment is like, how many of the pages written had changed much the
 * last time, and when it is due.  The figures were computed by hand: x million
 * steps take x ms at their best.  If their replay takes r ms and the key frame f,
 * it is due where x * r reaches 200 * f.
 */
static const struct work {
	const char *name;
	uint64_t steps_per_ms;
	struct segment_costs costs;
	uint64_t unlike, due;
} works[] = {
	/* r = x, f = 0: the shortest is 20 ms */
	{ "nothing is touched", MILLION, { 0 }, 0, 20 },
	/* r = x + 2.5, f = 250 * 0.008 + 0.5: 21.1 * 23.6 = 200 * 2.5 */
	{ "few pages", MILLION,
	  { .touched = 250, .written = 250, .touches = 50 }, 0, 22 },
	/* r = x + 10, f = 8 + 2: 40 * 50 = 2000 */
	{ "some pages", MILLION,
	  { .touched = 1000, .written = 1000, .touches = 200 }, 0, 40 },
	/* r = x + 10, f = 18 + 2: 58.4 * 68.4 = 4000 */
	{ "that are stored whole", MILLION,
	  { .touched = 1000, .written = 1000, .touches = 200 }, 1000, 59 },
	/* r = x + 10, f = 13 + 2: 50 * 60 = 3000 */
	{ "half of them", MILLION,
	  { .touched = 1000, .written = 1000, .touches = 200 }, 500, 50 },
	/* no more than there are */
	{ "whole, and others", MILLION,
	  { .touched = 1000, .written = 1000, .touches = 200 }, 4000, 59 },
	/* r = x + 10, f = 8 + 10: 55.2 * 65.2 = 3600 */
	{ "that are opened one by one", MILLION,
	  { .touched = 1000, .written = 1000, .touches = 1000 }, 0, 56 },
	/* r = x + 200, f = 0.8 + 10: 10.3 * 210.3 = 2160 */
	{ "many that are read", MILLION,
	  { .touched = 20000, .written = 100, .touches = 1000 }, 0, 11 },
	/* r = x + 2000, f = 1600 + 100: 157.6 * 2157.6 = 340000 */
	{ "many that are written", MILLION,
	  { .touched = 200000, .written = 200000, .touches = 10000 }, 0, 158 },
	/* r = x + 10 + 150, f = 8 + 2: 11.7 * 171.7 = 2000 */
	{ "code that is translated", MILLION,
	  { .touched = 1000, .written = 1000, .touches = 200,
	    .targets = 5000 }, 0, 12 },
	/* r = 10 x + 10, f = 8 + 2: 13.7 * 147 = 2000 */
	{ "slow code", 100000,
	  { .touched = 1000, .written = 1000, .touches = 200 }, 0, 14 },
	/* r = 100 x + 10, f = 8 + 2: 4.4 * 452 = 2000 */
	{ "very slow code", 10000,
	  { .touched = 1000, .written = 1000, .touches = 200 }, 0, 5 },
};

static void pace(void **state)
{
	const struct work *work = *state;
	struct segment_costs costs = work->costs;
	struct pacing pacing;

	pacing_init(&pacing, 0, HOST);
	assert_int_equal(pacing_look_steps(&pacing), 4 * MILLION);
	pacing_learn(&pacing, &costs, work->unlike);
	assert_int_equal(pacing_look_steps(&pacing), 4 * MILLION);
	assert_int_equal(due_at(&pacing, &costs, work->steps_per_ms),
			 work->due);
}

/* Before anything is known, pages are stored whole; none says nothing. */
static void first(void **state)
{
	struct segment_costs costs = {
		.touched = 1000, .written = 1000, .touches = 200,
	};
	const struct segment_costs none = { 0 };
	struct pacing pacing;

	(void)state;
	pacing_init(&pacing, 0, HOST);
	pacing_learn(&pacing, &none, 0);
	assert_int_equal(due_at(&pacing, &costs, MILLION), 59);
}

static void fixed(void **state)
{
	struct pacing pacing;
	struct segment_costs costs = { .steps = 999, .written = 100000 };

	(void)state;
	pacing_init(&pacing, 1000, HOST);
	assert_int_equal(pacing_look_steps(&pacing), 1000);
	assert_false(pacing_is_due(&pacing, &costs));
	costs.steps++;
	assert_true(pacing_is_due(&pacing, &costs));
	pacing_init(&pacing, 100 * MILLION, HOST);
	assert_int_equal(pacing_look_steps(&pacing), 4 * MILLION);
	costs.steps = 70 * MILLION;
	assert_false(pacing_is_due(&pacing, &costs));
}

/* A host whose faults take 12.5 us takes 50 for a page: r = x + 58, and
 * f = 8 + 200 * 0.058: 40 * 98 = 3920 */
static void slow_host(void **state)
{
	struct segment_costs costs = {
		.touched = 1000, .written = 1000, .touches = 200,
	};
	struct pacing pacing;

	(void)state;
	pacing_init(&pacing, 0, 12500);
	pacing_learn(&pacing, &costs, 0);
	assert_int_equal(due_at(&pacing, &costs, MILLION), 40);
}

/* Its first segment is long, by its steps or its time; the others are not. */
static void child(void **state)
{
	struct segment_costs costs = {
		.touched = 30000, .written = 30000, .targets = 12000,
		.steps = 999 * MILLION, .time = 5999 * MILLION,
	};
	struct pacing pacing;

	(void)state;
	pacing_init(&pacing, 0, HOST);
	assert_true(pacing_is_due(&pacing, &costs));
	pacing_begin_child(&pacing);
	assert_false(pacing_is_due(&pacing, &costs));
	costs.steps += MILLION;
	assert_true(pacing_is_due(&pacing, &costs));
	costs.steps = MILLION;
	costs.time += MILLION;
	assert_true(pacing_is_due(&pacing, &costs));
	pacing_learn(&pacing, &costs, 0);
	costs.number++;
	costs.steps = costs.time = 0;
	/* r = x + 300 + 360, f = 240: 66.1 * 726.1 = 48000 */
	assert_int_equal(due_at(&pacing, &costs, MILLION), 67);
	pacing_init(&pacing, 1000, HOST);
	pacing_begin_child(&pacing);
	costs = (struct segment_costs){ .steps = 1000 };
	assert_true(pacing_is_due(&pacing, &costs));
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, works, pace);
	add_test(&list, "first", first, NULL);
	add_test(&list, "fixed", fixed, NULL);
	add_test(&list, "slow host", slow_host, NULL);
	add_test(&list, "child", child, NULL);
	return run_list("pacing", &list);
}
