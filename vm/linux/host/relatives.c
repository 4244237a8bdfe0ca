/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * relatives.c - other processes that cprec executes, and what the host's
 * kernel says of ours
 *
 * Each process that cprec executes has a descriptor of its program's file, all
 * of them under the same number: the others find it there.  It is one that
 * can only be asked about, which hardly any other is.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/linux/host/host.h"
#include "vm/linux/linux.h"
#include "vm/linux/process.h"

enum { PATH_ROOM = 96 };		/* of a path that is made of numbers */

bool is_relative(uint32_t pid)
{
	char link[LINK_ROOM];
	struct stat own, other;

	snprintf(link, sizeof(link), "/proc/%u/exe", pid);
	return !stat("/proc/self/exe", &own) && !stat(link, &other) &&
	       own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

/* ------- the program's file ------- */

void relatives_keep_exe(struct linux_process *process, int program)
{
	int *exe = &process->host->exe;
	char link[LINK_ROOM];
	int fd;

	descriptor_link(program, link);
	fd = open(link, O_PATH | O_CLOEXEC);
	if (fd >= 0 && *exe < 0) {
		*exe = linux_hide_descriptor(fd);
		if (*exe >= 0)
			return;
	} else if (fd >= 0 && dup3(fd, *exe, O_CLOEXEC) >= 0) {
		close(fd);
		return;
	}
	if (fd >= 0)
		close(fd);
	if (*exe >= 0)
		linux_close_hidden(*exe);
	*exe = -1;
}

static bool is_kept_exe(uint32_t pid, int fd)
{
	char line[PATH_ROOM];
	unsigned flags = 0;
	FILE *about;

	snprintf(line, sizeof(line), "/proc/%u/fdinfo/%d", pid, fd);
	about = fopen(line, "re");
	if (!about)
		return false;
	while (fgets(line, sizeof(line), about))
		sscanf(line, "flags: %o", &flags);
	fclose(about);
	return flags & O_PATH;
}

bool relatives_exe(const struct linux_process *process, uint32_t pid,
		   char link[LINK_ROOM])
{
	int exe = process->host->exe;

	if (exe < 0 || !is_relative(pid) || !is_kept_exe(pid, exe))
		return false;
	snprintf(link, LINK_ROOM, "/proc/%u/fd/%d", pid, exe);
	return true;
}

/* ------- the host's files about ourselves ------- */

static void own_path(char path[PATH_ROOM], uint32_t tid, const char *name)
{
	if (tid)
		snprintf(path, PATH_ROOM, "/proc/self/task/%u/%s", tid, name);
	else
		snprintf(path, PATH_ROOM, "/proc/self/%s", name);
}

FILE *host_proc_file(uint32_t tid, const char *name)
{
	char path[PATH_ROOM];

	own_path(path, tid, name);
	return fopen(path, "re");
}

int host_proc_open(uint32_t tid, const char *name)
{
	char path[PATH_ROOM];
	int fd;

	own_path(path, tid, name);
	fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
