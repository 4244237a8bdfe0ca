/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace_lock.c - see trace_lock.h */
#include "formats/trace_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/*
 * Names are changed in a moment; others than cprec may lock folders for long.
 * So nobody waits for more than this many milliseconds.
 */
#define NAMES_NAPS 1000

void trace_lock(int fd)
{
	flock(fd, LOCK_EX | LOCK_NB);
}

bool trace_is_locked(int fd)
{
	/* Not exclusive: two who look at once must not see each other. */
	if (flock(fd, LOCK_SH | LOCK_NB))
		return errno == EWOULDBLOCK;
	flock(fd, LOCK_UN);
	return false;
}

bool trace_is_locked_at(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is_locked = fd >= 0 && trace_is_locked(fd);

	if (fd >= 0)
		close(fd);
	return is_locked;
}

int trace_lock_names(const char *path)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	const char *name = strrchr(path, '/');
	char *folder = name ? strndup(path, (size_t)(name - path) + 1) :
			      strdup(".");
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	free(folder);
	if (fd < 0)
		return -1;
	for (int i = 0; i < NAMES_NAPS; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
			return fd;
		nanosleep(&nap, NULL);
	}
	return fd;
}
