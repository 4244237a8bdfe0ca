/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc.c - the files of /proc that would show cprec instead of the guest */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "vm/linux/process.h"

/* Skips a number that is our process's; NULL if it is not. */
static const char *skip_own_number(const char *at)
{
	char *end;
	long number = strtol(at, &end, 10);

	return end != at && number == getpid() ? end : NULL;
}

static const char *skip_word(const char *at, const char *word)
{
	size_t length = strlen(word);

	return strncmp(at, word, length) ? NULL : at + length;
}

/* The name in our process's folder of /proc, NULL for another path. */
static const char *own_name(const char *path)
{
	const char *at = skip_word(path, "/proc/");
	const char *next;

	if (!at)
		return NULL;
	next = skip_word(at, "self/");
	if (!next)
		next = skip_word(at, "thread-self/");
	if (!next) {
		at = skip_own_number(at);
		next = at ? skip_word(at, "/") : NULL;
	}
	if (!next)
		return NULL;
	at = skip_word(next, "task/");
	at = at ? skip_own_number(at) : NULL;
	return at && *at == '/' ? at + 1 : next;
}

/*
 * The same for a path that starts at `dir`.  `room` holds PATH_MAX bytes, for
 * the absolute path.
 */
static const char *own_name_at(int dir, const char *path, char *room)
{
	size_t length = strlen(path);
	char link[64];
	ssize_t base;

	if (*path == '/')
		return own_name(path);
	if (dir == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/self/cwd");
	else
		snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	base = readlink(link, room, PATH_MAX);
	if (base < 5 || strncmp(room, "/proc", 5) != 0 ||
	    length + 2 > PATH_MAX - (size_t)base)
		return NULL;
	room[base] = '/';
	memcpy(room + base + 1, path, length + 1);
	return own_name(room);
}

static bool ends_with(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return !strcmp(slash ? slash + 1 : path, name);
}

bool proc_is_exe(int dir, const char *path)
{
	char room[PATH_MAX];
	const char *name;

	if (!ends_with(path, "exe"))
		return false;
	name = own_name_at(dir, path, room);
	return name && !strcmp(name, "exe");
}

void proc_redirect(const struct linux_process *process, int dir, char *path)
{
	size_t size = strlen(process->program) + 1;

	if (proc_is_exe(dir, path) && size <= PATH_MAX)
		memcpy(path, process->program, size);
}

/* ------- contents ------- */

struct proc_file {
	const char *name;
	void (*print)(struct linux_process *process, FILE *out);
};

static bool continues(const struct region *a, const struct region *b)
{
	return a->end == b->start && a->prot == b->prot &&
	       a->kind == b->kind && !strcmp(a->name, b->name) &&
	       (a->kind == REGION_ANON ||
		a->offset + (a->end - a->start) == b->offset);
}

static void print_region(FILE *out, const struct region *region)
{
	bool shared = region->kind == REGION_SHARED ||
		      !strcmp(region->name, SHARED_NAME);
	struct stat file = { 0 };
	int width;

	if (region->kind != REGION_ANON && stat(region->name, &file))
		memset(&file, 0, sizeof(file));
	width = fprintf(out, "%08llx-%08llx %c%c%c%c %08llx %02x:%02x %llu ",
			(unsigned long long)region->start,
			(unsigned long long)region->end,
			region->prot & MAY_READ ? 'r' : '-',
			region->prot & MAY_WRITE ? 'w' : '-',
			region->prot & MAY_EXEC ? 'x' : '-',
			shared ? 's' : 'p', (unsigned long long)region->offset,
			major(file.st_dev), minor(file.st_dev),
			(unsigned long long)file.st_ino);
	if (*region->name)
		fprintf(out, "%*s%s", width < 73 ? 73 - width : 0, "",
			region->name);
	fputc('\n', out);
}

static void print_maps(struct linux_process *process, FILE *out)
{
	size_t count;
	const struct region *regions = memory_regions(process->memory, &count);

	for (size_t i = 0; i < count; i++) {
		struct region whole = regions[i];

		while (i + 1 < count && continues(&whole, &regions[i + 1]))
			whole.end = regions[++i].end;
		print_region(out, &whole);
	}
}

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

static void print_cmdline(struct linux_process *process, FILE *out)
{
	print_memory(process, out, process->layout.args_start,
		     process->layout.args_end);
}

static void print_environ(struct linux_process *process, FILE *out)
{
	print_memory(process, out, process->layout.args_end,
		     process->layout.env_end);
}

static void print_auxv(struct linux_process *process, FILE *out)
{
	fwrite(process->layout.auxv, 1, process->layout.auxv_bytes, out);
}

/* Numbers of the fields of /proc/PID/stat, from 1 on: proc(5). */
static uint64_t stat_field(struct linux_process *process, unsigned field,
			   uint64_t value)
{
	const struct layout *layout = &process->layout;

	switch (field) {
	case 20:
		return process->thread_count;
	case 26: case 27: case 45: case 46:	/* code, data */
		return 0;
	case 28:
		return layout->sp;
	case 29:
		return vm_reg(process->vm, X86_RSP);
	case 30:
		return vm_reg(process->vm, X86_RIP);
	case 47:
		return layout->brk_start;
	case 48:
		return layout->args_start;
	case 49:
	case 50:
		return layout->args_end;
	case 51:
		return layout->env_end;
	default:
		return value;
	}
}

static void print_stat(struct linux_process *process, FILE *out)
{
	char line[2048] = "";
	char *at, *end;
	FILE *in = fopen("/proc/self/stat", "re");

	if (!in)
		return;
	at = fgets(line, sizeof(line), in) ? strrchr(line, ')') : NULL;
	fclose(in);
	if (!at)
		return;
	/* The second field ends here; the third is a letter. */
	fprintf(out, "%.*s", (int)(at + 3 - line), line);
	end = at + 3;
	for (unsigned field = 4; *end == ' '; field++) {
		bool negative = end[1] == '-';
		uint64_t value = strtoull(end + 1, &at, 10);

		if (at == end + 1)
			break;
		end = at;
		if (negative)
			fprintf(out, " %lld", (long long)value);
		else
			fprintf(out, " %llu",
				(unsigned long long)stat_field(process, field,
							       value));
	}
	fputc('\n', out);
}

/* The guest has one processor; see sys_sched_getaffinity(). */
static void print_processors(struct linux_process *process, FILE *out)
{
	fprintf(out, "%u\n", guest_processor(process));
}

/* What is made for the guest of the files that are no process's. */
static const struct system_file {
	const char *path;
	struct proc_file file;
} system_files[] = {
	{ "/proc/cpuinfo", { "cpuinfo", cpuinfo_print } },
	{ "/sys/devices/system/cpu/online", { "online", print_processors } },
};

/* What is made for the guest, and what is kept from it (no function). */
static const struct proc_file proc_files[] = {
	{ "maps", print_maps },
	{ "cmdline", print_cmdline },
	{ "environ", print_environ },
	{ "auxv", print_auxv },
	{ "stat", print_stat },
	{ "status", status_print },
	{ "smaps", NULL },
	{ "smaps_rollup", NULL },
	{ "numa_maps", NULL },
	{ "pagemap", NULL },
	{ "mem", NULL },
	{ "syscall", NULL },
	{ "stack", NULL },
	{ "map_files", NULL },
	{ "clear_refs", NULL },
};

static int64_t make_file(struct linux_process *process,
			 const struct proc_file *file, int flags)
{
	unsigned close = flags & O_CLOEXEC ? MFD_CLOEXEC : 0;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int fd = out ? memfd_create(file->name, close) : -1;
	bool good;

	if (out)
		file->print(process, out);
	if (!out || fclose(out) || fd < 0) {
		free(text);
		return -ENOMEM;
	}
	good = write(fd, text, size) == (ssize_t)size &&
	       lseek(fd, 0, SEEK_SET) == 0;
	free(text);
	return good ? fd : -EIO;
}

/* However the path leads there. */
static const struct proc_file *find_system_file(int dir, const char *path)
{
	const size_t count = sizeof(system_files) / sizeof(system_files[0]);
	struct stat asked, file;

	for (size_t i = 0; i < count; i++) {
		const struct system_file *found = &system_files[i];

		if (ends_with(path, found->file.name) &&
		    !fstatat(dir, path, &asked, 0) &&
		    !stat(found->path, &file) &&
		    asked.st_dev == file.st_dev &&
		    asked.st_ino == file.st_ino)
			return &found->file;
	}
	return NULL;
}

/* As on the host, but without a way to write to it. */
static int64_t open_made(struct linux_process *process,
			 const struct proc_file *file, int flags)
{
	if (!file->print || (flags & O_ACCMODE) != O_RDONLY)
		return -EACCES;
	return flags & O_DIRECTORY ? -ENOTDIR :
				     make_file(process, file, flags);
}

int64_t proc_open(struct linux_process *process, int dir, const char *path,
		  int flags)
{
	const struct proc_file *system_file = find_system_file(dir, path);
	char room[PATH_MAX];
	const struct proc_file *file = proc_files;
	const struct proc_file *end =
		file + sizeof(proc_files) / sizeof(proc_files[0]);
	const char *name;

	if (system_file)
		return open_made(process, system_file, flags);
	while (file < end && !ends_with(path, file->name))
		file++;
	if (file == end)
		return -ENOSYS;
	name = own_name_at(dir, path, room);
	if (!name || strcmp(name, file->name) != 0)
		return -ENOSYS;
	return open_made(process, file, flags);
}
