/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_race_quiet.c - which of a thread's code is quiet */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replayer/races/race_quiet.h"

#define DESCRIPTOR 0x9000u	/* the stack is below */
#define FIRST_SP 0x8f00u	/* at the thread's first function */
#define GLOBAL 0x100000u
#define LIBRARY 0x7000u		/* some code */
#define PROGRAM 0x1000u

static const struct race_descriptor descriptor = { DESCRIPTOR, 0x1000 };
static struct race_quiet thread;
static struct race_quiet_frame returned;

static bool step(uint64_t pc, uint64_t sp)
{
	const struct race_quiet_place place = {
		.pc = pc, .sp = sp, .is_program = pc < LIBRARY,
	};

	return race_quiet_step(&thread, &place, &returned);
}

static bool call(enum race_role role, uint64_t sp, uint64_t back)
{
	const struct race_quiet_frame frame = {
		.kind = QUIET_CALL, .role = role, .sp = sp, .back = back,
		.arg = { 0x2000 },
	};

	return race_quiet_call(&thread, &frame);
}

/* In its first function. */
static void begin(void)
{
	race_quiet_begin(&thread, descriptor);
	step(LIBRARY, FIRST_SP + 0x40);
	assert_true(race_quiet_is_outermost(&thread));
	step(PROGRAM, FIRST_SP);
	assert_false(race_quiet_is_on(&thread));
}

static void ends_are_quiet(void **state)
{
	(void)state;
	begin();
	/* A function of the library that it calls, and one that it jumps to. */
	step(LIBRARY, FIRST_SP - 8);
	assert_false(race_quiet_is_on(&thread));
	step(PROGRAM + 5, FIRST_SP);
	step(LIBRARY, FIRST_SP);
	assert_false(race_quiet_is_on(&thread));
	assert_true(race_quiet_orders(&thread, GLOBAL));
	step(PROGRAM + 10, FIRST_SP);
	/* It returns. */
	step(LIBRARY, FIRST_SP + 8);
	assert_true(race_quiet_is_outermost(&thread));
	assert_false(race_quiet_orders(&thread, GLOBAL));
	assert_true(race_quiet_orders(&thread, DESCRIPTOR + 0x10));
	assert_true(race_quiet_hides(&thread, GLOBAL));
	/* A destructor. */
	step(PROGRAM, FIRST_SP - 0x20);
	assert_true(race_quiet_orders(&thread, GLOBAL));
}

static void other_stacks_end_nothing(void **state)
{
	(void)state;
	begin();
	step(LIBRARY, DESCRIPTOR + 0x100000);
	assert_false(race_quiet_is_on(&thread));
	step(LIBRARY + 1, 0x10);
	assert_false(race_quiet_is_on(&thread));
}

static void own_threads_are_not_quiet(void **state)
{
	(void)state;
	race_quiet_begin(&thread, descriptor);
	step(PROGRAM, FIRST_SP);
	step(LIBRARY, FIRST_SP + 0x20);
	assert_false(race_quiet_is_on(&thread));
}

static void unknown_until_the_program(void **state)
{
	(void)state;
	race_quiet_unknown(&thread);
	step(LIBRARY, FIRST_SP);
	assert_true(race_quiet_hides(&thread, GLOBAL));
	assert_true(race_quiet_orders(&thread, GLOBAL));
	step(PROGRAM, FIRST_SP + 8);
	assert_false(race_quiet_is_on(&thread));
	assert_int_equal(thread.depth, 0);
}

static void calls_return(void **state)
{
	(void)state;
	begin();
	assert_true(call(ROLE_CREATE, 0x8000, PROGRAM + 5));
	assert_false(race_quiet_hides(&thread, 0x2000));
	assert_true(race_quiet_hides(&thread, 0x2008));
	assert_false(race_quiet_orders(&thread, GLOBAL));
	/* Memory is handed out within. */
	assert_true(call(ROLE_NEW, 0x7f00, LIBRARY + 5));
	assert_false(call(ROLE_NEW_ARRAY, 0x7e00, LIBRARY + 9));
	assert_true(race_quiet_is_memory(&thread));
	assert_true(race_quiet_awaits(&thread, LIBRARY + 5));
	assert_true(step(LIBRARY + 5, 0x7f08));
	assert_int_equal(returned.role, ROLE_NEW);
	assert_false(race_quiet_is_memory(&thread));
	assert_false(call(ROLE_CREATE, 0x7f00, LIBRARY + 5));
	assert_true(step(PROGRAM + 5, 0x8008));
	assert_int_equal(returned.role, ROLE_CREATE);
	assert_false(race_quiet_is_on(&thread));
}

/* Where calls leave nothing on the stack, nor take returns anything off. */
static void returns_by_a_register(void **state)
{
	struct race_quiet_place place = {
		.pc = PROGRAM, .sp = FIRST_SP, .back = LIBRARY + 4,
		.is_program = true,
	};

	(void)state;
	race_quiet_begin(&thread, descriptor);
	step(LIBRARY, FIRST_SP);
	race_quiet_step(&thread, &place, &returned);
	assert_false(race_quiet_is_on(&thread));
	/* A function of the library that it jumps to; a call; its end. */
	step(LIBRARY + 0x100, FIRST_SP);
	assert_false(race_quiet_is_on(&thread));
	call(ROLE_NEW, FIRST_SP - 0x10, PROGRAM + 5);
	assert_false(step(LIBRARY + 0x200, FIRST_SP - 0x10));
	assert_true(race_quiet_is_memory(&thread));
	assert_true(step(PROGRAM + 5, FIRST_SP - 0x10));
	assert_false(race_quiet_is_on(&thread));
	step(LIBRARY + 4, FIRST_SP);
	assert_true(race_quiet_is_outermost(&thread));
}

static void jumps_end_calls(void **state)
{
	(void)state;
	begin();
	call(ROLE_CREATE, 0x8000, PROGRAM + 5);
	call(ROLE_NEW, 0x7f00, LIBRARY + 5);
	assert_false(step(PROGRAM + 0x50, 0x8100));
	assert_false(race_quiet_is_on(&thread));
	assert_int_equal(thread.depth, 2);
}

static void handlers_are_not_quiet(void **state)
{
	/* On the same stack, and on others. */
	static const uint64_t stacks[] = { 0x7000, 0x100, 0x200000 };

	(void)state;
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		begin();
		call(ROLE_NEW, 0x8000, PROGRAM + 5);
		race_quiet_signal(&thread);
		assert_true(race_quiet_awaits(&thread, PROGRAM));
		step(PROGRAM, stacks[i]);
		assert_false(race_quiet_is_on(&thread));
		step(LIBRARY, stacks[i] + 8);
		assert_false(race_quiet_is_on(&thread));
		race_quiet_return(&thread);
		assert_true(race_quiet_is_memory(&thread));
		assert_true(step(PROGRAM + 5, 0x8008));
	}
}

static void too_deep_is_not_quiet(void **state)
{
	(void)state;
	begin();
	for (uint64_t i = 1; i < QUIET_FRAMES; i++) {
		call(ROLE_CREATE, 0x8000 - 0x100 * i, LIBRARY + i);
		step(PROGRAM, 0x8000 - 0x100 * i - 0x80);
		assert_false(race_quiet_is_on(&thread));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_are_quiet),
		cmocka_unit_test(other_stacks_end_nothing),
		cmocka_unit_test(own_threads_are_not_quiet),
		cmocka_unit_test(unknown_until_the_program),
		cmocka_unit_test(calls_return),
		cmocka_unit_test(returns_by_a_register),
		cmocka_unit_test(jumps_end_calls),
		cmocka_unit_test(handlers_are_not_quiet),
		cmocka_unit_test(too_deep_is_not_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
