/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_ps.c - cprec ps: the processes of a recording, as a tree */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "tools/child_ends.h"
#include "tools/commands.h"
#include "tools/guest_processes.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/print.h"
#include "tools/process_tree.h"
#include "tools/processes.h"
#include "tools/table.h"
#include "tools/views.h"

static int run(struct options *options);

enum { OPTION_FAILED = VIEW_OWN };

const struct command command_ps = {
	.name = "ps",
	.run = run,
	.arguments = "[FILE]",
	.summary = "the processes that were recorded together",
	.usage = "ps [OPTION...] [FILE]",
	.about = "Lists the processes that were recorded together with the one"
		 " in FILE, as a tree:\n"
		 "what they executed in the end, when they began and how they"
		 " ended.  With --pid:\n"
		 "that process, and those that descend from it.",
	.options = (const struct option_info[]) {
		{ 'v', "verbose", NULL,
		  "also all that they executed before, and their\n"
		  "recordings' names" },
		{ OPTION_FAILED, "failed", NULL,
		  "only those that ended with another status than 0, or\n"
		  "by a signal" },
		{ VIEW_AT, "at", "T",
		  "of a machine: the processes of its kernel, or the\n"
		  "tasks of its firmware (FreeRTOS, Zephyr), at this\n"
		  "time; '*' is the present one",
		  .without = "verbose failed" },
		{ VIEW_JSON, "json", NULL, "one JSON object for each process" },
		{ 0 }
	},
	.notes = "AT is when a process was made, UNTIL about when it ended, in"
		 " the time of its parent.",
};

#define DEPTH_SHOWN 30		/* deeper ones are not moved to the right */

/* ------- the tree's branches ------- */

/*
 * What stands before the command of a line, or of one below it; lines of the
 * depth `root` begin at the left.
 */
static char *branches(const struct tree_line *lines, size_t line, size_t root,
		      bool below)
{
	size_t at = line, depth = lines[line].depth - root;
	size_t shown = depth < DEPTH_SHOWN ? depth : DEPTH_SHOWN;
	char *text = malloc(4 * shown + 1);

	if (!text)
		return NULL;
	memset(text, ' ', 4 * shown);
	text[4 * shown] = '\0';
	for (size_t i = depth; i-- > 0; at = lines[at].parent) {
		if (i >= shown)
			continue;
		if (!lines[at].is_last)
			text[4 * i + 1] = '|';
		if (at == line && !below)
			memcpy(text + 4 * i, " \\_ ", 4);
	}
	return text;
}

/* ------- lines ------- */

static const struct table_column columns[] = {
	{ "PID", true }, { "AT", true }, { "UNTIL", true }, { "STARTED", false },
	{ "TOOK", true }, { "INSTRUCTIONS", true }, { "THREADS", true },
	{ "SIZE", true }, { "END", false }, { "COMMAND", false },
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void cell_count(struct table *table, const json_t *object,
		       const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (json_is_integer(value))
		table_cell(table, "%" JSON_INTEGER_FORMAT,
			   json_integer_value(value));
	else
		table_cell(table, "-");
}

static void cell_number(struct table *table, const struct process *process)
{
	if (process->turn > 1)
		table_cell(table, "%" PRIu32 "-%" PRIu32, process->pid,
			   process->turn);
	else if (process->pid)
		table_cell(table, "%" PRIu32, process->pid);
	else
		table_cell(table, "-");
}

static void cell_command(struct table *table, const json_t *object,
			 const char *branch)
{
	const json_t *error = json_object_get(object, "error");
	const json_t *path = json_object_get(object, "path");
	const json_t *arguments = json_object_get(object, "program");
	json_t *list = json_array();
	char *text;

	/* What was called with no argument at all has its file's name. */
	if (error || !json_array_size(arguments))
		json_array_append(list, (json_t *)(uintptr_t)
						(error ? error : path));
	text = arguments_text(json_array_size(list) ? list : arguments);
	table_cell(table, "%s%s%s%s", branch, error ? "(" : "",
		   text ? text : "", error ? ")" : "");
	free(text);
	json_decref(list);
}

/* A line that has nothing but something in the last column. */
static void add_note(struct table *table, const char *branch, json_t *what)
{
	json_t *list = json_array();
	char *text;

	json_array_append(list, what);
	text = arguments_text(list);
	for (size_t i = 0; i + 1 < COLUMNS; i++)
		table_cell(table, "%s", "");
	table_cell(table, "%s  %s", branch, text ? text : "");
	free(text);
	json_decref(list);
}

static void add_image(struct table *table, const char *branch,
		      const json_t *image)
{
	char *text = arguments_text(json_object_get(image, "program"));

	for (size_t i = 0; i + 1 < COLUMNS; i++)
		table_cell(table, "%s", "");
	table_cell(table, "%s  t=%" JSON_INTEGER_FORMAT ": %s", branch,
		   json_integer_value(json_object_get(image, "at")),
		   text ? text : "");
	free(text);
}

/* With --verbose: the file, and each program with the time at which it began. */
static void add_details(struct table *table, const json_t *object,
			const char *branch)
{
	const json_t *images = json_object_get(object, "images");

	add_note(table, branch, json_object_get(object, "recording"));
	if (json_object_get(object, "note"))
		add_note(table, branch, json_object_get(object, "note"));
	for (size_t i = 0; json_array_size(images) > 1 &&
			   i < json_array_size(images); i++)
		add_image(table, branch, json_array_get(images, i));
}

static void add_line(struct table *table, const struct tree_line *lines,
		     size_t line, size_t root, const struct process *process,
		     bool verbose)
{
	const json_t *object = process->object;
	char *branch = branches(lines, line, root, false);
	char *below = branches(lines, line, root, true);
	char text[CELL_TEXT];

	cell_number(table, process);
	cell_count(table, json_object_get(object, "parent"), "at");
	cell_count(table, object, "until");
	started_text(text, object, false);
	table_cell(table, "%s", text);
	duration_text(text, object);
	table_cell(table, "%s", text);
	cell_count(table, object, "instructions");
	cell_count(table, object, "thread_count");
	size_text(text, process->file->glance.size);
	table_cell(table, "%s", text);
	ending_text(text, object);
	table_cell(table, "%s", text);
	cell_command(table, object, branch ? branch : "");
	if (verbose)
		add_details(table, object, below ? below : "");
	free(branch);
	free(below);
}

/* ------- the family ------- */

/* What is printed. */
struct shown {
	bool json, verbose, failed;
	bool branch;		/* only from the file that was asked about down */
};

/* Which lines are of the branch; all of them if all is asked for. */
static void find_branch(const struct processes *processes,
			const struct tree_line *lines, bool branch,
			size_t *first, size_t *end)
{
	size_t count = processes->count, depth;

	*first = 0;
	*end = count;
	if (!branch)
		return;
	while (*first < count &&
	       !processes->list[lines[*first].process].file->is_this)
		++*first;
	if (*first == count)
		return;
	depth = lines[*first].depth;
	*end = *first + 1;
	while (*end < count && lines[*end].depth > depth)
		++*end;
}

static bool has_failed(const json_t *object)
{
	const json_t *exit = json_object_get(object, "exit");

	return json_object_get(exit, "signal") ||
	       json_integer_value(json_object_get(exit, "code")) != 0;
}

static int print_processes(const struct processes *processes,
			   const struct shown *view, struct failure *why)
{
	struct table table = { .columns = columns, .width = COLUMNS };
	struct tree_line *lines;
	size_t first, end, count = 0;
	int rc;

	if (process_tree(&lines, processes))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = child_ends(processes, lines, why);
	find_branch(processes, lines, view->branch, &first, &end);
	for (size_t i = first; i < end && !rc; i++) {
		const struct process *process =
			&processes->list[lines[i].process];

		if (view->failed && !has_failed(process->object))
			continue;
		count++;
		/* Without those between them, there is no tree. */
		if (view->json)
			print_json(json_incref(process->object));
		else
			add_line(&table, lines, i, view->failed ?
				 lines[i].depth : lines[first].depth, process,
				 view->verbose);
	}
	if (!count && !rc)
		say_note("no process failed");
	else if (!view->json && !rc)
		table_print(&table, !view->verbose);
	free(lines);
	return rc;
}

static int show(const char *path, const struct shown *view, struct failure *why)
{
	struct processes processes;
	struct family_files files;
	int rc = family_files_find(&files, path, why);

	if (rc)
		return rc;
	rc = processes_load(&processes, &files, view->verbose || view->json,
			    why);
	if (!rc) {
		rc = print_processes(&processes, view, why);
		processes_release(&processes);
	}
	family_files_release(&files);
	return rc;
}

static int show_recorded(struct options *options, int id, struct shown *view)
{
	const char *path = options_recording(options, id);
	struct failure why;

	if (!path)
		return options->status;
	view->branch = options->pid != NULL;
	if (show(path, view, &why))
		return say_failure(&why);
	return finish_output(EXIT_ANSWERED);
}

static int run(struct options *options)
{
	struct view machine = { .show = guest_processes_show };
	struct shown view = { 0 };
	int id = 0, rc = 0;

	while (!rc && (id = options_next(options)) >= 0) {
		if (id == OPTION_FAILED)
			view.failed = true;
		else if (id == 'v')
			view.verbose = true;
		else
			rc = view_take_option(options, id, &machine);
	}
	view.json = machine.json;
	return machine.at_count ? views_run(&machine, options, rc ? rc : id) :
				  show_recorded(options, rc ? rc : id, &view);
}
