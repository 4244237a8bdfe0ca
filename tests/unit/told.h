/* SPDX-License-Identifier: GPL-2.0-or-later */
/* told.h - writes down what an observer is told, to be compared */
#ifndef CPREC_TESTS_UNIT_TOLD_H
#define CPREC_TESTS_UNIT_TOLD_H

#include <stdio.h>

#include "tests/unit/table.h"

static char told[1 << 21];
static size_t told_size;

static void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void tell(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	told_size += (size_t)vsnprintf(told + told_size,
				       sizeof(told) - told_size, format, args);
	va_end(args);
	assert_true(told_size < sizeof(told));
}

/* All since the last time. */
static inline void assert_told(const char *expected)
{
	assert_string_equal(told, expected);
	told[told_size = 0] = 0;
}

#endif
