/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_race_services.c - which functions work on their caller's memory */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replayer/races/race_services.h"

static void assert_kind(enum race_service_kind kind, const char *const *names)
{
	for (; *names; names++)
		if (race_service_of(*names).kind != kind)
			fail_msg("%s: %d", *names,
				 race_service_of(*names).kind);
}

static void caller(void **state)
{
	static const char *const names[] = {
		"memset", "__memmove_sse2_unaligned_erms", "strlen",
		"__strcpy_chk", "stpcpy", "wcslen", "snprintf",
		"__snprintf_chk", "__isoc99_sscanf", "read", "__read", "qsort",
		NULL,
	};

	(void)state;
	assert_kind(SERVICE_CALLER, names);
}

static void streams(void **state)
{
	(void)state;
	assert_int_equal(race_service_of("fgets").kind, SERVICE_STREAM);
	assert_int_equal(race_service_of("fgets").stream, 2);
	assert_int_equal(race_service_of("__fprintf_chk").stream, 0);
	assert_int_equal(race_service_of("_IO_puts").stream, SERVICE_STDOUT);
	assert_int_equal(race_service_of("__isoc99_scanf").stream,
			 SERVICE_STDIN);
}

static void not_thread_safe(void **state)
{
	static const char *const names[] = {
		"strtok", "getenv", "setenv", "asctime", NULL,
	};

	(void)state;
	assert_kind(SERVICE_ALL, names);
}

static void others(void **state)
{
	static const char *const names[] = {
		"pthread_mutex_lock", "malloc", "memalign", "fopen", "exit",
		"reads", "timer_create", "getaddrinfo", "", "__", NULL,
	};

	(void)state;
	assert_kind(SERVICE_NONE, names);
}

static void memory_that_is_given(void **state)
{
	(void)state;
	assert_true(race_service_of("strdup").gives);
	assert_true(race_service_of("__asprintf_chk").gives);
	assert_true(race_service_of("getaddrinfo").gives);
	assert_false(race_service_of("fopen").gives);
	assert_false(race_service_of("snprintf").gives);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(caller),
		cmocka_unit_test(streams),
		cmocka_unit_test(not_thread_safe),
		cmocka_unit_test(others),
		cmocka_unit_test(memory_that_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
