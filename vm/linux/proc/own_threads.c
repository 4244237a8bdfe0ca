/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own_threads.c - threads of cprec's own, which the guest must not find
 *
 * In this process they are those that are none of the guest's.  In another
 * recorded one they are known by their name.  Linux has a thread's folder in
 * two places: /proc/PID/task/TID, and /proc/TID, which no list has.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "formats/trace_file.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/proc/proc_internal.h"
#include "vm/linux/process.h"

/* ------- by number ------- */

static bool is_in_this_process(uint32_t tid)
{
	char path[LINK_ROOM];

	snprintf(path, sizeof(path), "/proc/self/task/%u", tid);
	return !access(path, F_OK);
}

static bool is_named_so(uint32_t tid)
{
	char path[LINK_ROOM], name[32] = "";
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%u/comm", tid);
	in = fopen(path, "re");
	if (!in)
		return false;
	if (!fgets(name, sizeof(name), in))
		*name = '\0';
	fclose(in);
	return !strcmp(name, TRACE_THREAD_NAME "\n");
}

bool proc_hides_thread(struct linux_process *process, uint32_t tid)
{
	/* The first one may have ended before the others: it is still there. */
	if (!tid || tid > INT32_MAX || tid == (uint32_t)getpid() ||
	    thread_find(process, (int)tid))
		return false;
	if (is_in_this_process(tid))
		return true;
	return is_named_so(tid) && is_relative(tid);
}

/* ------- by path ------- */

/* A number that is a whole component of a path, as /proc has them; or 0. */
static uint32_t component_number(const char *at, size_t length)
{
	unsigned long value;
	char *end;

	if (!length || length > 10 || *at < '1' || *at > '9')
		return 0;
	value = strtoul(at, &end, 10);
	return end == at + length && value <= INT32_MAX ? (uint32_t)value : 0;
}

/* Whether the first bytes of a path lead to a file of /proc. */
static bool is_in_proc(int dir, const char *path, size_t length)
{
	char part[PATH_MAX];
	struct statfs about;
	bool is_there;
	int fd;

	memcpy(part, path, length);
	part[length] = '\0';
	fd = openat(dir, part, O_PATH | O_CLOEXEC);
	is_there = fd >= 0 && !fstatfs(fd, &about) &&
		   about.f_type == PROC_SUPER_MAGIC;
	if (fd >= 0)
		close(fd);
	return is_there;
}

void proc_hide(struct linux_process *process, int dir, char *path)
{
	for (const char *at = path; *at; at += strspn(at, "/")) {
		size_t length = strcspn(at, "/");
		uint32_t tid = component_number(at, length);

		at += length;
		if (!tid || !proc_hides_thread(process, tid) ||
		    !is_in_proc(dir, path, (size_t)(at - path)))
			continue;
		snprintf(path, PATH_MAX, "/proc/0/task");
		return;
	}
}

/* ------- by how many there are ------- */

bool proc_is_task_folder(const char *path)
{
	size_t length = strlen(path);

	return !strncmp(path, "/proc/", 6) && length > 11 &&
	       !strcmp(path + length - 5, "/task");
}

/*
 * Whether a thread of a process is not cprec's.  One that has just ended may
 * still be listed: of this process we know better, of others it has no name.
 */
static bool is_shown(struct linux_process *process, uint32_t pid, uint32_t tid)
{
	char path[LINK_ROOM];

	if (pid == (uint32_t)getpid())
		return tid == pid || thread_find(process, (int)tid);
	snprintf(path, sizeof(path), "/proc/%u/comm", tid);
	return !access(path, F_OK) && !proc_hides_thread(process, tid);
}

unsigned proc_count_threads(struct linux_process *process, const char *path)
{
	uint32_t pid = (uint32_t)atoi(path + strlen("/proc/"));
	DIR *folder = opendir(path);
	struct dirent *entry;
	unsigned count = 0;

	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			count += is_shown(process, pid,
					  (uint32_t)atoi(entry->d_name));
	if (folder)
		closedir(folder);
	return count;
}

/* A folder of threads has two links, and one for each; 0: it is no such. */
static unsigned links_of(struct linux_process *process, int fd)
{
	char path[PATH_MAX];
	struct statfs about;

	if (fstatfs(fd, &about) || about.f_type != PROC_SUPER_MAGIC)
		return 0;
	descriptor_path(fd, path, sizeof(path));
	return proc_is_task_folder(path) ?
		       2 + proc_count_threads(process, path) : 0;
}

/* Of other file systems hardly any has folders of no size. */
static bool may_be_task_folder(unsigned mode, uint64_t links, uint64_t size)
{
	return S_ISDIR(mode) && links > 3 && !size;
}

/* The links of what a path leads to; those that the host says, if it is none. */
static unsigned mended(struct linux_process *process, int dir,
		       const char *path, unsigned said)
{
	unsigned links;
	int fd = dir;

	if (path && *path)
		fd = openat(dir, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return said;
	links = links_of(process, fd);
	if (fd != dir)
		close(fd);
	return links ? links : said;
}

void proc_mend_stat(struct linux_process *process, int dir, const char *path,
		    struct stat *about)
{
	if (may_be_task_folder(about->st_mode, about->st_nlink,
			       (uint64_t)about->st_size))
		about->st_nlink = mended(process, dir, path,
					 (unsigned)about->st_nlink);
}

void proc_mend_statx(struct linux_process *process, int dir, const char *path,
		     struct statx *about)
{
	if (may_be_task_folder(about->stx_mode, about->stx_nlink,
			       about->stx_size))
		about->stx_nlink = mended(process, dir, path,
					  about->stx_nlink);
}
