/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vocabulary.c - see vocabulary.h */
#include "tools/vocabulary.h"

#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/print.h"
#include "tools/request_words.h"

#define PROTOCOL 1		/* goes up when requests or answers change */

/* Lines of a help text are one text. */
static void set_words(json_t *object, const char *key, const char *text)
{
	char *words = strdup(text);

	for (char *end = words; end && (end = strchr(end, '\n'));)
		*end = ' ';
	if (words)
		json_set_text(object, key, words);
	free(words);
}

static json_t *describe_option(const struct option_info *info)
{
	json_t *object = json_object();

	json_set_text(object, "name", info->name);
	if (info->argument)
		json_set_text(object, "argument", info->argument);
	set_words(object, "summary", info->summary);
	return object;
}

static json_t *describe_options(const struct command *command)
{
	const struct option_info *info;
	json_t *list = json_array();

	for (size_t i = 0; (info = options_at(command, i)); i++)
		if (!info->instead && strcmp(info->name, "json") != 0)
			json_array_append_new(list, describe_option(info));
	return list;
}

static json_t *describe_command(const struct command *command)
{
	json_t *object = json_object();

	json_set_text(object, "name", command->name);
	json_set_text(object, "summary", command->summary);
	json_set_text(object, "usage", command->usage);
	set_words(object, "about", command->about);
	json_object_set_new(object, "options", describe_options(command));
	return object;
}

json_t *vocabulary(void)
{
	json_t *object = json_object(), *list = json_array();

	json_set_text(object, "version", CPREC_RELEASE);
	json_set_count(object, "protocol", PROTOCOL);
	for (size_t i = 0; commands[i]; i++)
		if (request_may_ask(commands[i]))
			json_array_append_new(list,
					      describe_command(commands[i]));
	json_object_set_new(object, "commands", list);
	return object;
}
