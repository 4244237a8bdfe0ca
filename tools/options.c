/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.c - see options.h */
#include "tools/options.h"

#include <assert.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/nearest.h"
#include "replayer/session/session.h"
#include "tools/commands.h"
#include "tools/messages.h"
#include "tools/newest.h"

#define MOST_OPTIONS 28
#define NAME_TYPED 40u
#define DASH "-"
#define HELP_ID 'h'
#define PID_ID 1000		/* above those of all commands */

/* Of all commands that ask a recording. */
static const struct option_info pid_option = {
	PID_ID, "pid", "PID",
	"another process that was recorded with this one:\n"
	"its number or name, as 'cprec ps' shows them"
};

const struct option_info *options_at(const struct command *command,
				     size_t index)
{
	size_t count = 0;

	while (command->options[count].name)
		count++;
	if (index < count)
		return &command->options[index];
	return index == count && command->kind == COMMAND_ASKS ? &pid_option :
								 NULL;
}

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

static void print_help(const struct command *command)
{
	static const struct option_info help_option = {
		HELP_ID, "help", NULL, "print this text"
	};
	const struct option_info *info;

	printf("usage: cprec %s\n\n%s\n\noptions:\n", command->usage, command->about);
	for (size_t i = 0; (info = options_at(command, i)); i++)
		if (!info->instead)
			print_option(info);
	print_option(&help_option);
	if (command->notes)
		printf("\n%s\n", command->notes);
}

/* The tables that getopt_long() wants. */
static void make_tables(const struct command *command,
			struct option *longs, char *shorts)
{
	const struct option_info *info = command->options;

	if (command->kind == COMMAND_RUNS_PROGRAM ||
	    command->kind == COMMAND_TAKES_WORDS)
		*shorts++ = '+';
	*shorts++ = ':';
	for (; info->name; info++, longs++) {
		assert(info - command->options < MOST_OPTIONS);
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
	if (command->kind == COMMAND_ASKS)
		*longs++ = (struct option) {
			.name = pid_option.name,
			.has_arg = required_argument,
			.val = PID_ID,
		};
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
	say("%s; see 'cprec %s --help'", text, options->command->name);
	return OPTIONS_WRONG;
}

static int no_option(const struct options *options, const char *typed)
{
	const struct option_info *info;
	struct nearest nearest;
	char meant[40] = "", text[NEAREST_TEXT];

	nearest_begin(&nearest, typed + 2, strcspn(typed + 2, "="));
	for (size_t i = 0; (info = options_at(options->command, i)); i++)
		if (!info->instead)
			nearest_offer(&nearest, info->name);
	if (*nearest.name) {
		snprintf(meant, sizeof(meant), "--%.30s", nearest.name);
		memcpy(nearest.name, meant, sizeof(meant));
	}
	return options_wrong(options, "there is no option '%s'%s", typed,
			     nearest_text(&nearest, text));
}

static int unknown_option(const struct options *options)
{
	const char *last = options->argv[optind - 1];

	/* A letter may stand among others; a long one is what was just read. */
	if (optopt == 0)
		return no_option(options, last);
	if (!strncmp(last, "--", 2))
		return options_wrong(options, "'%s': it takes no value", last);
	return options_wrong(options, "there is no option '-%c'", optopt);
}

static bool is_called(const struct option_info *info, const char *word)
{
	size_t size = strcspn(word, "=");

	if (info->id < 256 && word[0] == '-' && word[1] == info->id && !word[2])
		return true;
	return !strncmp(word, "--", 2) && size > 2 &&
	       size - 2 == strlen(info->name) &&
	       !strncmp(word + 2, info->name, size - 2);
}

const struct option_info *options_find(const struct command *command,
				       const char *word)
{
	const struct option_info *info;

	for (size_t i = 0; (info = options_at(command, i)); i++)
		if (is_called(info, word))
			break;
	return info;
}

static size_t place_of(const struct options *options, int id)
{
	size_t place = 0;

	while (options->command->options[place].id != id)
		place++;
	return place;
}

static int take_option(struct options *options, int id)
{
	size_t place = place_of(options, id);
	const struct option_info *info = &options->command->options[place];

	if (info->instead)
		return options_wrong(options, "there is no option '--%s': it is"
				     " '%s'", info->name, info->instead);
	options->given |= UINT64_C(1) << place;
	return id;
}

int options_next(struct options *options)
{
	struct option longs[MOST_OPTIONS + 3];
	char shorts[2 * MOST_OPTIONS + 6];
	int id;

	make_tables(options->command, longs, shorts);
	opterr = 0;
	id = getopt_long(options->argc, options->argv, shorts, longs, NULL);
	options->value = optarg;
	options->first = optind;
	switch (id) {
	case -1:
		return OPTIONS_END;
	case HELP_ID:
		print_help(options->command);
		return OPTIONS_HELP;
	case PID_ID:
		options->pid = optarg;
		return options_next(options);
	case ':':
		return options_wrong(options, "'%s' needs a value",
				     options->argv[optind - 1]);
	case '?':
		return unknown_option(options);
	default:
		return take_option(options, id);
	}
}

bool options_take_last(struct options *options, const char *text)
{
	if (options->first == options->argc ||
	    strcmp(options->argv[options->argc - 1], text) != 0)
		return false;
	options->taken = options->argv[--options->argc];
	return true;
}

bool options_has_recording(const struct options *options)
{
	const char *word = options->argv[options->first];
	size_t length = word ? strlen(word) : 0;

	if (options->first == options->argc || options->has_file)
		return options->has_file;
	return !access(word, F_OK) ||
	       (length > 4 && !strcmp(word + length - 4, ".cpr"));
}

char **options_take_words(struct options *options, size_t *count)
{
	int first = options->first;

	first += options_has_recording(options);
	*count = (size_t)(options->argc - first);
	options->argc = first;
	return options->argv + first;
}

/* ------- what goes together ------- */

/* The next of some names, as it is typed; false behind the last. */
static bool next_name(const char **names, char typed[NAME_TYPED])
{
	size_t size = strcspn(*names, " ");

	if (!size)
		return false;
	snprintf(typed, NAME_TYPED, "%s%.*s",
		 !strncmp(*names, DASH, size) ? "" : "--", (int)size, *names);
	*names += size + strspn(*names + size, " ");
	return true;
}

bool options_has(const struct options *options, int id)
{
	return options->given >> place_of(options, id) & 1;
}

const char *options_name(const struct options *options, int id)
{
	return options->command->options[place_of(options, id)].name;
}

static bool is_given(const struct options *options, const char *typed)
{
	const struct option_info *info = options->command->options;

	if (!strcmp(typed, DASH))
		return options->taken && !strcmp(options->taken, DASH);
	if (!strcmp(typed + 2, pid_option.name))
		return options->pid;
	for (size_t i = 0; info[i].name; i++)
		if (!strcmp(info[i].name, typed + 2))
			return options->given >> i & 1;
	return false;
}

/* "--addr, --registers or '-'" */
static void list_names(const char *names, char *text, size_t room)
{
	char typed[NAME_TYPED];
	size_t size = 0;

	while (next_name(&names, typed) && size < room)
		size += (size_t)snprintf(text + size, room - size,
					 strcmp(typed, DASH) ? "%s%s" :
							       "%s'%s'",
					 !size ? "" : *names ? ", " : " or ",
					 typed);
}

/* Refuses an option that means nothing beside the others. */
static bool fits(const struct options *options, const struct option_info *info)
{
	const char *with = info->with ? info->with : "";
	const char *without = info->without ? info->without : "";
	char typed[NAME_TYPED], text[100] = "";
	bool has_any = !*with;

	while (next_name(&with, typed))
		has_any |= is_given(options, typed);
	if (!has_any) {
		list_names(info->with, text, sizeof(text));
		options_wrong(options, "--%s is for %s only", info->name, text);
		return false;
	}
	while (next_name(&without, typed)) {
		if (!is_given(options, typed))
			continue;
		options_wrong(options, "--%s and %s exclude each other",
			      info->name,
			      strcmp(typed, DASH) ? typed : "'-'");
		return false;
	}
	return true;
}

/* Whether options and arguments are all right, so that there is work to do. */
static bool is_complete(struct options *options, int id)
{
	const struct option_info *info = options->command->options;

	options->status = EXIT_USAGE;
	if (id == OPTIONS_HELP)
		options->status = finish_output(EXIT_ANSWERED);
	if (id != OPTIONS_END)
		return false;
	for (size_t i = 0; info[i].name; i++)
		if (options->given >> i & 1 && !fits(options, &info[i]))
			return false;
	return true;
}

/* The argument, or the newest one here. */
static const char *named_recording(struct options *options)
{
	struct failure why;
	size_t count;

	if (options->first < options->argc)
		return options->argv[options->first];
	if (newest_recording(&options->found, &count, &why))
		options->status = say_failure(&why);
	else if (count > 1)
		say_note("'%s' is taken, the newest of %zu recordings here",
			 options->found, count);
	return options->found;
}

const char *options_recording(struct options *options, int id)
{
	struct failure why;
	const char *path;
	char *member;

	if (!is_complete(options, id))
		return NULL;
	if (options->argc - options->first > 1) {
		options_wrong(options, "only one FILE can be given");
		return NULL;
	}
	path = named_recording(options);
	if (!path || !options->pid)
		return path;
	if (family_find(&member, path, options->pid, &why))
		options->status = say_failure(&why);
	free(options->found);
	options->found = member;
	return member;
}

char **options_program(struct options *options, int id)
{
	if (!is_complete(options, id))
		return NULL;
	if (options->first < options->argc)
		return options->argv + options->first;
	options_wrong(options, "which program to %s is missing",
		      options->command->name);
	return NULL;
}

char **options_files(struct options *options, int id, size_t least, size_t most,
		     size_t *count)
{
	if (!is_complete(options, id))
		return NULL;
	*count = (size_t)(options->argc - options->first);
	if (least <= *count && *count <= most)
		return options->argv + options->first;
	options_wrong(options, "%s", *count ? least <= *count ?
			       "too many arguments" :
			       "the new name is missing" :
			       "a FILE is missing");
	return NULL;
}

void options_release(struct options *options)
{
	free(options->found);
	options->found = NULL;
}

int options_bad_value(const struct options *options, int id,
		      const char *wanted)
{
	const struct option_info *info =
		&options->command->options[place_of(options, id)];

	return options_wrong(options, "'--%s' takes %s, not '%s'", info->name,
			     wanted, options->value);
}

int options_take_time(const struct options *options, int id, const char **out)
{
	*out = options->value;
	return place_may_be_time(options->value) ? 0 :
	       options_bad_value(options, id, PLACE_TIME_WANTED);
}
