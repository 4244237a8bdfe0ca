/* SPDX-License-Identifier: GPL-2.0-or-later */
/* family.c - see family.h */
#include "tools/family.h"

#include <stdlib.h>
#include <string.h>

#include "replayer/recording/recording.h"
#include "tools/processes.h"

struct family {
	struct family_files files;
	struct processes processes;
};

static int by_process(const void *left, const void *right)
{
	const struct process *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return strcmp(a->file->path, b->file->path);
}

/* Whatever cannot be found or read is not there. */
static void find(struct family *family, const struct recording *recording)
{
	const struct trace_reader *reader = recording_reader(recording);

	*family = (struct family){ 0 };
	if (family_files_find(&family->files, trace_reader_path(reader), NULL))
		return;
	if (processes_load(&family->processes, &family->files, false, NULL))
		return;
	qsort(family->processes.list, family->processes.count,
	      sizeof(*family->processes.list), by_process);
}

static void release(struct family *family)
{
	processes_release(&family->processes);
	family_files_release(&family->files);
}

/* Copies of one file are of one process; a damaged one is of number 0. */
size_t family_others(const struct recording *recording)
{
	struct family family;
	uint32_t last = 0;
	size_t count = 0;

	find(&family, recording);
	for (size_t i = 0; i < family.processes.count; i++) {
		const struct process *process = &family.processes.list[i];
		uint32_t pid = process->name ? process->pid : 0;

		count += pid != last;
		last = pid;
	}
	release(&family);
	return count ? count - 1 : 0;
}

/* The rest of it is for those who ask for processes. */
static json_t *shorten(const struct process *process)
{
	static const char *const keys[] = {
		"recording", "this", "pid", "parent", "program", "path",
		"instructions", "error",
	};
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *value = json_object_get(process->object, keys[i]);

		if (value && (process->name || strcmp(keys[i], "pid") != 0))
			json_object_set(object, keys[i], value);
	}
	return object;
}

json_t *family_describe(const struct recording *recording)
{
	json_t *list = json_array();
	struct family family;

	find(&family, recording);
	for (size_t i = 0; i < family.processes.count; i++)
		json_array_append_new(list,
				      shorten(&family.processes.list[i]));
	release(&family);
	return list;
}
