/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_debug.c - cprec debug: steps through a recording, by gdb or without */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replayer/recording/recording.h"
#include "tools/commands.h"
#include "tools/damage.h"
#include "tools/debug/plain.h"
#include "tools/gdb_find.h"
#include "tools/gdb_start.h"
#include "tools/messages.h"
#include "tools/options.h"

static int run(struct options *options);

enum { OPTION_PLAIN = 256, OPTION_BATCH, OPTION_COLOR };

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
		 "lists them. Without gdb, a prompt of cprec's own has them.",
	.options = (const struct option_info[]) {
		GDB_BEGIN_OPTIONS,
		GDB_FIRST_OPTIONS,
		{ OPTION_BATCH, "batch", NULL,
		  "end after these commands; nothing is asked" },
		{ OPTION_PLAIN, "plain", NULL,
		  "cprec's own prompt, without gdb" },
		{ OPTION_GDB, "gdb", "PROGRAM", "this gdb", NULL, "plain", NULL },
		{ OPTION_COLOR, "color", "WHEN",
		  "of cprec's prompt: auto, always or never; auto: on a\n"
		  "terminal" },
		{ 0 }
	},
};

/* What was asked for, whoever does it. */
struct asked {
	struct plain_command *first;	/* before the prompt */
	size_t count;
	struct gdb_start gdb;		/* `from`: NULL, the crash or main() */
	bool is_batch, is_plain, has_color;
};

static bool take_color(const struct options *options, bool *out)
{
	const char *when = options->value;
	bool is_auto = !strcmp(when, "auto"), always = !strcmp(when, "always");

	if (!is_auto)
		*out = always;
	if (is_auto || always || !strcmp(when, "never"))
		return true;
	options_bad_value(options, OPTION_COLOR, "auto, always or never");
	return false;
}

static int take_options(struct options *options, struct asked *asked)
{
	int id;

	while ((id = options_next(options)) >= 0) {
		if (id == 'x' || id == OPTION_EXECUTE)
			asked->first[asked->count++] = (struct plain_command) {
				id == 'x', options->value,
			};
		else if (id == OPTION_BATCH)
			asked->is_batch = true;
		else if (id == OPTION_PLAIN)
			asked->is_plain = true;
		else if (!gdb_take_option(&asked->gdb, id, options->value) &&
			 !take_color(options, &asked->has_color))
			return OPTIONS_WRONG;
	}
	return id;
}

static int start_plain(const char *path, const struct asked *asked)
{
	const struct plain_options plain = {
		.path = path, .from = asked->gdb.from, .commands = asked->first,
		.command_count = asked->count, .is_batch = asked->is_batch,
		.has_color = asked->has_color,
	};
	struct recording *recording;

	/* The library, by which the prompt opens it, does not say that. */
	if (!recording_open(&recording, path, NULL)) {
		damage_say(recording);
		recording_close(recording);
	}
	return plain_run(&plain);
}

/* `words` has room for all of gdb's. */
static int start_gdb(const char *path, const struct asked *asked, char **words,
		     char **more, size_t more_count)
{
	static const char *const scripts[] = { "cprec_commands.py", NULL };
	struct gdb_start start = asked->gdb;
	size_t n = 0;

	start.path = path;
	start.scripts = scripts;
	start.then = start.from ? "cprec-begin" : "cprec-begin main";
	start.more = words;

	for (size_t i = 0; i < asked->count; i++) {
		const char *option = asked->first[i].is_file ? "-x" : "-ex";

		words[n++] = (char *)(uintptr_t)option;
		words[n++] = (char *)(uintptr_t)asked->first[i].text;
	}
	if (asked->is_batch)
		words[n++] = (char *)(uintptr_t)"-batch";
	for (size_t i = 0; i < more_count; i++)
		words[n++] = more[i];
	start.more_count = n;
	return gdb_start(&start);
}

static int debug(struct options *options, struct asked *asked, char **words)
{
	size_t count = 0;
	char **more = NULL, why[GDB_WHY];
	int id = take_options(options, asked);
	const char *path;

	if (id == OPTIONS_END)
		more = gdb_take_words(options, &count);
	if (id == OPTIONS_END && count && asked->is_plain)
		id = options_wrong(options, "--plain has no options of gdb");
	path = options_recording(options, id);
	if (!path)
		return options->status;
	if (asked->is_plain)
		return start_plain(path, asked);
	if (!asked->gdb.gdb)
		asked->gdb.gdb = gdb_find(path, why);
	if (asked->gdb.gdb)
		return start_gdb(path, asked, words, more, count);
	say_note("%s: this is cprec's own prompt, as with --plain", why);
	return start_plain(path, asked);
}

static int run(struct options *options)
{
	size_t count = (size_t)options->argc + 1;
	struct asked asked = {
		.first = calloc(count, sizeof(*asked.first)),
		.has_color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
	};
	char **words = calloc(2 * count, sizeof(*words));
	int status = EXIT_FAILED;

	gdb_allow_one_dash(options);
	if (asked.first && words)
		status = debug(options, &asked, words);
	else
		say("out of memory");
	free(asked.first);
	free(words);
	return status;
}
