/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_gdb.c - cprec gdb: gdb on a recording */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/messages.h"
#include "tools/options.h"

static int run(struct options *options);

enum { OPTION_END = 256 };

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
		{ 'g', "goto", "T", "begin at this time, or at 'main'" },
		{ 'e', "end", NULL, "begin at the end", NULL, "goto", NULL },
		{ 0 }
	},
};

/* As a shell, and gdb, take it for one word. */
static void print_quoted(FILE *out, const char *word)
{
	putc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			putc(*word, out);
	putc('\'', out);
}

/* "target extended-remote | cprec gdbserver --stdio FILE" */
static char *connect_text(const char *path, const char *from)
{
	char self[4096], *text = NULL;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t size;
	FILE *out = length > 0 ? open_memstream(&text, &size) : NULL;

	if (!out)
		return NULL;
	self[length] = '\0';
	fputs("target extended-remote | exec ", out);
	print_quoted(out, self);
	fputs(" gdbserver --stdio", out);
	if (from) {
		fputs(" --from=", out);
		print_quoted(out, from);
	}
	fputs(" -- ", out);
	print_quoted(out, path);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static const char *const settings[] = {
	"set sysroot /",
	"set debuginfod enabled off",
	"set unwindonsignal on",
	"set tcp auto-retry off",
};

/* Its own words, before those of the user; NULL behind the last. */
static const char **gdb_words(const char *connect, const char *script,
			      char **more, size_t count)
{
	const size_t own = 2 * sizeof(settings) / sizeof(*settings) + 9;
	const char **words = calloc(own + count, sizeof(*words));
	size_t n = 0;

	if (!words)
		return NULL;
	words[n++] = "gdb";
	words[n++] = "-q";
	/* A search may take long before it answers. */
	words[n++] = "-l";
	words[n++] = "10000";
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		words[n++] = "-iex";
		words[n++] = settings[i];
	}
	words[n++] = "-ex";
	words[n++] = connect;
	if (script) {
		words[n++] = "-x";
		words[n++] = script;
	}
	memcpy(words + n, more, count * sizeof(*words));
	return words;
}

static int start(const char *path, const char *from, const char *script,
		 char **more, size_t count)
{
	char *connect = connect_text(path, from);
	const char **words = connect ? gdb_words(connect, script, more, count) :
				       NULL;

	if (!words) {
		say("out of memory");
		return EXIT_CPREC;
	}
	execvp(words[0], (char *const *)words);
	say("cannot start gdb: %s", strerror(errno));
	return errno == ENOENT ? EXIT_NO_PROGRAM : EXIT_UNUSABLE;
}

static int run(struct options *options)
{
	const char *from = NULL, *script = NULL, *path;
	size_t count = 0;
	char **more = NULL;
	int id;

	while ((id = options_next(options)) >= 0) {
		if (id == 'x')
			script = options->value;
		else if (id == 'g')
			from = options->value;
		else
			from = "end";
	}
	if (id == OPTIONS_END)
		more = options_take_words(options, &count);
	path = options_recording(options, id);
	return path ? start(path, from, script, more, count) : options->status;
}
