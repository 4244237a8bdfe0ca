/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_ls.c - cprec ls: which recordings there are */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/array.h"
#include "formats/error.h"
#include "tools/commands.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/print.h"
#include "tools/processes.h"
#include "tools/table.h"

static int run(struct options *options);

enum { OPTION_JSON = 256 };

const struct command command_ls = {
	.name = "ls",
	.run = run,
	.kind = COMMAND_TAKES_FILES,
	.arguments = "[FOLDER|FILE...]",
	.summary = "which recordings there are",
	.usage = "ls [OPTION...] [FOLDER|FILE...]",
	.about = "Lists the recordings in a folder, or these, newest first."
		 "  Without an argument:\n"
		 "those of the present folder.  A recording's other processes"
		 " are counted with it.",
	.options = (const struct option_info[]) {
		{ OPTION_JSON, "json", NULL,
		  "one JSON object for each recording" },
		{ 0 }
	},
};

struct listed {
	char *path;
	json_t *object;
	int64_t started;
};

struct listing {
	struct listed *list;
	size_t count, room;
	bool has_failed;	/* something that was named is no recording */
};

/* ------- one recording ------- */

static bool is_any_written(const struct family_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->list[i].glance.is_locked)
			return true;
	return false;
}

/* The family as a whole: of the first process what is of it alone. */
static json_t *describe_family(const struct family_files *files,
			       const struct process *first)
{
	json_t *object = json_copy(first->object);
	bool is_written = is_any_written(files);

	json_object_del(object, "this");
	if (is_written && json_object_get(object, "ended"))
		json_object_set_new(object, "ended", json_null());
	json_set_count(object, "process_count", files->count);
	json_set_count(object, "size", files->size);
	json_object_set_new(object, "writing", json_boolean(is_written));
	return object;
}

/* One of a family's others counts for itself. */
static struct family_files shown_files(const struct family_files *files)
{
	struct family_files shown = *files;

	for (size_t i = 1; i < files->count; i++) {
		if (!files->list[i].is_this)
			continue;
		shown.list = &files->list[i];
		shown.count = 1;
		shown.size = shown.list->glance.size;
	}
	return shown;
}

static int describe(struct listed *listed, const char *path,
		    struct failure *why)
{
	struct family_files files, shown, one;
	struct processes processes;
	int rc = family_files_find(&files, path, why);

	if (rc)
		return rc;
	shown = one = shown_files(&files);
	one.count = shown.count ? 1 : 0;
	rc = processes_load(&processes, &one, false, why);
	if (!rc && processes.count) {
		listed->object = describe_family(&shown, &processes.list[0]);
		json_set_text(listed->object, "recording", path);
		listed->started = processes.list[0].started;
	}
	if (!rc)
		processes_release(&processes);
	family_files_release(&files);
	return rc;
}

/* Takes `path` over. */
static int add(struct listing *listing, char *path, struct failure *why)
{
	struct listed listed = { .path = path };
	int rc = path ? describe(&listed, path, why) :
			failed(why, ERR_NO_MEMORY, "out of memory");

	if (!rc && listed.object) {
		if (!array_room(listing->list, listing->count, listing->room)) {
			listing->list[listing->count++] = listed;
			return 0;
		}
		json_decref(listed.object);
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	}
	free(path);
	return rc;
}

/* ------- what is named ------- */

/* What is no recording is passed over. */
static int add_folder(struct listing *listing, const char *folder,
		      struct failure *why)
{
	bool is_here = !strcmp(folder, ".");
	struct trace_glance glance;
	struct dirent *entry;
	DIR *entries = opendir(folder);
	int rc = 0;

	if (!entries)
		return failed(why, ERR_SYSTEM, "cannot look into '%s': %s",
			      folder, strerror(errno));
	while ((entry = readdir(entries)) && rc != ERR_NO_MEMORY) {
		const char *slash =
			folder[strlen(folder) - 1] == '/' ? "" : "/";
		char *path;

		if (trace_glance(&glance, dirfd(entries), entry->d_name, false,
				 NULL))
			continue;
		if (asprintf(&path, "%s%s%s", is_here ? "" : folder,
			     is_here ? "" : slash, entry->d_name) < 0)
			path = NULL;
		rc = add(listing, path, why);
	}
	closedir(entries);
	return rc == ERR_NO_MEMORY ? rc : 0;
}

static void add_argument(struct listing *listing, const char *argument)
{
	struct failure why;
	struct stat status;
	int rc;

	if (!stat(argument, &status) && S_ISDIR(status.st_mode))
		rc = add_folder(listing, argument, &why);
	else
		rc = add(listing, strdup(argument), &why);
	if (!rc)
		return;
	say_failure(&why);
	listing->has_failed = true;
}

/* ------- all of them ------- */

/* Newest first; of one second, by name. */
static int by_age(const void *left, const void *right)
{
	const struct listed *a = left, *b = right;

	if (a->started != b->started)
		return a->started > b->started ? -1 : 1;
	return strcmp(a->path, b->path);
}

static const struct table_column columns[] = {
	{ "STARTED", false }, { "TOOK", true }, { "INSTRUCTIONS", true },
	{ "PROCESSES", true }, { "SIZE", true }, { "END", false },
	{ "NAME", false }, { "PROGRAM", false },
};

static void cell_text(struct table *table, const json_t *strings)
{
	char *text = arguments_text(strings);

	table_cell(table, "%s", text ? text : "");
	free(text);
}

static void add_line(struct table *table, const json_t *object)
{
	const json_t *steps = json_object_get(object, "instructions");
	const json_t *error = json_object_get(object, "error");
	json_t *name = json_array();
	char text[CELL_TEXT];

	json_array_append(name, json_object_get(object, "recording"));
	started_text(text, object, true);
	table_cell(table, "%s", text);
	duration_text(text, object);
	table_cell(table, "%s", text);
	if (steps)
		table_cell(table, "%" JSON_INTEGER_FORMAT,
			   json_integer_value(steps));
	else
		table_cell(table, "-");
	table_cell(table, "%" JSON_INTEGER_FORMAT,
		   json_integer_value(json_object_get(object,
						      "process_count")));
	size_text(text, (uint64_t)json_integer_value(
				json_object_get(object, "size")));
	table_cell(table, "%s", text);
	ending_text(text, object);
	table_cell(table, "%s", text);
	cell_text(table, name);
	if (error)
		table_cell(table, "%s", "");
	else
		cell_text(table, json_object_get(object, "program"));
	json_decref(name);
}

static void print_listing(struct listing *listing, bool json)
{
	struct table table = {
		.columns = columns,
		.width = sizeof(columns) / sizeof(columns[0]),
	};

	if (listing->count)
		qsort(listing->list, listing->count, sizeof(*listing->list),
		      by_age);
	for (size_t i = 0; i < listing->count; i++) {
		if (json)
			print_json(json_incref(listing->list[i].object));
		else
			add_line(&table, listing->list[i].object);
	}
	if (!json && listing->count)
		table_print(&table, true);
	for (size_t i = 0; i < listing->count; i++) {
		json_decref(listing->list[i].object);
		free(listing->list[i].path);
	}
	free(listing->list);
}

static int run(struct options *options)
{
	struct listing listing = { 0 };
	bool json = false;
	size_t count;
	char **names;
	int id;

	while ((id = options_next(options)) >= 0)
		json = true;
	names = options_files(options, id, 0, SIZE_MAX, &count);
	if (!names)
		return options->status;
	if (!count)
		add_argument(&listing, ".");
	for (size_t i = 0; i < count; i++)
		add_argument(&listing, names[i]);
	if (!listing.count && !listing.has_failed)
		say_note("there are no recordings");
	print_listing(&listing, json);
	return finish_output(listing.has_failed ? EXIT_FAILED : EXIT_ANSWERED);
}
