/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock.h - what a clock of the host says, in ns
 *
 * Threads:    any.
 */
#ifndef CPREC_FORMATS_CLOCK_H
#define CPREC_FORMATS_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)time.tv_nsec;
}

#endif
