/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_races.c - clocks, words and what the race detector makes of them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replayer/races/clocks.h"
#include "replayer/races/race_detector.h"
#include "replayer/races/race_rwlocks.h"
#include "replayer/races/race_words.h"

/* ------- clocks ------- */

static void test_clock_joins(void **state)
{
	struct clock one = { 0 }, other = { 0 };

	(void)state;
	assert_int_equal(clock_of(&one, 7), 0);
	clock_set(&one, 0, 5);
	clock_set(&one, 2, 1);
	clock_set(&other, 2, 4);
	clock_set(&other, 9, 6);
	clock_join(&one, &other);
	assert_int_equal(clock_of(&one, 0), 5);
	assert_int_equal(clock_of(&one, 1), 0);
	assert_int_equal(clock_of(&one, 2), 4);
	assert_int_equal(clock_of(&one, 9), 6);
	assert_int_equal(clock_of(&one, 10), 0);
	clock_copy(&one, &other);
	assert_int_equal(clock_of(&one, 0), 0);
	assert_int_equal(clock_of(&one, 9), 6);
	clock_release(&one);
	clock_release(&other);
}

/* ------- words ------- */

static void test_word_bytes(void **state)
{
	(void)state;
	assert_int_equal(race_word_bytes(0x1000, 0x1000, 8), 0xff);
	assert_int_equal(race_word_bytes(0x1000, 0x1003, 1), 0x08);
	assert_int_equal(race_word_bytes(0x1000, 0x1006, 16), 0xc0);
	assert_int_equal(race_word_bytes(0x1008, 0x1006, 4), 0x03);
	assert_int_equal(race_word_bytes(0x1008, 0x1000, 4096), 0xff);
}

static void test_only_shared_and_written_words(void **state)
{
	struct race_words words = { 0 };
	struct race_word *word;

	(void)state;
	race_words_touch(&words, 0, 0x1000, 4, true);
	race_words_touch(&words, 0, 0x1000, 4, false);
	race_words_touch(&words, 0, 0x1008, 4, false);
	race_words_touch(&words, 1, 0x1008, 4, false);
	race_words_touch(&words, 0, 0x1010, 4, true);
	race_words_touch(&words, 1, 0x1014, 4, false);
	assert_int_equal(race_words_find(&words, 0x1000, &word), 0);
	assert_null(word);
	race_words_find(&words, 0x1008, &word);
	assert_null(word);
	race_words_find(&words, 0x1014, &word);
	assert_non_null(word);
	race_words_find(&words, 0x99000, &word);
	assert_null(word);
	race_words_release(&words);
}

/* A load of what serves to synchronize, before and after that is known. */
static void test_loads_of_synchronizing_words(void **state)
{
	struct race_words words = { 0 };

	(void)state;
	for (uint32_t thread = 0; thread < 2; thread++) {
		race_words_touch(&words, thread, 0x1000, 8, true);
		race_words_touch(&words, thread, 0x1008, 8, true);
	}
	assert_false(race_words_load(&words, 0x1000, 4));
	race_words_synchronize(&words, 0x1008, 4, false);
	assert_false(race_words_was_early(&words));
	assert_true(race_words_load(&words, 0x1006, 4));
	assert_false(race_words_load(&words, 0x100c, 4));
	race_words_synchronize(&words, 0x1000, 4, false);
	assert_true(race_words_was_early(&words));
	race_words_synchronize(&words, 0x1000, 8, true);
	race_words_synchronize(&words, 0x1008, 8, true);
	assert_false(race_words_load(&words, 0x1000, 16));
	assert_false(race_words_was_early(&words));
	race_words_release(&words);
}

static void test_words_of_all(void **state)
{
	struct race_words words = { 0 };

	(void)state;
	race_words_touch(&words, 0, 0x1000, 8, true);
	race_words_touch(&words, 1, 0x1010, 8, true);
	race_words_synchronize(&words, 0x1ffc, 4, false);
	assert_false(race_words_can_race(&words, 0x1ff8, 8));
	race_words_share(&words);
	assert_true(race_words_can_race(&words, 0x1ff8, 1));
	assert_true(race_words_can_race(&words, 0x1ff4, 8));
	assert_true(race_words_can_race(&words, 0x1ff8, 16));
	assert_false(race_words_can_race(&words, 0x1000, 8));
	assert_false(race_words_can_race(&words, 0x1010, 8));
	assert_false(race_words_can_race(&words, 0x2000, 8));
	race_words_release(&words);
}

static void test_many_pages(void **state)
{
	struct race_words words = { 0 };
	struct race_word *word;

	(void)state;
	for (uint64_t i = 0; i < 5000; i++)
		for (uint32_t thread = 0; thread < 2; thread++)
			race_words_touch(&words, thread, i << 20, 8, true);
	for (uint64_t i = 0; i < 5000; i++) {
		race_words_find(&words, i << 20, &word);
		assert_non_null(word);
	}
	/* More pages than there are, at once. */
	race_words_forget(&words, 0, UINT64_C(1) << 46);
	race_words_release(&words);
}

/* ------- the detector ------- */

enum { A, B, C, THREADS };

#define DATA 0x5000u
#define FLAG 0x6000u

struct seen {
	unsigned count;
	uint64_t before, now, addr;
};

static struct seen seen;
static struct race_detector detector;
static uint64_t now;

static void on_found(void *context, const struct race_entry *before,
		     uint32_t thread, const struct race_access *access,
		     uint64_t addr)
{
	(void)context;
	assert_int_not_equal(before->thread, thread);
	seen.count++;
	seen.before = before->pc;
	seen.now = access->pc;
	seen.addr = addr;
}

static int setup(void **state)
{
	(void)state;
	seen = (struct seen) { 0 };
	now = 0;
	if (race_detector_init(&detector, THREADS, on_found, NULL))
		return -1;
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		race_words_touch(&detector.words, thread, DATA, 64, true);
		race_words_touch(&detector.words, thread, FLAG, 64, true);
	}
	return race_words_synchronize(&detector.words, FLAG, 4, false);
}

static int teardown(void **state)
{
	(void)state;
	race_detector_release(&detector);
	return 0;
}

static struct race_access access_at(uint64_t addr, unsigned size, bool writes,
				    uint64_t pc)
{
	now += 10;
	return (struct race_access) {
		.addr = addr, .size = size, .writes = writes, .pc = pc,
		.place = pc, .time = now,
	};
}

static void load(uint32_t thread, uint64_t addr, unsigned size, uint64_t pc)
{
	struct race_access access = access_at(addr, size, false, pc);

	assert_int_equal(race_detector_access(&detector, thread, &access), 0);
}

static void store(uint32_t thread, uint64_t addr, unsigned size, uint64_t pc)
{
	struct race_access access = access_at(addr, size, true, pc);

	assert_int_equal(race_detector_access(&detector, thread, &access), 0);
}

/* A store of what was computed from what was loaded of the same bytes. */
static void change(uint32_t thread, uint64_t addr, uint64_t pc)
{
	struct race_access access = access_at(addr, 4, true, pc);

	access.is_change = true;
	assert_int_equal(race_detector_access(&detector, thread, &access), 0);
}

/* A store to what is not atomic for sure. */
static void store_plain(uint32_t thread, uint64_t addr, uint64_t pc)
{
	struct race_access access = access_at(addr, 4, true, pc);

	access.is_plain = true;
	assert_int_equal(race_detector_access(&detector, thread, &access), 0);
}

/* An indivisible instruction that writes what is there. */
static void exchange_same(uint32_t thread, uint64_t addr)
{
	struct race_access access = access_at(addr, 4, false, 0x910);

	access.is_atomic = true;
	assert_int_equal(race_detector_access(&detector, thread, &access), 0);
	access.writes = access.keeps_value = true;
	assert_int_equal(race_detector_access(&detector, thread, &access), 0);
}

/* What runs the program's threads accesses its own memory. */
static void order(uint32_t thread, uint64_t addr, bool writes)
{
	struct race_access access = access_at(addr, 8, writes, 0x920);

	access.is_order = access.is_hidden = true;
	assert_int_equal(race_detector_access(&detector, thread, &access), 0);
}

/* An indivisible instruction; `fails`: a comparison that changes nothing. */
static void exchange(uint32_t thread, uint64_t addr, bool fails)
{
	struct race_access access = access_at(addr, 4, false, 0x900);

	access.is_atomic = true;
	assert_int_equal(race_detector_access(&detector, thread, &access), 0);
	access.writes = true;
	access.changes_nothing = fails;
	assert_int_equal(race_detector_access(&detector, thread, &access), 0);
}

static void test_unordered_writes(void **state)
{
	(void)state;
	store(A, DATA, 4, 0x10);
	store(B, DATA + 3, 4, 0x20);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.before, 0x10);
	assert_int_equal(seen.now, 0x20);
	assert_int_equal(seen.addr, DATA + 3);
}

static void test_read_and_write(void **state)
{
	(void)state;
	load(A, DATA, 4, 0x10);
	load(B, DATA, 4, 0x20);
	assert_int_equal(seen.count, 0);
	store(C, DATA, 4, 0x30);
	assert_int_equal(seen.count, 2);
}

static void test_other_bytes(void **state)
{
	(void)state;
	store(A, DATA, 4, 0x10);
	store(B, DATA + 4, 4, 0x20);
	store(C, DATA + 8, 8, 0x30);
	assert_int_equal(seen.count, 0);
}

static void test_every_place_counts(void **state)
{
	(void)state;
	store(A, DATA, 1, 0x10);
	store(A, DATA, 1, 0x11);
	load(A, DATA, 1, 0x12);
	store(B, DATA, 1, 0x20);
	assert_int_equal(seen.count, 3);
}

static void test_a_large_access(void **state)
{
	(void)state;
	store(A, DATA, 64, 0x10);
	load(B, DATA + 40, 1, 0x20);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.addr, DATA + 40);
}

static void test_ordered_by_a_lock(void **state)
{
	(void)state;
	exchange(A, FLAG, false);
	store(A, DATA, 4, 0x10);
	exchange(A, FLAG, false);
	exchange(B, FLAG, false);
	store(B, DATA, 4, 0x20);
	assert_int_equal(seen.count, 0);
	store(A, DATA, 4, 0x30);
	assert_int_equal(seen.count, 1);
}

static void test_ordered_by_store_and_load(void **state)
{
	(void)state;
	store(A, DATA, 4, 0x10);
	store(A, FLAG, 4, 0x11);
	load(B, FLAG, 4, 0x20);
	load(B, DATA, 4, 0x21);
	assert_int_equal(seen.count, 0);
	load(C, DATA, 4, 0x30);
	assert_int_equal(seen.count, 1);
}

static void test_order_goes_on(void **state)
{
	(void)state;
	race_words_synchronize(&detector.words, FLAG + 8, 4, false);
	store(A, DATA, 4, 0x10);
	store(A, FLAG, 4, 0x11);
	load(B, FLAG, 4, 0x20);
	store(B, FLAG + 8, 4, 0x21);
	load(C, FLAG + 8, 4, 0x30);
	store(C, DATA, 4, 0x31);
	assert_int_equal(seen.count, 0);
}

static void test_two_locks_order_nothing(void **state)
{
	(void)state;
	race_words_synchronize(&detector.words, FLAG + 4, 4, false);
	store(A, DATA, 4, 0x10);
	exchange(A, FLAG, false);
	exchange(B, FLAG + 4, false);
	store(B, DATA, 4, 0x20);
	assert_int_equal(seen.count, 1);
}

static void test_failed_comparison_tells_nothing(void **state)
{
	(void)state;
	store(A, DATA, 4, 0x10);
	exchange(A, FLAG, true);
	exchange(B, FLAG, false);
	store(B, DATA, 4, 0x20);
	assert_int_equal(seen.count, 1);
}

static void test_objects(void **state)
{
	struct clock kernel = { 0 };

	(void)state;
	store(A, DATA, 4, 0x10);
	race_detector_publish(&detector, A, &kernel);
	store(A, DATA + 8, 4, 0x11);
	race_detector_acquire(&detector, B, &kernel);
	store(B, DATA, 4, 0x20);
	assert_int_equal(seen.count, 0);
	store(B, DATA + 8, 4, 0x21);
	assert_int_equal(seen.count, 1);
	clock_release(&kernel);
}

static void test_wakes(void **state)
{
	(void)state;
	store(A, DATA, 4, 0x10);
	race_detector_publish_at(&detector, A, FLAG);
	race_detector_acquire_at(&detector, B, FLAG);
	store(B, DATA, 4, 0x20);
	assert_int_equal(seen.count, 0);
}

static void test_other_memory(void **state)
{
	(void)state;
	store(A, DATA, 4, 0x10);
	race_words_forget(&detector.words, DATA & ~4095u, 4096);
	store(B, DATA, 4, 0x20);
	assert_int_equal(seen.count, 0);
}

static void test_libraries_among_themselves(void **state)
{
	struct race_access access = access_at(DATA, 4, true, 0x10);

	(void)state;
	access.is_library = true;
	race_detector_access(&detector, A, &access);
	access.pc = 0x20;
	race_detector_access(&detector, B, &access);
	assert_int_equal(seen.count, 0);
	load(C, DATA, 4, 0x30);
	assert_int_equal(seen.count, 2);
}

/* counter++ against an indivisible change, whoever comes first. */
static void test_lost_change(void **state)
{
	(void)state;
	exchange(A, FLAG, false);
	load(B, FLAG, 4, 0x20);
	change(B, FLAG, 0x24);
	assert_int_equal(seen.count, 1);
	exchange(C, FLAG, false);
	assert_int_equal(seen.count, 2);
}

/* The way a lock is given back is no change of that kind. */
static void test_unlock(void **state)
{
	(void)state;
	exchange(A, FLAG, false);
	store(A, FLAG, 4, 0x10);
	load(B, FLAG, 4, 0x20);
	exchange(B, FLAG, false);
	store(B, FLAG, 4, 0x24);
	exchange(C, FLAG, false);
	assert_int_equal(seen.count, 0);
}

/* Nobody loses what has not taken place. */
static void test_failed_comparison_is_not_lost(void **state)
{
	(void)state;
	exchange(A, FLAG, true);
	load(B, FLAG, 4, 0x20);
	change(B, FLAG, 0x24);
	assert_int_equal(seen.count, 0);
}

static void test_plain_store_and_change(void **state)
{
	(void)state;
	exchange(A, FLAG, false);
	store_plain(B, FLAG, 0x20);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.now, 0x20);
	exchange(C, FLAG, false);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.before, 0x20);
}

/* Its own change was the last, for others have only looked. */
static void test_plain_store_gives_back(void **state)
{
	(void)state;
	exchange(B, FLAG, false);
	store_plain(B, FLAG, 0x20);
	load(A, FLAG, 4, 0x30);
	exchange(A, FLAG, false);
	exchange_same(B, FLAG);
	store_plain(A, FLAG, 0x20);
	exchange(B, FLAG, false);
	assert_int_equal(seen.count, 0);
}

/* Who waits for another's change may undo it. */
static void test_plain_store_of_a_waiter(void **state)
{
	(void)state;
	exchange(A, FLAG, false);
	load(B, FLAG, 4, 0x20);
	load(B, FLAG, 4, 0x20);
	store_plain(B, FLAG, 0x24);
	exchange(C, FLAG, false);
	assert_int_equal(seen.count, 0);
	store_plain(B, FLAG, 0x28);
	assert_int_equal(seen.count, 1);
}

/* Who reads what a thread released later knows what it stored before. */
static void test_plain_store_before_a_change(void **state)
{
	(void)state;
	store_plain(A, FLAG, 0x10);
	exchange(A, FLAG, false);
	exchange(B, FLAG, false);
	assert_int_equal(seen.count, 0);
	store_plain(C, FLAG, 0x10);
	assert_int_equal(seen.count, 2);
}

static void test_memory_of_a_runtime(void **state)
{
	(void)state;
	store(A, DATA, 4, 0x10);
	order(A, DATA + 8, true);
	order(B, DATA + 8, false);
	store(B, DATA, 4, 0x20);
	assert_int_equal(seen.count, 0);
	order(C, DATA + 16, false);
	store(C, DATA, 4, 0x30);
	assert_int_equal(seen.count, 2);
}

/* Each thread's load is remembered, whoever has loaded since. */
static void test_lost_change_of_two(void **state)
{
	(void)state;
	exchange(A, FLAG, false);
	load(B, FLAG, 4, 0x20);
	load(C, FLAG, 4, 0x30);
	change(B, FLAG, 0x24);
	change(C, FLAG, 0x34);
	assert_int_equal(seen.count, 2);
}

static void test_atomic_types_know(void **state)
{
	(void)state;
	race_words_synchronize(&detector.words, FLAG, 4, true);
	exchange(A, FLAG, false);
	load(B, FLAG, 4, 0x20);
	change(B, FLAG, 0x24);
	assert_int_equal(seen.count, 0);
}

/* ------- locks that many hold for reading ------- */

#define LOCK 0x7000u

static struct race_rwlocks locks;

static void hold(uint32_t thread, bool writes)
{
	assert_int_equal(race_rwlocks_lock(&locks, &detector, thread, LOCK,
					   writes), 0);
	store(thread, DATA, 4, 0x10 + thread);
	assert_int_equal(race_rwlocks_unlock(&locks, &detector, thread, LOCK,
					     writes), 0);
}

static void test_readers_are_not_ordered(void **state)
{
	(void)state;
	hold(A, false);
	hold(B, false);
	race_rwlocks_release(&locks);
	assert_int_equal(seen.count, 1);
}

static void test_writers_are_ordered(void **state)
{
	(void)state;
	hold(A, false);
	hold(B, true);
	hold(C, false);
	hold(A, true);
	race_rwlocks_release(&locks);
	assert_int_equal(seen.count, 0);
}

static void test_whose_memory(void **state)
{
	struct race_words *words = &detector.words;

	(void)state;
	assert_false(race_words_is_own(words, DATA));
	assert_int_equal(race_words_give(words, DATA + 8, 8192, true), 0);
	assert_false(race_words_is_own(words, DATA));
	assert_true(race_words_is_own(words, DATA + 8));
	assert_true(race_words_is_own(words, DATA + 8192));
	assert_false(race_words_is_own(words, DATA + 8200));
	assert_int_equal(race_words_give(words, DATA + 4096, 16, false), 0);
	assert_true(race_words_is_own(words, DATA + 4095));
	assert_false(race_words_is_own(words, DATA + 4104));
	assert_true(race_words_is_own(words, DATA + 4112));
}

static void test_word_of_many_places(void **state)
{
	(void)state;
	for (uint64_t pc = 0; pc < 1000; pc++)
		store(A, DATA, 1, 0x1000 + pc);
	store(B, DATA, 1, 0x20);
	assert_true(seen.count > 1);
}

#define DETECTOR_TEST(test) \
	cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_joins),
		cmocka_unit_test(test_word_bytes),
		cmocka_unit_test(test_only_shared_and_written_words),
		cmocka_unit_test(test_loads_of_synchronizing_words),
		cmocka_unit_test(test_words_of_all),
		cmocka_unit_test(test_many_pages),
		DETECTOR_TEST(test_unordered_writes),
		DETECTOR_TEST(test_read_and_write),
		DETECTOR_TEST(test_other_bytes),
		DETECTOR_TEST(test_every_place_counts),
		DETECTOR_TEST(test_a_large_access),
		DETECTOR_TEST(test_ordered_by_a_lock),
		DETECTOR_TEST(test_ordered_by_store_and_load),
		DETECTOR_TEST(test_order_goes_on),
		DETECTOR_TEST(test_two_locks_order_nothing),
		DETECTOR_TEST(test_failed_comparison_tells_nothing),
		DETECTOR_TEST(test_objects),
		DETECTOR_TEST(test_wakes),
		DETECTOR_TEST(test_other_memory),
		DETECTOR_TEST(test_libraries_among_themselves),
		DETECTOR_TEST(test_lost_change),
		DETECTOR_TEST(test_unlock),
		DETECTOR_TEST(test_failed_comparison_is_not_lost),
		DETECTOR_TEST(test_plain_store_and_change),
		DETECTOR_TEST(test_plain_store_gives_back),
		DETECTOR_TEST(test_plain_store_of_a_waiter),
		DETECTOR_TEST(test_plain_store_before_a_change),
		DETECTOR_TEST(test_memory_of_a_runtime),
		DETECTOR_TEST(test_lost_change_of_two),
		DETECTOR_TEST(test_atomic_types_know),
		DETECTOR_TEST(test_readers_are_not_ordered),
		DETECTOR_TEST(test_writers_are_ordered),
		DETECTOR_TEST(test_whose_memory),
		DETECTOR_TEST(test_word_of_many_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
