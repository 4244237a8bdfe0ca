/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_debug.c - cprec debug: goes through a recording */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/debug/plain.h"
#include "tools/options.h"

static int run(struct options *options);

enum { OPTION_PLAIN = 256, OPTION_BATCH, OPTION_EXECUTE, OPTION_COLOR };

const struct command command_debug = {
	.name = "debug",
	.run = run,
	.arguments = "[FILE]",
	.summary = "step through a recording, in both directions",
	.usage = "debug [OPTION...] [FILE]",
	.about = "Reads commands that go through the recording, forwards and"
		 " backwards, and show\nwhat was there.",
	.options = (const struct option_info[]) {
		{ OPTION_PLAIN, "plain", NULL, "a prompt of cprec's own, not"
		  " gdb" },
		{ 'x', "command", "F", "commands to be carried out first" },
		{ OPTION_EXECUTE, "ex", "COMMAND", "one command, likewise; may be\n"
		  "repeated" },
		{ OPTION_BATCH, "batch", NULL, "then leave; the first error"
		  " ends it" },
		{ 'g', "goto", "T", "begin at this time, or at 'main'" },
		{ 'e', "end", NULL, "begin at the end", NULL, "goto", NULL },
		{ OPTION_COLOR, "color", "WHEN", "auto, always or never; auto: on"
		  " a terminal" },
		{ 0 }
	},
};

static bool take_color(const struct options *options, int id, bool *out)
{
	const char *when = options->value;

	if (!strcmp(when, "auto"))
		*out = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	else if (!strcmp(when, "always") || !strcmp(when, "never"))
		*out = !strcmp(when, "always");
	else
		return options_bad_value(options, id, "auto, always or never"),
		       false;
	return true;
}

/* As gdb has it, with one dash. */
static void allow_one_dash(struct options *options)
{
	static char name[] = "--ex";

	for (int i = 1; i < options->argc; i++)
		if (!strcmp(options->argv[i], "-ex"))
			options->argv[i] = name;
}

static int run(struct options *options)
{
	struct plain_command *first = calloc((size_t)options->argc + 1,
						sizeof(*first));
	struct plain_options plain = {
		.commands = first,
		.has_color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
	};
	int id, status;

	allow_one_dash(options);
	while (first && (id = options_next(options)) >= 0) {
		if (id == 'x' || id == OPTION_EXECUTE)
			first[plain.command_count++] =
				(struct plain_command){ id == 'x',
							options->value };
		else if (id == OPTION_BATCH)
			plain.is_batch = true;
		else if (id == 'g')
			plain.from = options->value;
		else if (id == 'e')
			plain.from = "end";
		else if (id == OPTION_COLOR &&
			 !take_color(options, id, &plain.has_color))
			id = OPTIONS_WRONG;
		if (id < 0)
			break;
	}
	plain.path = first ? options_recording(options, id) : NULL;
	status = plain.path ? plain_run(&plain) : options->status;
	free(first);
	return status;
}
