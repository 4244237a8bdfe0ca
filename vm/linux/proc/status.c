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
#include <unistd.h>

#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/proc/proc_internal.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals.h"

/* Who it is about. */
struct subject {
	struct linux_process *process;
	const struct linux_thread *thread;
	struct usage usage;
	struct peaks peaks;
};

const struct linux_thread *status_thread(struct linux_process *process,
					 uint32_t tid)
{
	const struct linux_thread *thread =
		thread_find(process, tid ? (int)tid : getpid());

	/* The first thread may have ended before the others. */
	return thread ? thread : process->thread;
}

/* ------- lines ------- */

static void print_count(const struct subject *subject, FILE *out)
{
	fprintf(out, "%u", subject->process->thread_count);
}

static void print_blocked(const struct subject *subject, FILE *out)
{
	fprintf(out, "%016" PRIx64, subject->thread->signals->mask);
}

static void print_ignored(const struct subject *subject, FILE *out)
{
	fprintf(out, "%016" PRIx64, signals_ignored(subject->process));
}

static void print_caught(const struct subject *subject, FILE *out)
{
	fprintf(out, "%016" PRIx64, signals_caught(subject->process));
}

/* As many as the host's kernel makes room for, but not cprec's own. */
static void print_table_size(const struct subject *subject, FILE *out)
{
	unsigned size = 64;
	unsigned needed = (unsigned)subject->process->limits->highest + 1;

	if (needed > size)
		size = 128;
	while (size < needed)
		size *= 2;
	fprintf(out, "%u", size);
}

/* ------- memory ------- */

static void print_pages(FILE *out, uint64_t pages)
{
	fprintf(out, "%8" PRIu64 " kB", pages * (GUEST_PAGE / 1024));
}

static void print_size(const struct subject *subject, FILE *out)
{
	print_pages(out, subject->usage.size);
}

static void print_most(const struct subject *subject, FILE *out)
{
	print_pages(out, subject->peaks.size);
}

static void print_most_present(const struct subject *subject, FILE *out)
{
	print_pages(out, subject->peaks.present);
}

static void print_present(const struct subject *subject, FILE *out)
{
	print_pages(out, usage_present(&subject->usage));
}

static void print_anon(const struct subject *subject, FILE *out)
{
	print_pages(out, subject->usage.anon);
}

static void print_file(const struct subject *subject, FILE *out)
{
	print_pages(out, subject->usage.file);
}

static void print_shared(const struct subject *subject, FILE *out)
{
	print_pages(out, subject->usage.shared);
}

static void print_data(const struct subject *subject, FILE *out)
{
	print_pages(out, subject->usage.data);
}

static void print_stack(const struct subject *subject, FILE *out)
{
	print_pages(out, subject->usage.stack);
}

static void print_code(const struct subject *subject, FILE *out)
{
	print_pages(out, usage_code(subject->process));
}

static void print_library(const struct subject *subject, FILE *out)
{
	uint64_t code = usage_code(subject->process);
	uint64_t exec = subject->usage.exec;

	print_pages(out, exec > code ? exec - code : 0);
}

static void print_tables(const struct subject *subject, FILE *out)
{
	print_pages(out, subject->usage.tables);
}

static void print_swapped(const struct subject *subject, FILE *out)
{
	print_pages(out, subject->usage.swapped);
}

static void print_locked(const struct subject *subject, FILE *out)
{
	print_pages(out, locks_size(subject->process) >> GUEST_PAGE_SHIFT);
}

static void print_nothing(const struct subject *subject, FILE *out)
{
	(void)subject;
	print_pages(out, 0);
}

static const struct {
	const char *name;
	void (*print)(const struct subject *subject, FILE *out);
} lines[] = {
	{ "Threads:", print_count },  { "VmPeak:", print_most },
	{ "VmSize:", print_size },    { "VmLck:", print_locked },
	{ "VmPin:", print_nothing },  { "VmHWM:", print_most_present },
	{ "VmRSS:", print_present },  { "RssAnon:", print_anon },
	{ "RssFile:", print_file },   { "RssShmem:", print_shared },
	{ "VmData:", print_data },    { "VmStk:", print_stack },
	{ "VmExe:", print_code },     { "VmLib:", print_library },
	{ "VmPTE:", print_tables },   { "VmSwap:", print_swapped },
	{ "SigBlk:", print_blocked }, { "SigIgn:", print_ignored },
	{ "SigCgt:", print_caught },  { "FDSize:", print_table_size },
};

static void print_line(const struct subject *subject, const char *line,
		       FILE *out)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (strncmp(line, lines[i].name, strlen(lines[i].name)))
			continue;
		fprintf(out, "%s\t", lines[i].name);
		lines[i].print(subject, out);
		fputc('\n', out);
		return;
	}
	fputs(line, out);
}

void status_print(struct linux_process *process, uint32_t tid, FILE *out)
{
	struct subject subject = {
		.process = process,
		.thread = status_thread(process, tid),
	};
	FILE *in = host_proc_file(tid, "status");
	char line[4096];

	if (!in)
		return;
	usage_of(process, &subject.usage);
	subject.peaks = peaks_with(process, &subject.usage);
	while (fgets(line, sizeof(line), in))
		print_line(&subject, line, out);
	fclose(in);
}
