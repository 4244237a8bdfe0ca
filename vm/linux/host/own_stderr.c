/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own_stderr.c - where cprec's own messages go
 *
 * Descriptor 2 is the guest's, who may close it, and open a file that gets its
 * number.  So cprec has a hidden copy of what was standard error at the start.
 *
 * Whoever reads the other end of a pipe waits until all that have it open have
 * closed it.  The process that was started as cprec keeps its copy to its end.
 * Those that it forks may live on as daemons: they close theirs as soon as
 * their guest has none, and ask the first process for a copy, while there is
 * one, when they have something to say.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "vm/linux/host/host.h"
#include "vm/linux/linux.h"

#include "formats/error.h"

static struct {
	int fd;			/* where to; -1: nowhere */
	int number;		/* what `fd` is in the first process */
	pid_t first;
	int first_fd;		/* a pidfd, hidden; -1: there is none */
} own = { STDERR_FILENO, -1, 0, -1 };

void linux_keep_stderr(void)
{
	own.first = getpid();
	if (fcntl(STDERR_FILENO, F_GETFD) < 0)
		own.fd = -1;
}

void own_stderr_hide(void)
{
	int pidfd;

	if (!own.first || own.fd < 0)
		return;
	own.number = hide_copy(STDERR_FILENO);
	if (own.number < 0)
		return;			/* the guest's must do */
	own.fd = own.number;
	give_up_to(own.fd);
	pidfd = (int)syscall(SYS_pidfd_open, own.first, 0);
	if (pidfd < 0)
		return;
	own.first_fd = hide_copy(pidfd);
	close(pidfd);
}

/* ------- in children ------- */

void own_stderr_review(bool guest_has_stderr)
{
	if (own.number < 0 || own.fd < 0 || getpid() == own.first ||
	    guest_has_stderr)
		return;
	linux_close_hidden(own.fd);
	own.fd = -1;
}

static bool has_first_ended(void)
{
	struct pollfd first = { .fd = own.first_fd, .events = POLLIN };

	return poll(&first, 1, 0) != 0;
}

/* Where the first process may be looked into, but not asked. */
static int open_anew(void)
{
	char link[64];
	int fd;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)own.first,
		 own.number);
	/* A pipe that nobody reads any more is not to be waited for. */
	fd = open(link, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -1;
	fcntl(fd, F_SETFL, O_APPEND);
	if (!has_first_ended())
		return fd;
	close(fd);			/* it may be another one's */
	return -1;
}

/* What the first process has; -1 if it has ended, or does not let us. */
static int borrow(void)
{
	int fd;

	if (own.first_fd < 0)
		return -1;
	fd = (int)syscall(SYS_pidfd_getfd, own.first_fd, own.number, 0);
	return fd < 0 ? open_anew() : fd;
}

/* ------- messages ------- */

static void write_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t done = write(fd, text, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		text += done;
		size -= (size_t)done;
	}
}

/* The guest gets no SIGPIPE for what it did not write. */
void linux_write_stderr(const char *text, size_t size)
{
	static const struct timespec no_time;
	sigset_t pipe, before, pending;
	int borrowed = own.fd < 0 ? borrow() : -1;
	int fd = own.fd < 0 ? borrowed : own.fd;

	if (fd < 0)
		return;
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	write_all(fd, text, size);
	if (!sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe, NULL, &no_time);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (borrowed >= 0)
		close(borrowed);
}
