/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * title.c - the guest's name and arguments where the host has a process's
 *
 * /proc/PID/cmdline and environ are read from the memory of the process, where
 * prctl(2), PR_SET_MM_MAP, says; that needs no privileges.  But along with it
 * the kernel is told where the heap ends, which another thread may be moving.
 * So the heap ends where it begins from the first time on: it cannot grow over
 * what is there, and the C library gets its memory from mmap(2), as it does
 * wherever brk(2) fails.
 */
#include <fcntl.h>
#include <linux/prctl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/host/host.h"
#include "vm/linux/process.h"

/* Of the host's process, not the guest's: a fork copies it. */
static struct title {
	enum { UNTRIED, WORKS, REFUSED } state;
	struct prctl_mm_map map;	/* what the kernel was told */
	char *strings;			/* that it reads */
} title;

/* ------- how it is at first ------- */

/* Fields of /proc/self/stat; proc(5) has the numbers. */
static const struct field {
	unsigned number;
	size_t offset;
} fields[] = {
	{ 26, offsetof(struct prctl_mm_map, start_code) },
	{ 27, offsetof(struct prctl_mm_map, end_code) },
	{ 28, offsetof(struct prctl_mm_map, start_stack) },
	{ 45, offsetof(struct prctl_mm_map, start_data) },
	{ 46, offsetof(struct prctl_mm_map, end_data) },
	{ 47, offsetof(struct prctl_mm_map, start_brk) },
};

enum { FIELDS = sizeof(fields) / sizeof(fields[0]), THREADS = 20 };

/* `at` is behind the state, the third one. */
static bool take_fields(struct prctl_mm_map *out, const char *at)
{
	size_t found = 0;

	for (unsigned number = 4; found < FIELDS && *at == ' '; number++) {
		uint64_t value = strtoull(at + 1, NULL, 10);

		if (number == THREADS && value != 1)
			return false;
		if (number == fields[found].number)
			memcpy((char *)out + fields[found++].offset, &value,
			       sizeof(value));
		at += 1 + strcspn(at + 1, " ");
	}
	return found == FIELDS;
}

/* What the kernel knows, with the heap at its end; false with threads. */
static bool look(struct prctl_mm_map *out)
{
	char line[2048] = "";
	FILE *in = host_proc_file(0, "stat");
	const char *at;

	if (!in)
		return false;
	at = fgets(line, sizeof(line), in) ? strrchr(line, ')') : NULL;
	fclose(in);
	/* The file that is executed and the auxiliary vector stay. */
	*out = (struct prctl_mm_map){ .exe_fd = UINT32_MAX };
	if (!at || strlen(at) < 3 || !take_fields(out, at + 3))
		return false;
	out->brk = out->start_brk;
	return true;
}

/*
 * The C library must learn at once that the heap does not end where it did, or
 * it would give back what it has.
 */
static bool heap_has_ended(const struct prctl_mm_map *map)
{
	return (uint64_t)(uintptr_t)sbrk(0) == map->start_brk ||
	       sbrk(GUEST_PAGE) == (void *)-1;
}

/* ------- telling ------- */

static bool tell(struct prctl_mm_map *map)
{
	return !prctl(PR_SET_MM, PR_SET_MM_MAP, (unsigned long)map,
		      sizeof(*map), 0);
}

static bool tell_first(struct prctl_mm_map *map)
{
	return tell(map) && heap_has_ended(map);
}

static size_t size_of(char *const *vector)
{
	size_t size = 0;

	while (vector && *vector)
		size += strlen(*vector++) + 1;
	return size;
}

static char *copy(char *to, char *const *vector)
{
	for (; vector && *vector; vector++) {
		size_t size = strlen(*vector) + 1;

		memcpy(to, *vector, size);
		to += size;
	}
	return to;
}

static void show_strings(char *const *argv, char *const *envp)
{
	struct prctl_mm_map map = title.map;
	char *strings, *end;
	bool done;

	if (title.state == REFUSED)
		return;
	strings = malloc(size_of(argv) + size_of(envp) + 1);
	if (!strings)
		return;
	if (title.state == UNTRIED && !look(&map)) {
		title.state = REFUSED;
		free(strings);
		return;
	}
	end = copy(strings, argv);
	map.arg_start = host_pointer(strings);
	map.arg_end = map.env_start = host_pointer(end);
	map.env_end = host_pointer(copy(end, envp));
	done = title.state == UNTRIED ? tell_first(&map) : tell(&map);
	title.state = done ? WORKS : REFUSED;
	if (!done) {
		free(strings);
		return;
	}
	free(title.strings);
	title.map = map;
	title.strings = strings;
}

/* That of the process, which is its first thread's. */
static void show_name(const char *name)
{
	int fd;

	if (syscall(SYS_gettid) == getpid()) {
		prctl(PR_SET_NAME, name);
		return;
	}
	fd = open("/proc/self/comm", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, name, strlen(name)) < 0)
		prctl(PR_SET_NAME, name);
	if (fd >= 0)
		close(fd);
}

void title_show(const char *typed, char *const *argv, char *const *envp)
{
	const char *slash = strrchr(typed, '/');

	show_name(slash ? slash + 1 : typed);
	show_strings(argv, envp);
}

void title_show_own(void)
{
	static const char name[] = "cprec";
	struct prctl_mm_map map = title.map;
	char *text;

	show_name(name);
	if (title.state != WORKS)
		return;
	/* The kernel shows nothing that lies in the mapping of a file. */
	text = mmap(NULL, GUEST_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED)
		return;
	memcpy(text, name, sizeof(name));
	map.arg_start = host_pointer(text);
	map.arg_end = map.env_start = map.env_end =
		host_pointer(text + sizeof(name));
	tell(&map);
}
