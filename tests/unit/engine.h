/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine.h - for tests that open the engine, which leaks 32 bytes each time */
#ifndef CPREC_TESTS_UNIT_ENGINE_H
#define CPREC_TESTS_UNIT_ENGINE_H

const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:g_array_new";
}

#endif
