/* SPDX-License-Identifier: GPL-2.0-or-later */
/* family_find.c - see family_find.h */
#include "tools/family_find.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "tools/processes.h"

/* What is looked for: a number, or a name if it is none. */
struct wanted {
	const char *text;
	bool is_number;
	struct family_member member;	/* turn 0: any */
};

/* "12" and "12-2" are what files are called, without their suffix. */
static void take_number(struct wanted *wanted, const char *text)
{
	char name[FAMILY_NAME_ROOM];
	int size = snprintf(name, sizeof(name), "%s" TRACE_SUFFIX, text);

	*wanted = (struct wanted){ .text = text };
	if (size >= (int)sizeof(name))
		return;
	wanted->is_number = family_name_parse(&wanted->member, name);
	if (wanted->is_number && !strchr(text, '-'))
		wanted->member.turn = 0;
}

static bool has_number(const struct process *process,
		       const struct wanted *wanted)
{
	return process->pid == wanted->member.pid &&
	       (!wanted->member.turn ||
		process->turn == wanted->member.turn);
}

static bool has_name(const struct process *process, const struct wanted *wanted)
{
	return process->name && (!strcmp(process->name, wanted->text) ||
				 !strcmp(process->file_name,
					  wanted->text));
}

/* A file may be called like a number, too. */
static bool is_wanted(const struct process *process,
		      const struct wanted *wanted)
{
	return wanted->is_number ? has_number(process, wanted) :
				   has_name(process, wanted);
}

/* ------- saying what there is ------- */

/* Text that ends before the sentence has no room any more. */
struct list {
	char text[240];
	size_t size, left_out;
};

static void list_process(struct list *list, const struct process *process)
{
	char text[80];
	int size;

	size = snprintf(text, sizeof(text), "%s%.30s %" PRIu32,
			list->size ? ", " : "",
			process->name ? process->name : "?", process->pid);
	if (process->turn > 1)
		size += snprintf(text + size, sizeof(text) - (size_t)size,
				 "-%" PRIu32, process->turn);
	if (list->left_out ||
	    list->size + (size_t)size >= sizeof(list->text)) {
		list->left_out++;
		return;
	}
	memcpy(list->text + list->size, text, (size_t)size + 1);
	list->size += (size_t)size;
}

/* `found` of the processes are meant: none, or more than one. */
static int no_single(const struct processes *processes,
		     const struct wanted *wanted, const char *file,
		     size_t found, struct failure *why)
{
	struct list list = { 0 };
	char more[40] = "";

	for (size_t i = 0; i < processes->count; i++)
		if (!found || is_wanted(&processes->list[i], wanted))
			list_process(&list, &processes->list[i]);
	if (list.left_out)
		snprintf(more, sizeof(more), " and %zu more", list.left_out);
	if (found)
		return failed(why, ERR_INPUT, "'%.40s' is more than one: %s%s",
			      wanted->text, list.text, more);
	return failed(why, ERR_NOT_FOUND, "'%.60s' has no process '%.30s': %s%s",
		      name_of(file), wanted->text, list.text, more);
}

static char *find(const struct processes *processes,
		  const struct wanted *wanted, const char *file,
		  struct failure *why)
{
	const struct process *process = NULL;
	size_t found = 0;
	char *path;

	for (size_t i = 0; i < processes->count; i++) {
		if (!is_wanted(&processes->list[i], wanted))
			continue;
		process = &processes->list[i];
		found++;
	}
	if (found != 1) {
		no_single(processes, wanted, file, found, why);
		return NULL;
	}
	path = strdup(process->file->path);
	if (!path)
		failed(why, ERR_NO_MEMORY, "out of memory");
	return path;
}

char *family_find(const char *file, const char *pid_or_name,
		  struct failure *why)
{
	struct processes processes;
	struct family_files files;
	struct wanted wanted;
	char *path = NULL;

	if (family_files_find(&files, file, why))
		return NULL;
	take_number(&wanted, pid_or_name);
	if (!processes_load(&processes, &files, false, why)) {
		path = find(&processes, &wanted, files.first, why);
		processes_release(&processes);
	}
	family_files_release(&files);
	return path;
}
