/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_debug.c - cprec debug: a debugger in both directions */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/gdb_start.h"
#include "tools/messages.h"
#include "tools/options.h"

static int run(struct options *options);

enum { OPTION_PLAIN = 256, OPTION_BATCH, OPTION_EXECUTE };

const struct command command_debug = {
	.name = "debug",
	.run = run,
	.arguments = "[FILE]",
	.summary = "step through a recording, in both directions",
	.usage = "debug [OPTION...] [FILE] [-- GDB OPTION...]",
	.about = "Starts gdb on the recording, where a signal ended the program"
		 " or at 'main', with\n"
		 "commands for it: goto T, last EXPR, back, bookmark and others;"
		 " 'help cprec' there\n"
		 "lists them.",
	.options = (const struct option_info[]) {
		{ 'g', "goto", "T", "begin at this time, or at 'main'" },
		{ 'e', "end", NULL, "begin at the end", NULL, "goto", NULL },
		{ 'x', "command", "F", "commands that are executed first" },
		{ OPTION_EXECUTE, "ex", "COMMAND",
		  "a command that is executed first; may be repeated" },
		{ OPTION_BATCH, "batch", NULL,
		  "end after these commands; nothing is asked" },
		{ OPTION_PLAIN, "plain", NULL,
		  "cprec's own prompt, without gdb" },
		{ 0 }
	},
};

/* Words of gdb's command line, behind ours. */
struct words {
	char **list;
	size_t count;
};

static void add(struct words *words, const char *option, const char *value)
{
	words->list[words->count++] = (char *)(uintptr_t)option;
	if (value)
		words->list[words->count++] = (char *)(uintptr_t)value;
}

/* As gdb has it, with one dash. */
static void allow_one_dash(struct options *options)
{
	static char name[] = "--ex";

	for (int i = 1; i < options->argc && strcmp(options->argv[i], "--");
	     i++)
		if (!strcmp(options->argv[i], "-ex"))
			options->argv[i] = name;
}

static int take_options(struct options *options, struct gdb_start *start,
			struct words *words, bool *is_plain)
{
	int id;

	while ((id = options_next(options)) >= 0) {
		if (id == 'x')
			add(words, "-x", options->value);
		else if (id == OPTION_EXECUTE)
			add(words, "-ex", options->value);
		else if (id == OPTION_BATCH)
			add(words, "-batch", NULL);
		else if (id == OPTION_PLAIN)
			*is_plain = true;
		else
			start->from = id == 'g' ? options->value : "end";
	}
	return id;
}

static int without_gdb(bool is_plain)
{
	say(is_plain ? "there is no prompt without gdb yet" :
		       "gdb is needed, and is not installed");
	return EXIT_FAILED;
}

static int start_gdb(struct options *options, int id, struct gdb_start *start,
		     struct words *words, bool is_plain)
{
	static const char *const scripts[] = { "cprec_commands.py", NULL };
	size_t count = 0;
	char **more = id == OPTIONS_END ? options_take_words(options, &count) :
					  NULL;

	start->path = options_recording(options, id);
	if (!start->path)
		return options->status;
	if (is_plain || !gdb_is_there())
		return without_gdb(is_plain);
	for (size_t i = 0; i < count; i++)
		add(words, more[i], NULL);
	start->scripts = scripts;
	start->then = start->from ? "cprec-begin" : "cprec-begin main";
	start->more = words->list;
	start->more_count = words->count;
	return gdb_start(start);
}

static int run(struct options *options)
{
	struct gdb_start start = { 0 };
	struct words words = {
		.list = calloc(2 * (size_t)options->argc + 1,
			       sizeof(*words.list)),
	};
	bool is_plain = false;
	int id, status;

	if (!words.list) {
		say("out of memory");
		return EXIT_FAILED;
	}
	allow_one_dash(options);
	id = take_options(options, &start, &words, &is_plain);
	status = start_gdb(options, id, &start, &words, is_plain);
	free(words.list);
	return status;
}
