/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stat.c - /proc/self/stat and statm of the guest
 *
 * Most fields are the host's process's or thread's, which is right; the others
 * count or show what is cprec's own.
 *
 * Source: proc(5), which also has the numbers of the fields, from 1 on.
 */
#include <string.h>

#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/proc/proc_internal.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals.h"

/* Of signals, as many as there were once; see status for the others. */
#define SIGNALS_SHOWN INT32_MAX

/* The value of a field that is not the host's. */
struct field {
	unsigned number;
	uint64_t value;
};

enum { FIELDS = 20 };

static void fill(struct linux_process *process, uint32_t tid,
		 struct field out[FIELDS])
{
	const struct layout *layout = &process->space->layout;
	const struct linux_thread *thread = status_thread(process, tid);
	struct usage usage;

	usage_of(process, &usage);
	memcpy(out, (const struct field[FIELDS]){
		{ 20, process->thread_count },
		{ 23, usage.size << GUEST_PAGE_SHIFT },
		{ 24, usage_present(&usage) },
		{ 26, layout->code_start },
		{ 27, layout->code_end },
		{ 28, layout->sp },
		{ 29, 0 },	/* registers: of a process that dies */
		{ 30, 0 },
		{ 32, thread->signals->mask & SIGNALS_SHOWN },
		{ 33, signals_ignored(process) & SIGNALS_SHOWN },
		{ 34, signals_caught(process) & SIGNALS_SHOWN },
		{ 35, 0 },	/* where it waits: it does not */
		{ 39, guest_processor(process) },
		{ 45, layout->data_start },
		{ 46, layout->data_end },
		{ 47, layout->brk_start },
		{ 48, layout->args_start },
		{ 49, layout->args_end },
		{ 50, layout->args_end },
		{ 51, layout->env_end },
	}, FIELDS * sizeof(*out));
}

/* `at` is behind the name of the program, which may hold anything. */
static void print_fields(const struct field *own, const char *at, FILE *out)
{
	const struct field *last = own + FIELDS;

	for (unsigned number = 4; *at == ' '; number++) {
		const char *end = at + 1 + strcspn(at + 1, " \n");

		if (own < last && own->number == number)
			fprintf(out, " %llu", (unsigned long long)own++->value);
		else
			fwrite(at, 1, (size_t)(end - at), out);
		at = end;
	}
	fputc('\n', out);
}

void proc_print_stat(struct linux_process *process, uint32_t tid, FILE *out)
{
	struct field fields[FIELDS];
	char line[2048] = "";
	FILE *in = host_proc_file(tid, "stat");
	const char *at;

	if (!in)
		return;
	at = fgets(line, sizeof(line), in) ? strrchr(line, ')') : NULL;
	fclose(in);
	/* The second field ends here; the third is a letter. */
	if (!at || strlen(at) < 3)
		return;
	fprintf(out, "%.*s", (int)(at + 3 - line), line);
	fill(process, tid, fields);
	print_fields(fields, at + 3, out);
}

void proc_print_statm(struct linux_process *process, uint32_t tid, FILE *out)
{
	struct usage usage;

	(void)tid;
	usage_of(process, &usage);
	/* Linux knows no libraries here, and no dirty pages. */
	fprintf(out, "%llu %llu %llu %llu 0 %llu 0\n",
		(unsigned long long)usage.size,
		(unsigned long long)usage_present(&usage),
		(unsigned long long)(usage.file + usage.shared),
		(unsigned long long)usage_code(process),
		(unsigned long long)(usage.data + usage.stack));
}
