/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc.c - which files of /proc are made for the guest */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/proc/proc_internal.h"
#include "vm/linux/process.h"

/* ------- paths ------- */

/* A file in the folder of a process, or of one of its threads. */
struct proc_place {
	char path[128];	  /* as the host's kernel has it */
	const char *name; /* in that folder; part of `path` */
	uint32_t pid;
	uint32_t tid; /* 0 if it is the process's */
};

static bool ends_with(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return !strcmp(slash ? slash + 1 : path, name);
}

/*
 * Skips a word and the number and slash behind it; NULL if they are not there.
 */
static const char *skip(const char *at, const char *word, uint32_t *number)
{
	size_t length = strlen(word);
	unsigned long value;
	char *end;

	if (strncmp(at, word, length) != 0)
		return NULL;
	value = strtoul(at + length, &end, 10);
	if (end == at + length || *end != '/' || value > INT32_MAX)
		return NULL;
	*number = (uint32_t)value;
	return end + 1;
}

static bool parse_place(struct proc_place *place)
{
	const char *task;

	place->name = skip(place->path, "/proc/", &place->pid);
	if (!place->name)
		return false;
	place->tid = 0;
	task = skip(place->name, "task/", &place->tid);
	if (task)
		place->name = task;
	return true;
}

/* Where a path from `dir` leads, if it leads to such a file. */
static bool locate(struct proc_place *place, int dir, const char *path)
{
	int fd = openat(dir, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return false;
	descriptor_path(fd, place->path, sizeof(place->path));
	close(fd);
	return parse_place(place);
}

/* Threads have folders beside those of processes, too, which no list has. */
static bool is_own(struct linux_process *process, struct proc_place *place)
{
	if (place->pid == (uint32_t)getpid())
		return true;
	if (!thread_find(process, (int)place->pid))
		return false;
	if (!place->tid)
		place->tid = place->pid;
	return true;
}

/* ------- the program's file ------- */

/* Where a path to such a link leads for the guest; false if it is none. */
static bool find_exe(struct linux_process *process, int dir, const char *path,
		     char link[LINK_ROOM])
{
	struct proc_place place;

	if (!ends_with(path, "exe") || !locate(&place, dir, path) ||
	    strcmp(place.name, "exe") != 0)
		return false;
	*link = '\0';
	if (is_own(process, &place))
		return true;
	return relatives_exe(process, place.pid, link);
}

int64_t proc_read_exe(struct linux_process *process, int dir,
		      const char *path, char text[PATH_MAX])
{
	char link[LINK_ROOM];
	ssize_t length;

	if (!find_exe(process, dir, path, link))
		return -ENOSYS;
	if (*link) {
		length = readlink(link, text, PATH_MAX);
		return length < 0 ? -errno : length;
	}
	length = (ssize_t)strnlen(process->program, PATH_MAX);
	memcpy(text, process->program, (size_t)length);
	return length;
}

void proc_redirect(struct linux_process *process, int dir, char *path)
{
	char link[LINK_ROOM];

	if (find_exe(process, dir, path, link))
		snprintf(path, PATH_MAX, "%s",
			 *link ? link : process->program);
}

/* ------- contents without a file of their own ------- */

static void print_memory(struct linux_process *process, FILE *out,
			 guest_addr start, guest_addr end)
{
	uint8_t bytes[BOUNCE];

	while (start < end) {
		size_t part = end - start;

		if (part > sizeof(bytes))
			part = sizeof(bytes);
		if (memory_read(process->memory, start, bytes, part))
			return;
		fwrite(bytes, 1, part, out);
		start += part;
	}
}

static void print_cmdline(struct linux_process *process, uint32_t tid,
			  FILE *out)
{
	(void)tid;
	print_memory(process, out, process->space->layout.args_start,
		     process->space->layout.args_end);
}

static void print_environ(struct linux_process *process, uint32_t tid,
			  FILE *out)
{
	(void)tid;
	print_memory(process, out, process->space->layout.args_end,
		     process->space->layout.env_end);
}

static void print_auxv(struct linux_process *process, uint32_t tid, FILE *out)
{
	(void)tid;
	fwrite(process->space->layout.auxv, 1,
	       process->space->layout.auxv_bytes, out);
}

/* The guest has one processor; see sys_sched_getaffinity(). */
static void print_processors(struct linux_process *process, uint32_t tid,
			     FILE *out)
{
	(void)tid;
	fprintf(out, "%u\n", guest_processor(process));
}

static void print_cpuinfo(struct linux_process *process, uint32_t tid,
			  FILE *out)
{
	(void)tid;
	process->abi->print_cpuinfo(out, guest_processor(process));
}

/* What is made for the guest of the files that are no process's. */
static const struct proc_file system_files[] = {
	{ "cpuinfo", .path = "/proc/cpuinfo", .print = print_cpuinfo },
	{ "online", .path = "/sys/devices/system/cpu/online",
	  .print = print_processors },
};

/*
 * What is made for the guest, and what is kept from it (no function), because
 * it would show or change cprec's own memory or registers.
 */
static const struct proc_file proc_files[] = {
	{ "maps", .print = proc_print_maps, .is_memory = true },
	{ "smaps", .print = proc_print_smaps, .is_memory = true },
	{ "smaps_rollup", .print = proc_print_rollup, .is_memory = true },
	{ "cmdline", .print = print_cmdline },
	{ "environ", .print = print_environ },
	{ "auxv", .print = print_auxv },
	{ "stat", .print = proc_print_stat },
	{ "statm", .print = proc_print_statm },
	{ "status", .print = status_print },
	{ "limits", .print = limits_print },
	{ "mem", .move = proc_move_mem, .is_memory = true,
	  .is_writable = true },
	{ "pagemap", .move = proc_move_pagemap, .is_memory = true },
	{ "numa_maps", .is_memory = true },
	{ "syscall", .is_memory = true },
	{ "stack", .is_memory = true },
	{ "map_files", .is_memory = true },
	{ "clear_refs", .is_memory = true },
};

/* And of another recorded process; the second of each is of one thread. */
static const struct proc_file relatives_files[][2] = {
	{ { "status", .print = relative_print_status, .is_relatives = true },
	  { "status", .print = relative_print_status, .is_relatives = true } },
	{ { "stat", .print = relative_print_stat, .is_relatives = true },
	  { "stat", .print = relative_print_thread_stat,
	    .is_relatives = true } },
};

/* However the path leads there. */
static const struct proc_file *find_system_file(int dir, const char *path)
{
	const size_t count = sizeof(system_files) / sizeof(system_files[0]);
	struct stat asked, file;

	for (size_t i = 0; i < count; i++) {
		const struct proc_file *found = &system_files[i];

		if (ends_with(path, found->name) &&
		    !fstatat(dir, path, &asked, 0) &&
		    !stat(found->path, &file) && asked.st_dev == file.st_dev &&
		    asked.st_ino == file.st_ino)
			return found;
	}
	return NULL;
}

/* By its name alone, which is all there is to most paths. */
static const struct proc_file *find_name(const char *path)
{
	const struct proc_file *file = proc_files;
	const struct proc_file *end =
		file + sizeof(proc_files) / sizeof(proc_files[0]);

	while (file < end && !ends_with(path, file->name))
		file++;
	return file < end ? file : NULL;
}

/* What such a file says of cprec is wrong of the guest. */
static int find_relatives(const struct proc_place *place,
			  const struct proc_file **out, uint32_t *tid)
{
	if (!is_relative(place->pid))
		return -ENOSYS;
	if ((*out)->is_memory)
		return -EACCES;
	for (size_t i = 0; i < sizeof(relatives_files) /
				       sizeof(relatives_files[0]); i++) {
		if (strcmp(place->name, relatives_files[i][0].name) != 0)
			continue;
		*out = &relatives_files[i][place->tid != 0];
		*tid = place->tid ? place->tid : place->pid;
		return 0;
	}
	return -ENOSYS;
}

int proc_find(struct linux_process *process, int dir, const char *path,
	      const struct proc_file **out, uint32_t *tid)
{
	const struct proc_file *file = find_system_file(dir, path);
	struct proc_place place = { .tid = 0 };
	bool is_ours = true;

	if (!file) {
		file = find_name(path);
		if (!file || !locate(&place, dir, path) ||
		    strcmp(place.name, file->name) != 0)
			return -ENOSYS;
		is_ours = is_own(process, &place);
	}
	*out = file;
	*tid = place.tid;
	if (is_ours)
		return file->print || file->move ? 0 : -EACCES;
	return find_relatives(&place, out, tid);
}
