/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - the rows of a table as named cmocka tests
 *
 * A row is a struct whose first member is `const char *name`.  Each row
 * becomes a test of its own, which gets the row as `*state`.
 */
#ifndef CPREC_TESTS_UNIT_TABLE_H
#define CPREC_TESTS_UNIT_TABLE_H

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct test_list {
	struct CMUnitTest tests[400];
	size_t count;
};

static inline void add_test(struct test_list *list, const char *name,
			    CMUnitTestFunction test, const void *row)
{
	assert_true(list->count < COUNT(list->tests));
	list->tests[list->count++] = (struct CMUnitTest){
		.name = name,
		.test_func = test,
		.initial_state = (void *)(uintptr_t)row,
	};
}

#define add_rows(list, rows, test)                                           \
	do {                                                                 \
		for (size_t row_ = 0; row_ < COUNT(rows); row_++)            \
			add_test(list, (rows)[row_].name, test,              \
				 &(rows)[row_]);                             \
	} while (0)

static inline int run_list(const char *name, const struct test_list *list)
{
	return _cmocka_run_group_tests(name, list->tests, list->count, NULL,
				       NULL);
}

#endif
