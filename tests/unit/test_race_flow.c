/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_race_flow.c - which stores are the second half of a change */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replayer/races/race_flow.h"

#define WORD UINT64_C(0x1000)
#define OTHER UINT64_C(0x2000)
#define STACK UINT64_C(0x7000)
#define LOCAL (STACK + 16)

#define RAX 1u
#define RBX 2u

static struct race_flow flow;

static int setup(void **state)
{
	(void)state;
	flow = (struct race_flow) { 0 };
	return 0;
}

static void step(uint32_t reads, uint32_t writes)
{
	race_flow_settle(&flow, STACK);
	race_flow_settle(&flow, STACK);	/* to no avail */
	if (race_flow_is_on(&flow))
		race_flow_step(&flow, (struct vm_flow) { reads, writes });
}

/* mov WORD, %rax */
static void load_word(void)
{
	step(0, RAX);
	race_flow_follow(&flow, (struct vm_flow) { 0, RAX }, WORD, 4);
}

static bool store(uint32_t from, uint64_t addr, uint64_t size)
{
	step(from, 0);
	return race_flow_store(&flow, addr, size, STACK);
}

static void test_direct(void **state)
{
	(void)state;
	load_word();
	assert_true(store(RAX, WORD, 4));
	assert_true(store(RAX, WORD + 2, 1));
	assert_false(store(RAX, WORD + 4, 4));
	assert_false(store(RBX, WORD, 4));
}

static void test_one_instruction(void **state)
{
	(void)state;
	race_flow_follow(&flow, (struct vm_flow) { 0, 0 }, WORD, 4);
	assert_true(race_flow_store(&flow, WORD, 4, STACK));
}

static void test_late_by_another_register(void **state)
{
	(void)state;
	load_word();
	step(RAX, RBX);		/* lea 1(%rax), %rbx */
	step(0, RAX);		/* mov $0, %eax */
	for (int i = 0; i < 1000; i++)
		step(RBX, RBX);
	assert_false(store(RAX, WORD, 4));
	assert_true(store(RBX, WORD, 4));
}

static void test_by_the_stack(void **state)
{
	(void)state;
	load_word();
	assert_false(store(RAX, LOCAL, 4));
	step(0, RAX);
	assert_false(store(RAX, WORD, 4));
	step(0, RBX);		/* mov LOCAL, %ebx */
	race_flow_load(&flow, LOCAL, 4);
	assert_true(store(RBX, WORD, 4));
}

static void test_replaced_on_the_stack(void **state)
{
	(void)state;
	load_word();
	store(RAX, LOCAL, 4);
	step(0, RAX);
	store(0, LOCAL, 8);
	step(0, RBX);
	race_flow_load(&flow, LOCAL, 4);
	assert_false(store(RBX, WORD, 4));
	step(0, 0);
	assert_false(race_flow_is_on(&flow));
}

static void test_values_elsewhere_are_not_followed(void **state)
{
	(void)state;
	load_word();
	store(RAX, OTHER, 4);
	step(0, RBX);
	race_flow_load(&flow, OTHER, 4);
	assert_false(store(RBX, WORD, 4));
}

static void test_indivisible_change_ends_it(void **state)
{
	(void)state;
	load_word();
	step(RAX, RBX);
	step(0, 0);
	race_flow_end(&flow, WORD, 4);
	assert_false(store(RAX, WORD, 4));
	assert_false(store(RBX, WORD, 4));
}

static void test_two_words(void **state)
{
	(void)state;
	load_word();
	step(0, RBX);
	race_flow_follow(&flow, (struct vm_flow) { 0, RBX }, OTHER, 8);
	assert_false(store(RBX, WORD, 4));
	assert_true(store(RBX, OTHER, 8));
	assert_true(store(RAX, WORD, 4));
}

static void test_very_many_loads(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		step(RBX, RBX);
		race_flow_follow(&flow, (struct vm_flow) { RBX, RBX },
				 OTHER + i * 8, 8);
	}
	load_word();
	assert_true(store(RAX, WORD, 4));
}

#define FLOW_TEST(test) cmocka_unit_test_setup(test, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLOW_TEST(test_direct),
		FLOW_TEST(test_one_instruction),
		FLOW_TEST(test_late_by_another_register),
		FLOW_TEST(test_by_the_stack),
		FLOW_TEST(test_replaced_on_the_stack),
		FLOW_TEST(test_values_elsewhere_are_not_followed),
		FLOW_TEST(test_indivisible_change_ends_it),
		FLOW_TEST(test_two_words),
		FLOW_TEST(test_very_many_loads),
	};

	return cmocka_run_group_tests_name("race_flow", tests, NULL, NULL);
}
