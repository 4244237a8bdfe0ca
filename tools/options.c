/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.c - see options.h */
#include "tools/options.h"

#include <assert.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/messages.h"

#define MOST_OPTIONS 24
#define HELP_ID 'h'

static void print_option(const struct option_info *info)
{
	const char *line = info->summary;
	char left[40], name[32];

	snprintf(name, sizeof(name), info->argument ? "%s=%s" : "%s",
		 info->name, info->argument);
	if (info->id < 256)
		snprintf(left, sizeof(left), "-%c, --%s", info->id, name);
	else
		snprintf(left, sizeof(left), "    --%s", name);
	for (;;) {
		int length = (int)strcspn(line, "\n");

		printf("  %-24s %.*s\n", left, length, line);
		if (!line[length])
			return;
		line += length + 1;
		left[0] = '\0';
	}
}

static void print_help(const struct command_help *help)
{
	static const struct option_info help_option = {
		HELP_ID, "help", NULL, "print this text"
	};

	printf("usage: cprec %s\n\n%s\n\noptions:\n", help->usage, help->about);
	for (size_t i = 0; help->options[i].name; i++)
		print_option(&help->options[i]);
	print_option(&help_option);
	if (help->notes)
		printf("\n%s\n", help->notes);
}

/* The tables that getopt_long() wants. */
static void make_tables(const struct command_help *help,
			struct option *longs, char *shorts)
{
	const struct option_info *info = help->options;

	if (help->runs_program)
		*shorts++ = '+';
	*shorts++ = ':';
	for (; info->name; info++, longs++) {
		assert(info - help->options < MOST_OPTIONS);
		*longs = (struct option) {
			.name = info->name,
			.has_arg = info->argument ? required_argument :
						    no_argument,
			.val = info->id,
		};
		if (info->id >= 256)
			continue;
		*shorts++ = (char)info->id;
		if (info->argument)
			*shorts++ = ':';
	}
	*longs++ = (struct option) { .name = "help", .val = HELP_ID };
	*longs = (struct option) { 0 };
	*shorts++ = HELP_ID;
	*shorts = '\0';
}

int options_wrong(const struct options *options, const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	say("%s; see 'cprec %s --help'", text, options->help->name);
	return OPTIONS_WRONG;
}

static int unknown_option(const struct options *options)
{
	const char *last = options->argv[optind - 1];

	/* A letter may stand among others; a long one is what was just read. */
	if (optopt == 0)
		return options_wrong(options, "there is no option '%s'", last);
	if (!strncmp(last, "--", 2))
		return options_wrong(options, "'%s': it takes no value", last);
	return options_wrong(options, "there is no option '-%c'", optopt);
}

int options_next(struct options *options)
{
	struct option longs[MOST_OPTIONS + 2];
	char shorts[2 * MOST_OPTIONS + 6];
	int id;

	make_tables(options->help, longs, shorts);
	opterr = 0;
	id = getopt_long(options->argc, options->argv, shorts, longs, NULL);
	options->value = optarg;
	options->first = optind;
	switch (id) {
	case -1:
		return OPTIONS_END;
	case HELP_ID:
		print_help(options->help);
		return OPTIONS_HELP;
	case ':':
		return options_wrong(options, "'%s' needs a value",
				     options->argv[optind - 1]);
	case '?':
		return unknown_option(options);
	default:
		return id;
	}
}

int options_left(const struct options *options)
{
	return options->argc - options->first;
}

const char *options_file(const struct options *options)
{
	if (options_left(options) == 1)
		return options->argv[options->first];
	options_wrong(options, options_left(options) ?
			       "only one FILE can be given" :
			       "a FILE is missing");
	return NULL;
}

int options_bad_value(const struct options *options, int id,
		      const char *wanted)
{
	const struct option_info *info = options->help->options;

	while (info->id != id)
		info++;
	return options_wrong(options, "'--%s' takes %s, not '%s'", info->name,
			     wanted, options->value);
}
