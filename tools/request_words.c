/* SPDX-License-Identifier: GPL-2.0-or-later */
/* request_words.c - see request_words.h */
#include "tools/request_words.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/nearest.h"
#include "tools/commands.h"
#include "tools/options.h"

/* Keys that are no options. */
static const char *const own_keys[] = { "id", "command", "file", "arguments" };

bool request_may_ask(const struct command *command)
{
	return options_find(command, "--json") && !command->makes;
}

static int no_memory(struct failure *why)
{
	return failed(why, ERR_NO_MEMORY, "out of memory");
}

/* Takes over the text; NULL: there was no memory for it. */
static int add(struct request_words *words, char *text, struct failure *why)
{
	char **argv = realloc(words->argv, ((size_t)words->argc + 2) *
					   sizeof(*argv));

	if (argv)
		words->argv = argv;
	if (!argv || !text) {
		free(text);
		return no_memory(why);
	}
	argv[words->argc++] = text;
	argv[words->argc] = NULL;
	return 0;
}

static int add_copy(struct request_words *words, const char *text,
		    struct failure *why)
{
	return add(words, strdup(text), why);
}

/* "TEXT" or "--NAME=TEXT"; a number as it is. */
static int add_value(struct request_words *words, const char *key,
		     const char *before, const json_t *value,
		     struct failure *why)
{
	char *text = NULL;
	int size;

	if (json_is_string(value))
		size = asprintf(&text, "%s%s", before,
				json_string_value(value));
	else if (json_is_integer(value))
		size = asprintf(&text, "%s%" JSON_INTEGER_FORMAT, before,
				json_integer_value(value));
	else
		return failed(why, ERR_INPUT, "'%.40s' takes a text or a whole"
			      " number", key);
	return add(words, size < 0 ? NULL : text, why);
}

/* The same of each in a list, or of a single one. */
static int add_values(struct request_words *words, const char *key,
		      const char *before, const json_t *value,
		      struct failure *why)
{
	int rc = 0;

	if (!json_is_array(value))
		return add_value(words, key, before, value, why);
	for (size_t i = 0; i < json_array_size(value) && !rc; i++)
		rc = add_value(words, key, before, json_array_get(value, i),
			       why);
	return rc;
}

static int no_option(const struct request_words *words, const char *key,
		     struct failure *why)
{
	const struct option_info *info;
	struct nearest nearest;
	char text[NEAREST_TEXT];

	nearest_begin(&nearest, key, strlen(key));
	for (size_t i = 0; (info = options_at(words->command, i)); i++)
		if (!info->instead)
			nearest_offer(&nearest, info->name);
	for (size_t i = 0; i < sizeof(own_keys) / sizeof(own_keys[0]); i++)
		nearest_offer(&nearest, own_keys[i]);
	return failed(why, ERR_INPUT, "'%s' has no option '%.40s'%s",
		      words->command->name, key,
		      nearest_text(&nearest, text));
}

static int add_option(struct request_words *words, const char *key,
		      const json_t *value, struct failure *why)
{
	const struct option_info *info;
	char text[64];

	snprintf(text, sizeof(text), "--%s", key);
	info = strlen(key) + 2 < sizeof(text) && !strchr(key, '=') ?
		       options_find(words->command, text) : NULL;
	if (!info)
		return no_option(words, key, why);
	/* Said already. */
	if (json_is_null(value) || !strcmp(key, "json"))
		return 0;
	if (info->argument) {
		snprintf(text, sizeof(text), "--%s=", info->name);
		return add_values(words, key, text, value, why);
	}
	if (!json_is_boolean(value))
		return failed(why, ERR_INPUT, "'%s' takes true or false", key);
	return json_is_true(value) ? add_copy(words, text, why) : 0;
}

static bool is_own(const char *key)
{
	for (size_t i = 0; i < sizeof(own_keys) / sizeof(own_keys[0]); i++)
		if (!strcmp(key, own_keys[i]))
			return true;
	return false;
}

static int add_options(struct request_words *words, const json_t *request,
		       struct failure *why)
{
	void *at = json_object_iter((json_t *)request);
	int rc = 0;

	for (; at && !rc; at = json_object_iter_next((json_t *)request, at))
		if (!is_own(json_object_iter_key(at)))
			rc = add_option(words, json_object_iter_key(at),
					json_object_iter_value(at), why);
	return rc;
}

/* Standard input has the requests. */
static int check_arguments(const struct request_words *words, int first,
			   struct failure *why)
{
	for (int i = first; i < words->argc; i++)
		if (!strcmp(words->argv[i], "-"))
			return failed(why, ERR_INPUT,
				      "'-' cannot be asked here");
	return 0;
}

static int add_arguments(struct request_words *words, const json_t *request,
			 struct failure *why)
{
	const json_t *file = json_object_get(request, "file");
	const json_t *arguments = json_object_get(request, "arguments");
	int first, rc = add_copy(words, "--", why);

	first = words->argc;
	words->has_file = file && !json_is_null(file);
	if (words->has_file && words->command->kind != COMMAND_ASKS)
		return failed(why, ERR_INPUT,
			      "'%s' takes its files as 'arguments'",
			      words->command->name);
	if (!rc && words->has_file)
		rc = add_value(words, "file", "", file, why);
	if (!rc && arguments && !json_is_null(arguments))
		rc = add_values(words, "arguments", "", arguments, why);
	return rc ? rc : check_arguments(words, first, why);
}

static int find_command(struct request_words *words, const json_t *request,
			struct failure *why)
{
	const char *name =
		json_string_value(json_object_get(request, "command"));
	struct nearest nearest;
	char text[NEAREST_TEXT];

	if (!name)
		return failed(why, ERR_INPUT, "'command' is missing");
	words->command = command_find(name);
	if (words->command && request_may_ask(words->command))
		return 0;
	nearest_begin(&nearest, name, strlen(name));
	for (size_t i = 0; commands[i]; i++)
		if (request_may_ask(commands[i]))
			nearest_offer(&nearest, commands[i]->name);
	if (words->command)
		return failed(why, ERR_INPUT, "'%s' cannot be asked here",
			      name);
	return failed(why, ERR_INPUT, "there is no command '%.40s'%s", name,
		      nearest_text(&nearest, text));
}

int request_words_make(struct request_words *out, const json_t *request,
		       struct failure *why)
{
	int rc;

	*out = (struct request_words) { 0 };
	rc = find_command(out, request, why);
	if (!rc)
		rc = add_copy(out, out->command->name, why);
	if (!rc)
		rc = add_copy(out, "--json", why);
	if (!rc)
		rc = add_options(out, request, why);
	if (!rc)
		rc = add_arguments(out, request, why);
	return rc;
}

void request_words_release(struct request_words *words)
{
	for (int i = 0; i < words->argc; i++)
		free(words->argv[i]);
	free(words->argv);
	*words = (struct request_words) { 0 };
}
