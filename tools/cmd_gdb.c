/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_gdb.c - cprec gdb: gdb on a recording */
#include "tools/commands.h"
#include "tools/gdb_start.h"
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
		{ 'x', "command", "F", "commands that gdb executes first" },
		GDB_BEGIN_OPTIONS,
		GDB_PROGRAM_OPTION,
		{ 0 }
	},
};

static int run(struct options *options)
{
	static const char *const scripts[] = { "cprec_commands.py", NULL };
	struct gdb_start start = { .scripts = scripts };
	int id;

	while ((id = options_next(options)) >= 0)
		gdb_take_option(&start, id, options->value);
	if (id == OPTIONS_END)
		start.more = options_take_words(options, &start.more_count);
	start.path = options_recording(options, id);
	return start.path ? gdb_start(&start) : options->status;
}
