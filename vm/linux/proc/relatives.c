/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * relatives.c - status and stat of another recorded process, as the host has
 * them but for its threads: cprec's own are not counted
 */
#include <stdlib.h>
#include <string.h>

#include "vm/linux/proc/proc_internal.h"

static FILE *open_about(uint32_t tid, bool is_thread, const char *name)
{
	char path[64];

	if (is_thread)
		snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", tid, tid,
			 name);
	else
		snprintf(path, sizeof(path), "/proc/%u/%s", tid, name);
	return fopen(path, "re");
}

static unsigned long threads_of(struct linux_process *process, uint32_t tid)
{
	char path[64];
	unsigned count;

	snprintf(path, sizeof(path), "/proc/%u/task", tid);
	count = proc_count_threads(process, path);
	return count ? count : 1;
}

void relative_print_status(struct linux_process *process, uint32_t tid,
			   FILE *out)
{
	static const char name[] = "Threads:";
	FILE *in = open_about(tid, true, "status");
	char line[4096];

	while (in && fgets(line, sizeof(line), in)) {
		if (strncmp(line, name, sizeof(name) - 1) != 0)
			fputs(line, out);
		else
			fprintf(out, "%s\t%lu\n", name,
				threads_of(process, tid));
	}
	if (in)
		fclose(in);
}

/* The name of the program may hold anything; fields behind it are numbers. */
static char *find_thread_count(char *line)
{
	enum { NUMBER = 20 };
	char *at = strrchr(line, ')');

	for (int field = 2; at && field < NUMBER; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at;
}

static void print_stat(struct linux_process *process, uint32_t tid, FILE *in,
		       FILE *out)
{
	char line[2048] = "";
	char *at = NULL;

	if (in && fgets(line, sizeof(line), in))
		at = find_thread_count(line);
	if (in)
		fclose(in);
	if (!at)
		return;
	fprintf(out, "%.*s%lu%s", (int)(at - line), line,
		threads_of(process, tid), at + strcspn(at, " \n"));
}

void relative_print_stat(struct linux_process *process, uint32_t tid,
			 FILE *out)
{
	print_stat(process, tid, open_about(tid, false, "stat"), out);
}

void relative_print_thread_stat(struct linux_process *process, uint32_t tid,
				FILE *out)
{
	print_stat(process, tid, open_about(tid, true, "stat"), out);
}
