/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest.h - for programs that check themselves
 *
 * CHECK() says which check failed, with its line and errno, in any thread;
 * main() returns guest_end(), which is the status.  What they print is the same
 * each time.
 */
#ifndef CPREC_TESTS_GUESTS_GUEST_H
#define CPREC_TESTS_GUESTS_GUEST_H

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static int guest_checks, guest_failures;

#define CHECK(what)                                                           \
	do {                                                                  \
		int saved_errno_ = errno;                                     \
		__atomic_add_fetch(&guest_checks, 1, __ATOMIC_SEQ_CST);       \
		errno = saved_errno_;                                         \
		if (!(what)) {                                                \
			__atomic_add_fetch(&guest_failures, 1,                \
					   __ATOMIC_SEQ_CST);                 \
			printf("line %d: %s (errno %d)\n", __LINE__, #what,   \
			       errno);                                        \
		}                                                             \
	} while (0)

static inline int guest_end(void)
{
	printf("%d checks, %d failed\n", guest_checks, guest_failures);
	return guest_failures ? 1 : 0;
}

/* The exit code of a child, or 1000 + the signal. */
static inline int end_of(pid_t pid)
{
	int status = 0;
	pid_t got;

	do
		got = waitpid(pid, &status, 0);
	while (got < 0 && errno == EINTR);
	if (got != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   1000 + WTERMSIG(status);
}

static inline void install(int number,
			   void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = handler;
	action.sa_flags = SA_SIGINFO | flags;
	sigemptyset(&action.sa_mask);
	CHECK(!sigaction(number, &action, NULL));
}

#endif
