/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_own_threads.c - a process has the threads that it has made and no
 * others, whoever asks and however
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/guests/guest.h"

/* Threads have numbers near that of their process. */
enum { AROUND = 200 };

static char path[128], text[8192];

static const char *file_of(int pid, const char *name)
{
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return path;
}

static const char *slurp(const char *name)
{
	int fd = open(name, O_RDONLY);
	ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[got > 0 ? got : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

static long number_of(const char *lines, const char *name)
{
	const char *at = strstr(lines, name);

	return at ? strtol(at + strlen(name), NULL, 10) : -1;
}

/* ------- how many there are ------- */

static int listed(const char *name)
{
	DIR *folder = opendir(name);
	struct dirent *entry;
	int count = 0;

	while (folder && (entry = readdir(folder)))
		count += *entry->d_name != '.';
	if (folder)
		closedir(folder);
	return count;
}

static long counted_by_stat(const char *name)
{
	const char *at = strrchr(slurp(name), ')');

	for (int field = 2; at && field < 20; field++)
		at = strchr(at + 1, ' ');
	return at ? strtol(at, NULL, 10) : -1;
}

/* All links of a folder: two, and one for each thread. */
static void check_links(int pid, unsigned threads)
{
	const char *name = file_of(pid, "task");
	struct stat about;
	struct statx more;
	char folder[64];
	int fd = open(name, O_RDONLY | O_DIRECTORY), process;

	CHECK(!stat(name, &about) && about.st_nlink == 2 + threads);
	CHECK(!lstat(name, &about) && about.st_nlink == 2 + threads);
	CHECK(!fstat(fd, &about) && about.st_nlink == 2 + threads);
	CHECK(!fstatat(fd, "", &about, AT_EMPTY_PATH) &&
	      about.st_nlink == 2 + threads);
	CHECK(!fstatat(fd, ".", &about, 0) && about.st_nlink == 2 + threads);
	CHECK(!statx(fd, "", AT_EMPTY_PATH, STATX_NLINK, &more) &&
	      more.stx_nlink == 2 + threads);
	snprintf(folder, sizeof(folder), "/proc/%d", pid);
	process = open(folder, O_PATH);
	CHECK(!fstatat(process, "task/", &about, AT_SYMLINK_NOFOLLOW) &&
	      about.st_nlink == 2 + threads);
	CHECK(!fstatat(process, "", &about, AT_EMPTY_PATH) &&
	      about.st_nlink > 2 + threads);
	CHECK(!statx(process, "task", 0, STATX_NLINK, &more) &&
	      more.stx_nlink == 2 + threads);
	close(process);
	close(fd);
}

static void check_counts(int pid, int threads)
{
	char folder[64];

	check_links(pid, (unsigned)threads);
	CHECK(listed(file_of(pid, "task")) == threads);
	CHECK(number_of(slurp(file_of(pid, "status")), "Threads:") == threads);
	CHECK(counted_by_stat(file_of(pid, "stat")) == threads);
	snprintf(folder, sizeof(folder), "task/%d/stat", pid);
	CHECK(counted_by_stat(file_of(pid, folder)) == threads);
	snprintf(folder, sizeof(folder), "task/%d/status", pid);
	CHECK(number_of(slurp(file_of(pid, folder)), "Threads:") == threads);
}

/* ------- which there are ------- */

static bool is_refused(long result, int error)
{
	return result == -1 && errno == error;
}

/* Whether a number is none of that process's threads, for any path. */
static bool is_absent_in(int pid, int tid)
{
	struct stat about;
	char name[64];
	int task = open(file_of(pid, "task"), O_PATH);
	bool is_absent;

	snprintf(name, sizeof(name), "%d", tid);
	is_absent = is_refused(openat(task, name, O_RDONLY), ENOENT) &&
		    is_refused(fstatat(task, name, &about, 0), ENOENT) &&
		    is_refused(faccessat(task, name, F_OK, 0), ENOENT);
	snprintf(name, sizeof(name), "%d/comm", tid);
	is_absent &= is_refused(openat(task, name, O_RDWR), ENOENT);
	snprintf(name, sizeof(name), "../task/./%d//exe", tid);
	is_absent &= is_refused(readlinkat(task, name, text, 1), ENOENT);
	snprintf(name, sizeof(name), "/proc/%d/task/%d/status", pid, tid);
	is_absent &= is_refused(stat(name, &about), ENOENT) &&
		     is_refused(open(name, O_RDONLY), ENOENT);
	close(task);
	return is_absent &&
	       is_refused(syscall(SYS_tgkill, pid, tid, 0), ESRCH);
}

/* Whether it is no thread at all, for any call. */
static bool is_nobody(int tid)
{
	struct sched_param param = { 0 };
	unsigned long set[128];

	errno = 0;
	return is_refused(syscall(SYS_tkill, tid, 0), ESRCH) &&
	       is_refused(kill(tid, 0), ESRCH) &&
	       is_refused(sched_getscheduler(tid), ESRCH) &&
	       is_refused(sched_getparam(tid, &param), ESRCH) &&
	       is_refused(sched_setparam(tid, &param), ESRCH) &&
	       is_refused(syscall(SYS_sched_getaffinity, tid, sizeof(set), set),
			  ESRCH) &&
	       is_refused(getpriority(PRIO_PROCESS, (id_t)tid), ESRCH) &&
	       is_refused(syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, tid),
			  ESRCH) &&
	       is_refused(getpgid(tid), ESRCH);
}

/* What /proc and calls say of a number is the same. */
static bool is_consistent(int pid, int tid)
{
	long process = number_of(slurp(file_of(tid, "status")), "Tgid:");

	return process != pid && is_absent_in(pid, tid) &&
	       (process >= 0 || is_nobody(tid));
}

/* Other processes come and go meanwhile. */
static void check_others_absent(int pid)
{
	int wrong = 0;

	for (int tid = pid - AROUND; tid < pid + AROUND; tid++)
		if (tid > 0 && tid != pid)
			wrong += !is_consistent(pid, tid) &&
				 !is_consistent(pid, tid) &&
				 !is_consistent(pid, tid);
	CHECK(!wrong);
}

int main(void)
{
	int up[2], down[2];
	char byte = 0;
	pid_t child;

	check_counts(getpid(), 1);
	check_others_absent(getpid());
	CHECK(!pipe(up) && !pipe(down));
	fflush(stdout);
	child = fork();
	if (!child) {
		close(down[1]);
		if (write(up[1], &byte, 1) != 1)
			_exit(1);
		_exit(read(down[0], &byte, 1) ? 2 : 5);
	}
	close(down[0]);
	CHECK(read(up[0], &byte, 1) == 1);
	check_counts(getpid(), 1);
	check_counts(child, 1);
	check_others_absent(child);
	close(down[1]);
	CHECK(end_of(child) == 5);
	return guest_end();
}
