/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_pacing.c - when a key frame is due, and what changes that */
#include "recorder/pacing.h"
#include "tests/unit/table.h"

#define MILLION UINT64_C(1000000)

/* Millions of steps after which a segment of such costs is due. */
static uint64_t due_at(const struct pacing *pacing, struct segment_costs *costs,
		       uint64_t steps_per_ms)
{
	while (costs->steps < 100 * MILLION &&
	       !pacing_is_due(pacing, costs)) {
		costs->steps += MILLION;
		if (steps_per_ms)
			costs->time = costs->steps * MILLION / steps_per_ms;
	}
	return costs->steps / MILLION;
}

/* The same of one that touches and writes such pages. */
static uint64_t due(const struct pacing *pacing, size_t touched,
		    size_t written)
{
	struct segment_costs costs = {
		.touched = touched, .written = written,
	};

	return due_at(pacing, &costs, 0);
}

static const struct work {
	const char *name;
	size_t touched, written;
	uint64_t due;		/* million steps */
} works[] = {
	{ "few pages", 100, 100, 24 },
	{ "some pages", 1000, 800, 40 },
	{ "so many that it is the longest", 5000, 4000, 64 },
	{ "many that are read", 20000, 100, 24 },
	{ "many that are written", 32000, 30000, 12 },
	{ "many more", 200000, 200000, 64 },
};

static void pace(void **state)
{
	const struct work *work = *state;
	struct pacing pacing;

	pacing_init(&pacing, 0);
	assert_int_equal(pacing_look_steps(&pacing), 4 * MILLION);
	assert_int_equal(due(&pacing, work->touched, work->written),
			 work->due);
}

static void fixed(void **state)
{
	struct pacing pacing;
	struct segment_costs costs = { .steps = 999, .written = 100000 };

	(void)state;
	pacing_init(&pacing, 1000);
	assert_int_equal(pacing_look_steps(&pacing), 1000);
	assert_false(pacing_is_due(&pacing, &costs));
	costs.steps++;
	assert_true(pacing_is_due(&pacing, &costs));
	pacing_init(&pacing, 100 * MILLION);
	assert_int_equal(pacing_look_steps(&pacing), 4 * MILLION);
	costs.steps = 70 * MILLION;
	assert_false(pacing_is_due(&pacing, &costs));
}

/* Targets of jumps that a segment has met, and when it is due, in millions. */
static void much_code(void **state)
{
	static const struct {
		uint32_t targets;
		uint64_t due;
	} rows[] = {
		{ 0, 64 }, { 3999, 64 }, { 4000, 8 }, { 5999, 8 }, { 6000, 1 },
		{ 10000, 1 }, { 30000, 3 }, { 1000000, 8 },
	};
	struct pacing pacing;

	(void)state;
	pacing_init(&pacing, 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct segment_costs costs = {
			.touched = 5000, .written = 4000,
			.targets = rows[i].targets,
		};

		assert_int_equal(due_at(&pacing, &costs, 0), rows[i].due);
		pacing_learn(&pacing, &costs, 0);
		assert_int_equal(pacing_look_steps(&pacing),
				 (costs.targets < 6000 ? 4 : 1) * MILLION);
	}
}

/*
 * How fast it runs, what is translated, what is written and how much of that
 * changed much the last time, and when it is due, in millions.
 */
static void slow_code(void **state)
{
	static const struct {
		uint64_t steps_per_ms;
		uint32_t targets;
		size_t written;
		uint64_t unlike, due;
	} rows[] = {
		{ 1000000, 0, 4000, 0, 64 }, { 600000, 0, 4000, 0, 64 },
		{ 200000, 0, 4000, 0, 24 }, { 200000, 1999, 4000, 0, 13 },
		{ 200000, 0, 7000, 7000, 28 }, { 200000, 0, 7000, 1750, 24 },
		{ 200000, 0, 7000, 1751, 28 }, { 10000, 0, 4000, 0, 8 },
		{ 10000, 0, 60000, 0, 8 }, { 10000, 0, 90000, 0, 9 },
		{ 10000, 0, 90000, 90000, 18 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct segment_costs costs = {
			.touched = 5000, .written = rows[i].written,
			.targets = rows[i].targets,
		};
		struct pacing pacing;

		pacing_init(&pacing, 0);
		pacing_learn(&pacing, &costs, rows[i].unlike);
		assert_int_equal(due_at(&pacing, &costs,
					rows[i].steps_per_ms), rows[i].due);
	}
}

/* Whole pages are dear: fewer key frames.  Patches are cheap: as before. */
static void learns(void **state)
{
	struct segment_costs costs = { .touched = 30000, .written = 30000 };
	struct segment_costs few = { .touched = 100, .written = 100 };
	struct pacing pacing;

	(void)state;
	pacing_init(&pacing, 0);
	assert_int_equal(due(&pacing, 30000, 30000), 12);
	pacing_learn(&pacing, &costs, 30000);
	assert_int_equal(due(&pacing, 30000, 30000), 24);
	pacing_learn(&pacing, &few, 100);
	assert_int_equal(due(&pacing, 30000, 30000), 24);
	for (unsigned i = 0; i < 100; i++)
		pacing_learn(&pacing, &costs, 10000);
	assert_int_equal(due(&pacing, 30000, 30000), 64);
	pacing_learn(&pacing, &costs, 7000);
	assert_int_equal(due(&pacing, 30000, 30000), 12);
}

/* Its first segment is long, by its steps or its time; the others are not. */
static void child(void **state)
{
	struct segment_costs costs = {
		.touched = 30000, .written = 30000, .targets = 6000,
		.steps = 999 * MILLION, .time = 5999 * MILLION,
	};
	struct pacing pacing;

	(void)state;
	pacing_init(&pacing, 0);
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
	assert_int_equal(due_at(&pacing, &costs, 0), 1);
	pacing_init(&pacing, 1000);
	pacing_begin_child(&pacing);
	costs = (struct segment_costs){ .steps = 1000 };
	assert_true(pacing_is_due(&pacing, &costs));
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, works, pace);
	add_test(&list, "fixed", fixed, NULL);
	add_test(&list, "much code", much_code, NULL);
	add_test(&list, "slow code", slow_code, NULL);
	add_test(&list, "child", child, NULL);
	add_test(&list, "learns", learns, NULL);
	return run_list("pacing", &list);
}
