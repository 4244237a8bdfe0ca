/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_limits.h - what the guests about setrlimit(2) share
 *
 * Each test is a process of its own, so that it may limit itself.
 */
#ifndef CPREC_TESTS_GUESTS_GUEST_LIMITS_H
#define CPREC_TESTS_GUESTS_GUEST_LIMITS_H

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/guests/guest.h"

static inline void set_limit(int resource, rlim_t soft)
{
	struct rlimit limit;

	CHECK(!getrlimit(resource, &limit));
	limit.rlim_cur = soft;
	CHECK(!setrlimit(resource, &limit));
}

static inline void in_child(const char *name, void (*test)(void), int expected)
{
	pid_t pid;
	int end;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		guest_failures = 0;
		test();
		exit(guest_failures ? 1 : 0);
	}
	end = end_of(pid);
	CHECK(end == expected);
	printf("%s: %d\n", name, end);
}

#endif
