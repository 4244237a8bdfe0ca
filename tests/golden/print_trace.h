/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print_trace.h - all that a trace holds, as text
 *
 * Every chunk is decoded and encoded again, which must give the same bytes.
 *
 * Errors:     those of trace_file.h; what was printed before stays.
 */
#ifndef CPREC_TESTS_GOLDEN_PRINT_TRACE_H
#define CPREC_TESTS_GOLDEN_PRINT_TRACE_H

#include <stdio.h>

struct failure;

int print_trace(FILE *out, const char *path, struct failure *why);

#endif
