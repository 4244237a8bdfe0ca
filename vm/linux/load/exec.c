/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exec.c - execve(2): another program in the same process
 *
 * All that can be refused is looked at while the old program is still there.
 * Then everything is unmapped, and the new program is loaded by the code that
 * loaded the first.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/array.h"
#include "formats/error.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/files/files.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/linux.h"
#include "vm/linux/load/image_internal.h"
#include "vm/linux/load/load_internal.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/proc/proc.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals.h"
#include "vm/linux/tasks/tasks.h"

/* As Linux has it: MAX_ARG_STRLEN. */
#define STRING_MOST (32 * GUEST_PAGE)
/* Of all strings and pointers: what stack_fill() has room for. */
#define ARGUMENTS_LEAST (128u << 10)
#define ARGUMENTS_MOST (7u << 19)

/* ------- arguments ------- */

struct strings {
	char **at;		/* NULL-ended */
	size_t count, room;
};

static void strings_release(struct strings *strings)
{
	for (size_t i = 0; i < strings->count; i++)
		free(strings->at[i]);
	free(strings->at);
}

static int strings_add(struct strings *strings, const char *text)
{
	if (array_reserve(strings->at, strings->count + 2, strings->room))
		return -ENOMEM;
	strings->at[strings->count] = strdup(text);
	if (!strings->at[strings->count])
		return -ENOMEM;
	strings->at[++strings->count] = NULL;
	return 0;
}

static uint64_t arguments_most(const struct linux_process *process)
{
	uint64_t most = limit_of(process, LIMIT_STACK) / 4;

	if (most > ARGUMENTS_MOST)
		most = ARGUMENTS_MOST;
	return most < ARGUMENTS_LEAST ? ARGUMENTS_LEAST : most;
}

/* One string; `*left` is what all that follow may still take. */
static int copy_string(struct linux_process *process, struct strings *out,
		       guest_addr from, char *text, uint64_t *left)
{
	uint64_t size;
	int rc = memory_read_string(process->memory, from, text, STRING_MOST);

	if (rc)
		return rc == ERR_TRUNCATED ? -E2BIG : -EFAULT;
	size = strlen(text) + 1 + process->abi->word;
	if (size > *left)
		return -E2BIG;
	*left -= size;
	return strings_add(out, text);
}

static int copy_vector(struct linux_process *process, struct strings *out,
		       guest_addr vector, uint64_t *left)
{
	char *text = malloc(STRING_MOST);
	int rc = text ? 0 : -ENOMEM;

	while (!rc && vector) {
		uint64_t pointer;

		rc = word_in(process, &pointer, vector);
		if (rc || !pointer)
			break;
		rc = copy_string(process, out, pointer, text, left);
		vector += process->abi->word;
	}
	free(text);
	return rc;
}

/* ------- whether it can be executed ------- */

static int open_file(const char *path)
{
	struct stat file;
	int fd;

	if (stat(path, &file))
		return -errno;
	if (!S_ISREG(file.st_mode) ||
	    faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
		return -EACCES;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int check_elf(const struct linux_abi *abi, int fd, const char *path,
		     char **interpreter)
{
	struct image image = { 0 };
	struct failure why;
	int rc = image_read(&image, abi, fd, path, path, &why);

	if (!rc && image.interpreter) {
		*interpreter = strdup(image.interpreter);
		rc = *interpreter ? 0 : ERR_NO_MEMORY;
	}
	image_release(&image);
	if (!rc)
		return 0;
	return rc == ERR_NO_MEMORY ? -ENOMEM : -ENOEXEC;
}

/* The program that starts programs: the dynamic linker. */
static int check_linker(const struct linux_process *process,
			const struct linux_abi *abi, const char *name)
{
	char *another = NULL, path[PATH_MAX];
	int fd, rc;

	snprintf(path, sizeof(path), "%s", name);
	sysroot_redirect(process, abi, path);
	fd = open_file(path);
	if (fd < 0)
		return fd;
	rc = check_elf(abi, fd, name, &another);
	close(fd);
	free(another);
	return rc == -ENOEXEC ? -ELIBBAD : rc;
}

static int check_binary(const struct linux_process *process, int fd,
			const char *path)
{
	const struct linux_abi *abi = program_abi(fd);
	char *linker = NULL;
	int rc = abi ? check_elf(abi, fd, path, &linker) : -ENOEXEC;

	if (!rc && linker)
		rc = check_linker(process, abi, linker);
	free(linker);
	return rc;
}

/* The errno of an exec that cannot succeed, or 0. */
static int check_program(const struct linux_process *process,
			 const char *name)
{
	char path[PATH_MAX], next[PATH_MAX];
	struct script script;

	snprintf(path, sizeof(path), "%s", name);
	sysroot_redirect(process, process->abi, path);
	for (int i = 0; i <= SCRIPTS_MOST; i++) {
		int fd = open_file(path), rc;

		if (fd < 0)
			return fd;
		rc = script_read(&script, fd);
		if (rc <= 0)
			rc = check_binary(process, fd, path);
		close(fd);
		if (rc <= 0)
			return rc;
		if (!*script.interpreter)
			return -ENOEXEC;
		interpreter_place(next, process->sysroot, path, process,
				  script.interpreter);
		memcpy(path, next, sizeof(path));
	}
	return -ELOOP;
}

/* ------- the change ------- */

/* Timers of timer_create() end; the host's kernel has the list. */
static void delete_timers(void)
{
	FILE *list = fopen("/proc/self/timers", "re");
	char line[200];
	int ids[256], count = 0;

	while (list && count < 256 && fgets(line, sizeof(line), list))
		if (!strncmp(line, "ID:", 3))
			ids[count++] = atoi(line + 3);
	if (list)
		fclose(list);
	while (count-- > 0)
		syscall(SYS_timer_delete, ids[count]);
}

static void unmap_all(struct linux_process *process)
{
	size_t count;
	const struct region *regions;

	while ((regions = memory_regions(process->memory, &count)) && count)
		if (memory_unmap(process->memory, regions[0].start,
				 regions[0].end - regions[0].start))
			break;
	eof_tail_release(process);
	mapped_files_release(process);
	locks_forget(process);
	marks_drop(&process->space->growing);
}

/* The process gets the processor of the program's kind, if it has another. */
static int change_machine(struct linux_process *process,
			  const struct linux_abi *abi, struct failure *why)
{
	const struct linux_observer *observer = process->observer;
	struct linux_result last;
	int rc;

	if (abi == process->abi)
		return 0;
	rc = vm_become(process->vm, (enum arch)abi->arch, why);
	if (rc)
		return rc;
	process->abi = abi;
	process->was_threaded |= process->next_index > 1;
	process->thread->index = 0;
	process->next_index = 1;
	process_report(process, &last, process->thread->number, 0);
	last.outcome = LINUX_BECAME;
	if (observer && observer->becomes)
		observer->becomes(observer->context, &last);
	return 0;
}

/* From here on there is no way back: a failure ends the process. */
static void change(struct linux_process *process,
		   const struct program *program,
		   const struct linux_options *options)
{
	const struct linux_abi *before = process->abi;
	struct failure why;
	int rc;

	threads_let_go(process);
	threads_end_others(process);
	rc = change_machine(process, program_abi(program->fd), &why);
	process->thread->task->robust_list = 0;
	delete_timers();
	peaks_before_exec(process);
	unmap_all(process);
	memset(&process->space->layout, 0, sizeof(process->space->layout));
	signals_drop_all(process);
	if (process->abi == before) {
		vm_forget_code(process->vm);
		vm_set_registers(process->vm, &process->loaded->first);
	}
	process->thread->changed_registers = true;
	if (!rc)
		rc = load_program(process, program, options, &why);
	if (!rc) {
		if (process->abi != before)
			vm_registers(process->vm, &process->loaded->first);
		return;
	}
	/* Linux would not have started it either, and has no word for it. */
	if (rc != ERR_INPUT)
		notice(process, NOTICE_LACK, "%s", why.text);
	process->thread->outcome = LINUX_KILLED;
	process->thread->status = SIGSEGV;
}

static void tell_executed(struct linux_process *process, char *const *argv)
{
	const struct linux_observer *observer = process->observer;

	if (process->thread->outcome == LINUX_GOES_ON && observer &&
	    observer->executed)
		observer->executed(observer->context, argv);
}

static int64_t execute(struct linux_process *process, const char *name,
		       char *const *argv, char *const *envp)
{
	const struct linux_options options = {
		.envp = envp,
		.aslr = process->loaded->aslr,
	};
	struct program program = { .fd = -1 };
	struct failure why;
	int rc = check_program(process, name);

	if (!rc) {
		rc = program_at(&program, process, name, argv, &why);
		if (!rc) {
			vfork_send_writes(process);
			change(process, &program, &options);
		} else {
			rc = rc == ERR_NO_MEMORY ? -ENOMEM : -ENOEXEC;
		}
	}
	program_release(&program);
	if (rc)
		return rc;
	close_on_exec(process);
	descriptors_age(process);
	vfork_release_parent(process);
	tell_executed(process, argv);
	return 0;
}

static int64_t copy_and_execute(struct linux_process *process, char *path,
				guest_addr argv, guest_addr envp)
{
	struct strings arguments = { 0 }, environment = { 0 };
	uint64_t left = arguments_most(process);
	int64_t rc = copy_vector(process, &arguments, argv, &left);

	if (!rc)
		rc = copy_vector(process, &environment, envp, &left);
	if (!rc && !arguments.count)	/* as Linux does */
		rc = strings_add(&arguments, "");
	if (!rc) {
		proc_redirect(process, AT_FDCWD, path);
		rc = execute(process, path, arguments.at, environment.at);
	}
	strings_release(&arguments);
	strings_release(&environment);
	return rc;
}

/* ------- calls ------- */

int64_t sys_execve(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	char path[PATH_MAX];
	int rc = copy_path(process, path, arg[0]);

	(void)row;
	if (rc)
		return rc;
	if (!*path)
		return -ENOENT;
	return copy_and_execute(process, path, arg[1], arg[2]);
}

/* What is relative to a descriptor, by the name that Linux gives it. */
static int name_from(int dir, const char *name, uint64_t flags, char *path)
{
	int size;

	if (!*name && !(flags & AT_EMPTY_PATH))
		return -ENOENT;
	if (*name == '/' || (dir == AT_FDCWD && *name))
		size = snprintf(path, PATH_MAX, "%s", name);
	else if (dir == AT_FDCWD)
		return -EACCES;		/* the working directory itself */
	else if (fcntl(dir, F_GETFD) < 0)
		return -EBADF;
	else
		size = snprintf(path, PATH_MAX, "/dev/fd/%d%s%s", dir,
				*name ? "/" : "", name);
	return size < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int64_t sys_execveat(struct linux_process *process,
		     const struct linux_call *row, const uint64_t *arg)
{
	char name[PATH_MAX], path[PATH_MAX];
	struct stat file;
	int rc = copy_path(process, name, arg[1]);

	(void)row;
	if (arg[4] & ~(uint64_t)(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
		return -EINVAL;
	if (!rc)
		rc = name_from((int)arg[0], name, arg[4], path);
	if (rc)
		return rc;
	if (*name && arg[4] & AT_SYMLINK_NOFOLLOW && !lstat(path, &file) &&
	    S_ISLNK(file.st_mode))
		return -ELOOP;
	return copy_and_execute(process, path, arg[2], arg[3]);
}
