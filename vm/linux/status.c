/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status.c - /proc/self/status of the guest
 *
 * Most lines are the host's process's, which is right; the others count or
 * show what is cprec's own.
 *
 * Source: proc(5).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "vm/linux/process.h"

static void print_count(struct linux_process *process, FILE *out)
{
	fprintf(out, "%u", process->thread_count);
}

static void print_size(struct linux_process *process, FILE *out)
{
	uint64_t size = 0;
	size_t count;
	const struct region *regions = memory_regions(process->memory, &count);

	for (size_t i = 0; i < count; i++)
		size += regions[i].end - regions[i].start;
	fprintf(out, "%8" PRIu64 " kB", size / 1024);
}

static void print_blocked(struct linux_process *process, FILE *out)
{
	fprintf(out, "%016" PRIx64, process->thread->signals.mask);
}

/* Those whose handler is SIG_IGN, or a function of the guest's. */
static void print_actions(struct linux_process *process, FILE *out,
			  bool ignored)
{
	uint64_t set = 0;

	for (unsigned i = 1; i <= SIGNALS; i++) {
		uint64_t handler = process->action[i].handler;

		if (ignored ? handler == 1 : handler > 1)
			set |= UINT64_C(1) << (i - 1);
	}
	fprintf(out, "%016" PRIx64, set);
}

static void print_ignored(struct linux_process *process, FILE *out)
{
	print_actions(process, out, true);
}

static void print_caught(struct linux_process *process, FILE *out)
{
	print_actions(process, out, false);
}

static const struct {
	const char *name;
	void (*print)(struct linux_process *process, FILE *out);
} lines[] = {
	{ "Threads:", print_count },
	{ "VmPeak:", print_size },
	{ "VmSize:", print_size },
	{ "SigBlk:", print_blocked },
	{ "SigIgn:", print_ignored },
	{ "SigCgt:", print_caught },
};

static void print_line(struct linux_process *process, const char *line,
		       FILE *out)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (strncmp(line, lines[i].name, strlen(lines[i].name)))
			continue;
		fprintf(out, "%s\t", lines[i].name);
		lines[i].print(process, out);
		fputc('\n', out);
		return;
	}
	fputs(line, out);
}

void status_print(struct linux_process *process, FILE *out)
{
	FILE *in = fopen("/proc/self/status", "re");
	char line[4096];

	if (!in)
		return;
	while (fgets(line, sizeof(line), in))
		print_line(process, line, out);
	fclose(in);
}
