/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.c - RLIMIT_FSIZE
 *
 * As Linux's generic_write_check_limits() and inode_newsize_ok() have it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "vm/linux/limits/limits.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals.h"

/* Regular files, but what is written to them goes to the kernel: no limit. */
static bool is_kernels(int fd)
{
	struct statfs about;

	if (fstatfs(fd, &about))
		return false;
	switch (about.f_type) {
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case DEBUGFS_MAGIC:
	case TRACEFS_MAGIC:
	case SECURITYFS_MAGIC:
		return true;
	default:
		return false;
	}
}

/* Whether the limit counts for what is written here; `flags`: of F_GETFL. */
static bool is_limited(const struct linux_process *process, int fd,
		       struct stat *file, int *flags)
{
	if (limit_of(process, LIMIT_FILE) == UNLIMITED)
		return false;
	*flags = fcntl(fd, F_GETFL);
	return *flags >= 0 && !(*flags & O_PATH) &&
	       (*flags & O_ACCMODE) != O_RDONLY && !fstat(fd, file) &&
	       S_ISREG(file->st_mode) && !is_kernels(fd);
}

uint64_t limits_file_room(struct linux_process *process, int fd,
			  int64_t offset, bool appends)
{
	uint64_t limit = limit_of(process, LIMIT_FILE);
	struct stat file;
	int flags;

	if (!is_limited(process, fd, &file, &flags))
		return UNLIMITED;
	if (appends || flags & O_APPEND)
		offset = file.st_size;
	else if (offset < 0)
		offset = lseek(fd, 0, SEEK_CUR);
	if (offset < 0)
		return UNLIMITED;
	return (uint64_t)offset < limit ? limit - (uint64_t)offset : 0;
}

int64_t limits_file_exceeded(void)
{
	siginfo_t info = { .si_signo = SIGXFSZ, .si_code = SI_USER };

	info.si_pid = getpid();
	info.si_uid = getuid();
	signals_queue_again(SIGXFSZ, &info);
	return -EFBIG;
}

static bool allow(struct linux_process *process, const struct stat *file,
		  uint64_t size)
{
	/* A negative one is refused for that, and one that shrinks never. */
	if (size > INT64_MAX || size <= (uint64_t)file->st_size ||
	    size <= limit_of(process, LIMIT_FILE))
		return true;
	limits_file_exceeded();
	return false;
}

bool limits_allow_size(struct linux_process *process, int fd, uint64_t size)
{
	struct stat file;
	int flags;

	return !is_limited(process, fd, &file, &flags) ||
	       allow(process, &file, size);
}

bool limits_allow_path_size(struct linux_process *process, const char *path,
			    uint64_t size)
{
	struct stat file;

	if (limit_of(process, LIMIT_FILE) == UNLIMITED || stat(path, &file) ||
	    !S_ISREG(file.st_mode) ||
	    faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
		return true;
	return allow(process, &file, size);
}
