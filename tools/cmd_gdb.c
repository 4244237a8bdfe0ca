/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_gdb.c - cprec gdb: gdb on a recording */
#include <stdint.h>
#include <stdlib.h>

#include "tools/commands.h"
#include "tools/gdb_find.h"
#include "tools/gdb_start.h"
#include "tools/messages.h"
#include "tools/options.h"

static int run(struct options *options);

const struct command command_gdb = {
	.name = "gdb",
	.run = run,
	.arguments = "[FILE]",
	.summary = "go through a recording with gdb, in both directions",
	.usage = "gdb [OPTION...] [FILE] [-- GDB OPTION...]",
	.about = "Starts gdb on the recording: all of gdb's commands work, and"
		 " those that go back:\n"
		 "reverse-step, reverse-continue and so on.",
	.options = (const struct option_info[]) {
		GDB_FIRST_OPTIONS,
		GDB_BEGIN_OPTIONS,
		GDB_PROGRAM_OPTION,
		{ 0 }
	},
};

/* `words` has room for all of gdb's; commands are executed in their order. */
static int start(struct options *options, char **words)
{
	static const char *const scripts[] = { "cprec_commands.py", NULL };
	struct gdb_start start = { .scripts = scripts, .more = words };
	static char file[] = "-x", command[] = "-ex";
	size_t count = 0;
	char **more = NULL, why[GDB_WHY];
	int id;

	gdb_allow_one_dash(options);
	while ((id = options_next(options)) >= 0) {
		if (id == 'x' || id == OPTION_EXECUTE) {
			words[start.more_count++] = id == 'x' ? file : command;
			words[start.more_count++] = (char *)(uintptr_t)
				options->value;
		} else {
			gdb_take_option(&start, id, options->value);
		}
	}
	if (id == OPTIONS_END)
		more = gdb_take_words(options, &count);
	for (size_t i = 0; i < count; i++)
		words[start.more_count++] = more[i];
	start.path = options_recording(options, id);
	if (!start.path)
		return options->status;
	if (!start.gdb)
		start.gdb = gdb_find(start.path, why);
	if (start.gdb)
		return gdb_start(&start);
	say("%s; 'cprec debug --plain' needs none", why);
	return EXIT_NO_PROGRAM;
}

static int run(struct options *options)
{
	char **words = calloc(2 * (size_t)options->argc + 2, sizeof(*words));
	int status = EXIT_FAILED;

	if (words)
		status = start(options, words);
	else
		say("out of memory");
	free(words);
	return status;
}
