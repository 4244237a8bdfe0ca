/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hidden.c - descriptors: which are cprec's own, and where they lead */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "formats/error.h"
#include "vm/linux/host/host.h"
#include "vm/linux/linux.h"

enum { HIDDEN = 16 };		/* descriptors of cprec's own */

/* A program has no use for descriptors above this, so they start here. */
#define HIGH_DESCRIPTOR 4096

static int hidden[HIDDEN];
static int hidden_count;

/* Forgets those that were closed. */
static void tidy_hidden(void)
{
	int kept = 0;

	for (int i = 0; i < hidden_count; i++)
		if (fcntl(hidden[i], F_GETFD) >= 0)
			hidden[kept++] = hidden[i];
	hidden_count = kept;
}

static int first_hidden(void)
{
	struct rlimit limit = { 1024, 1024 };

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= HIGH_DESCRIPTOR + HIDDEN)
		return HIGH_DESCRIPTOR;
	return limit.rlim_cur > 2 * HIDDEN ? (int)limit.rlim_cur - HIDDEN : 0;
}

static int hide_from(int fd, int least)
{
	int copy;

	tidy_hidden();
	if (hidden_count == HIDDEN)
		return ERR_SYSTEM;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, least);
	if (copy < 0)
		return ERR_SYSTEM;
	hidden[hidden_count++] = copy;
	return copy;
}

int linux_hide_descriptor(int fd)
{
	int moved = hide_from(fd, first_hidden());

	if (moved >= 0)
		close(fd);
	else if (hidden_count < HIDDEN)	/* no other one is free */
		hidden[hidden_count++] = moved = fd;
	return moved;
}

int hide_copy(int fd)
{
	return hide_from(fd, first_hidden() + HIDDEN / 2);
}

void hide_here(int fd)
{
	if (hidden_count < HIDDEN)
		hidden[hidden_count++] = fd;
}

void linux_close_hidden(int fd)
{
	close(fd);
	tidy_hidden();
}

bool is_hidden(int fd)
{
	for (int i = 0; i < hidden_count; i++)
		if (hidden[i] == fd)
			return true;
	return false;
}

int next_hidden(unsigned fd)
{
	int next = -1;

	for (int i = 0; i < hidden_count; i++)
		if ((unsigned)hidden[i] >= fd &&
		    (next < 0 || hidden[i] < next))
			next = hidden[i];
	return next;
}

/* ------- all descriptors ------- */

void each_descriptor(void (*visit)(void *context, int fd), void *context)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && fd != dirfd(folder) &&
		    !is_hidden(fd))
			visit(context, fd);
	}
	if (folder)
		closedir(folder);
}

void descriptor_link(int fd, char link[LINK_ROOM])
{
	snprintf(link, LINK_ROOM, "/proc/self/fd/%d", fd);
}

void descriptor_path(int fd, char *path, size_t room)
{
	char link[LINK_ROOM];
	ssize_t length;

	descriptor_link(fd, link);
	length = readlink(link, path, room - 1);
	path[length > 0 ? length : 0] = '\0';
}
