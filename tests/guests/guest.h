/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest.h - for programs that check themselves
 *
 * CHECK() says which check failed, with its line and errno; main() returns
 * guest_end(), which is the status.  What they print is the same each time.
 */
#ifndef CPREC_TESTS_GUESTS_GUEST_H
#define CPREC_TESTS_GUESTS_GUEST_H

#include <errno.h>
#include <stdio.h>

static int guest_checks, guest_failures;

#define CHECK(what)                                                           \
	do {                                                                  \
		int saved_errno_ = errno;                                     \
		guest_checks++;                                               \
		if (!(what)) {                                                \
			guest_failures++;                                     \
			printf("line %d: %s (errno %d)\n", __LINE__, #what,   \
			       saved_errno_);                                 \
		}                                                             \
	} while (0)

static inline int guest_end(void)
{
	printf("%d checks, %d failed\n", guest_checks, guest_failures);
	return guest_failures ? 1 : 0;
}

#endif
