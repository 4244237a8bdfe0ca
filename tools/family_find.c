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
#include "tools/table.h"

/* How a process is named, from the best way down. */
enum way { BY_NUMBER, BY_NAME, BY_WORD, BY_LINE };

/* What is looked for. */
struct wanted {
	const char *text;
	enum way way;
	struct family_member member;	/* of BY_NUMBER; turn 0: any */
};

/* "12" and "12-2" are what files are called, without their suffix. */
static void take_number(struct wanted *wanted, const char *text)
{
	char name[FAMILY_NAME_ROOM];
	int size = snprintf(name, sizeof(name), "%s" TRACE_SUFFIX, text);

	*wanted = (struct wanted){ .text = text, .way = BY_NAME };
	if (size >= (int)sizeof(name) ||
	    !family_name_parse(&wanted->member, name))
		return;
	wanted->way = BY_NUMBER;
	if (!strchr(text, '-'))
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

static bool has_word(const struct process *process, const struct wanted *wanted)
{
	const json_t *words = json_object_get(process->object, "program");

	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *word =
			json_string_value(json_array_get(words, i));

		if (!strcmp(word, wanted->text) ||
		    !strcmp(name_of(word), wanted->text))
			return true;
	}
	return false;
}

/* The whole command line, as `cprec ps` shows it. */
static bool has_line(const struct process *process, const struct wanted *wanted)
{
	char *line = arguments_text(json_object_get(process->object,
						    "program"));
	bool found = line && !strcmp(line, wanted->text);

	free(line);
	return found;
}

/* What looks like a number is one. */
static bool is_wanted(const struct process *process,
		      const struct wanted *wanted)
{
	switch (wanted->way) {
	case BY_NUMBER:
		return has_number(process, wanted);
	case BY_NAME:
		return has_name(process, wanted);
	case BY_WORD:
		return has_word(process, wanted);
	case BY_LINE:
		break;
	}
	return has_line(process, wanted);
}

/* ------- saying what there is ------- */

#define LISTED_MOST 10

/* Text that ends before the sentence has no room any more. */
struct list {
	char text[240];
	size_t size, count, left_out;
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
	if (list->left_out || list->count == LISTED_MOST ||
	    list->size + (size_t)size >= sizeof(list->text)) {
		list->left_out++;
		return;
	}
	memcpy(list->text + list->size, text, (size_t)size + 1);
	list->size += (size_t)size;
	list->count++;
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

/* How many there are, and the last of them. */
static size_t count_wanted(const struct processes *processes,
			   const struct wanted *wanted,
			   const struct process **process)
{
	size_t found = 0;

	for (size_t i = 0; i < processes->count; i++) {
		if (!is_wanted(&processes->list[i], wanted))
			continue;
		*process = &processes->list[i];
		found++;
	}
	return found;
}

static char *find(const struct processes *processes, struct wanted *wanted,
		  const char *file, struct failure *why)
{
	const struct process *process = NULL;
	size_t found = count_wanted(processes, wanted, &process);
	char *path;

	while (!found && wanted->way != BY_NUMBER && wanted->way != BY_LINE) {
		wanted->way++;
		found = count_wanted(processes, wanted, &process);
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
