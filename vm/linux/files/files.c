/* SPDX-License-Identifier: GPL-2.0-or-later */
/* files.c - opening, listing and resizing files, where code is needed */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/files/files_internal.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/proc/proc.h"
#include "vm/linux/process.h"

/*
 * Opening "/dev/stdout" and the like makes a descriptor of the same file,
 * whose output belongs to the same stream.  -1 for another path.
 */
static int copied_by_path(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };

	if (!strcmp(path, "/dev/stdout"))
		return 1;
	if (!strcmp(path, "/dev/stderr"))
		return 2;
	for (int i = 0; i < 2; i++) {
		size_t length = strlen(folders[i]);
		char *end;
		long fd;

		if (strncmp(path, folders[i], length))
			continue;
		fd = strtol(path + length, &end, 10);
		if (*end == '\0' && fd >= 0 && fd <= INT_MAX)
			return (int)fd;
	}
	return -1;
}

/* Opening a FIFO waits for its other end: others are to run meanwhile. */
static bool may_wait(int dir, const char *path)
{
	struct stat file;

	return !fstatat(dir, path, &file, 0) && S_ISFIFO(file.st_mode);
}

/* The flags as the host has them. */
static uint64_t host_flags(const struct linux_process *process, uint64_t flags)
{
	const struct linux_abi *abi = process->abi;

	return abi->open_flags ? abi->open_flags(flags) : flags;
}

/* `how`: flags and mode, or the struct open_how of openat2() of this size. */
static int64_t open_path(struct linux_process *process, uint64_t dir,
			 guest_addr path, const uint64_t *how, uint64_t size)
{
	long number = size ? SYS_openat2 : SYS_openat;
	uint64_t call[6] = { dir };
	char text[PATH_MAX];
	int rc = copy_path(process, text, path);
	int64_t result;

	if (rc)
		return rc;
	if (!(how[0] & O_CREAT))
		sysroot_redirect(process, process->abi, text);
	proc_hide(process, (int)dir, text);
	result = made_open(process, (int)dir, text, (int)how[0]);
	if (result != -ENOSYS)
		return result;
	if (!(how[0] & O_NOFOLLOW))
		proc_redirect(process, (int)dir, text);
	call[1] = host_pointer(text);
	call[2] = size ? host_pointer(how) : how[0];
	call[3] = size ? size : how[1];
	result = process->thread_count > 1 && may_wait((int)dir, text) ?
			 host_wait_array(process, number, call) :
			 host_call_array(process, number, call);
	if (result >= 0)
		descriptor_copied(process, (int)result,
				  copied_by_path(text));
	return result;
}

static int64_t open_at(struct linux_process *process, uint64_t dir,
		       guest_addr path, const uint64_t *how, uint64_t size)
{
	bool narrowed = limits_make(process, 1);
	int64_t result = open_path(process, dir, path, how, size);

	limits_made(process, narrowed, result);
	return result;
}

int64_t sys_creat(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	const uint64_t how[2] = { O_CREAT | O_WRONLY | O_TRUNC, arg[1] };

	(void)row;
	return open_at(process, (uint64_t)AT_FDCWD, arg[0], how, 0);
}

int64_t sys_open(struct linux_process *process, const struct linux_call *row,
		 const uint64_t *arg)
{
	const uint64_t how[2] = { host_flags(process, arg[1]), arg[2] };

	(void)row;
	return open_at(process, (uint64_t)AT_FDCWD, arg[0], how, 0);
}

int64_t sys_openat(struct linux_process *process, const struct linux_call *row,
		   const uint64_t *arg)
{
	const uint64_t how[2] = { host_flags(process, arg[2]), arg[3] };

	(void)row;
	return open_at(process, arg[0], arg[1], how, 0);
}

int64_t sys_openat2(struct linux_process *process,
		    const struct linux_call *row, const uint64_t *arg)
{
	uint64_t how[3];	/* flags, mode, resolve */

	(void)row;
	if (arg[3] < sizeof(how))
		return -EINVAL;
	if (arg[3] > sizeof(how))
		return -E2BIG;
	if (struct_in(process, S_OPEN_HOW, how, arg[2]))
		return -EFAULT;
	how[0] = host_flags(process, how[0]);
	return open_at(process, arg[0], arg[1], how, sizeof(how));
}

/* fstat() and the like: of a file made for the guest, the host's /proc file. */
int64_t sys_about(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	uint64_t host[CALL_ARGS];
	int64_t result;
	int fd;

	if (!descriptor_of(process, (int)arg[0])->file)
		return marshal_call(process, row, arg);
	fd = made_open_host(process, (int)arg[0]);
	if (fd < 0)
		return fd;
	memcpy(host, arg, sizeof(host));
	host[0] = (uint64_t)fd;
	result = marshal_call(process, row, host);
	close(fd);
	return result;
}

/* What a link under the sysroot leads to; -ENOSYS if there is none. */
static int64_t read_sysroot_link(const struct linux_process *process,
				 char *path, char *target)
{
	ssize_t length;

	if (!sysroot_redirect_link(process, path))
		return -ENOSYS;
	length = readlink(path, target, PATH_MAX);
	return length < 0 ? -errno : length;
}

/* The result of readlink() on a /proc/PID/exe, or on a link under the sysroot;
 * -ENOSYS for another path. */
static int64_t read_other_link(struct linux_process *process, int dir,
			       guest_addr path, guest_addr buffer,
			       uint64_t room)
{
	char text[PATH_MAX], target[PATH_MAX];
	int64_t length;

	if (copy_path(process, text, path))
		return -ENOSYS;
	proc_hide(process, dir, text);
	length = proc_read_exe(process, dir, text, target);
	if (length == -ENOSYS)
		length = read_sysroot_link(process, text, target);
	if (length < 0)
		return length;
	if ((int)room <= 0)
		return -EINVAL;
	if (length > (int)room)
		length = (int)room;
	if (copy_out(process, buffer, target, (size_t)length))
		return -EFAULT;
	return length;
}

int64_t sys_readlink(struct linux_process *process,
		     const struct linux_call *row, const uint64_t *arg)
{
	int64_t result = read_other_link(process, AT_FDCWD, arg[0], arg[1],
					 arg[2]);

	return result == -ENOSYS ? marshal_call(process, row, arg) : result;
}

int64_t sys_readlinkat(struct linux_process *process,
		       const struct linux_call *row, const uint64_t *arg)
{
	int64_t result = read_other_link(process, (int)arg[0], arg[1], arg[2],
					 arg[3]);

	return result == -ENOSYS ? marshal_call(process, row, arg) : result;
}

/* An entry's d_reclen is where struct dirent and struct dirent64 have it. */
#define RECLEN_AT 16

/* Folders of /proc whose listings have entries of cprec's own. */
enum own_folder { FOLDER_OTHER, FOLDER_FD, FOLDER_TASK };

static bool is_kept(struct linux_process *process, enum own_folder folder,
		    const char *name)
{
	if (*name == '.')
		return true;
	return folder == FOLDER_FD ?
		       !is_hidden(atoi(name)) :
		       !proc_hides_thread(process, (uint32_t)atoi(name));
}

static int64_t drop_own(struct linux_process *process, enum own_folder folder,
			uint8_t *bytes, int64_t size, size_t name_at)
{
	int64_t kept = 0;

	for (int64_t at = 0; at < size;) {
		uint16_t length;
		const char *name = (const char *)bytes + at + name_at;

		memcpy(&length, bytes + at + RECLEN_AT, sizeof(length));
		if (is_kept(process, folder, name)) {
			memmove(bytes + kept, bytes + at, length);
			kept += length;
		}
		at += length;
	}
	return kept;
}

static enum own_folder folder_of(int fd)
{
	char path[128];
	size_t length;

	descriptor_path(fd, path, sizeof(path));
	length = strlen(path);
	if (proc_is_task_folder(path))
		return FOLDER_TASK;
	return !strncmp(path, "/proc/", 6) && length > 9 &&
			       (!strcmp(path + length - 3, "/fd") ||
				!strcmp(path + length - 7, "/fdinfo")) ?
		       FOLDER_FD :
		       FOLDER_OTHER;
}

int64_t sys_getdents(struct linux_process *process,
		     const struct linux_call *row, const uint64_t *arg)
{
	long number = row->host;
	size_t name_at = number == SYS_getdents64 ? 19 : 18;
	enum own_folder folder = folder_of((int)arg[0]);
	uint8_t bytes[4096];
	int64_t result;

	if (folder == FOLDER_OTHER)
		return marshal_call(process, row, arg);
	do {
		uint64_t room = (uint32_t)arg[2];

		if (room > sizeof(bytes))
			room = sizeof(bytes);
		result = host_call(process, number, arg[0],
				   host_pointer(bytes), room);
		if (result <= 0)
			return result;
		result = drop_own(process, folder, bytes, result, name_at);
	} while (!result);
	return copy_out(process, arg[1], bytes, (size_t)result) ? -EFAULT :
								   result;
}

/*
 * The least size that ftruncate() or fallocate() gives a file; 0: not longer.
 */
static uint64_t size_to_be(const struct linux_call *row, const uint64_t *arg)
{
	const uint64_t others = FALLOC_FL_KEEP_SIZE |
				FALLOC_FL_COLLAPSE_RANGE |
				FALLOC_FL_INSERT_RANGE;

	if (row->host == SYS_ftruncate)
		return arg[1];
	if (arg[1] & others || (int64_t)arg[2] < 0 || (int64_t)arg[3] <= 0)
		return 0;
	return arg[2] + arg[3];
}

/* Others may have mapped the file. */
static int64_t change_file(struct linux_process *process,
			   const struct linux_call *row, const uint64_t *arg)
{
	int64_t result;

	memory_enter_files(process->memory);
	result = marshal_call(process, row, arg);
	memory_doubt_shared(process->memory);
	return result;
}

int64_t sys_resize(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	int64_t result;

	if (!limits_allow_size(process, (int)arg[0], size_to_be(row, arg)))
		return -EFBIG;
	result = change_file(process, row, arg);
	if (!result)
		mapped_files_resized(process, (int)arg[0]);
	return result;
}

int64_t sys_truncate(struct linux_process *process,
		     const struct linux_call *row, const uint64_t *arg)
{
	char path[PATH_MAX];

	if (!copy_path(process, path, arg[0]) &&
	    !limits_allow_path_size(process, path, arg[1]))
		return -EFBIG;
	return change_file(process, row, arg);
}

/* The offset is in two registers, and the result in memory. */
int64_t sys_llseek(struct linux_process *process, const struct linux_call *row,
		   const uint64_t *arg)
{
	int64_t result = host_call(process, SYS_lseek, arg[0],
				   arg[1] << 32 | arg[2], arg[4]);

	if (result < 0)
		return result;
	return struct_out(process, row->args[3].type, arg[3], &result);
}
