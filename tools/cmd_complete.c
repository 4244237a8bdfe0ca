/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_complete.c - cprec complete: what a word of a command line may become
 *
 * Shells ask it (tools/completion/): its arguments are the words up to the one
 * that is being typed.  It prints what that may be, a line each, or in place
 * of that what the shell itself is to complete: ":recording", ":file" or
 * ":program N" (words from the Nth on are another command).  What stands for an
 * option's value in its help says what is known of the value.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/expressions.h"
#include "replayer/recording/recording.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"
#include "tools/commands.h"
#include "tools/dump_packets.h"
#include "tools/messages.h"
#include "tools/newest.h"
#include "tools/options.h"
#include "tools/processes.h"

static int run(struct options *options);

const struct command command_complete = {
	.name = "complete",
	.run = run,
	.kind = COMMAND_TAKES_WORDS,
	.usage = "complete -- WORD...",
	.about = "Prints what the last word of a command line may become, for"
		 " shells.",
	.options = (const struct option_info[]) { { 0 } },
};

struct completion {
	const struct command *command;
	char **words;		/* the command's name, and what follows */
	int count;
	char before[64];	/* of the word, what stays: "--at=" */
	const char *typed;	/* of the word, what is to be completed */
	size_t count_offered;	/* of the program's own names */
	size_t *printed;	/* words */
};

static void offer(const struct completion *completion, const char *text,
		  const char *end)
{
	if (strncmp(text, completion->typed, strlen(completion->typed)))
		return;
	printf("%s%s%s\n", completion->before, text, end);
	++*completion->printed;
}

/* ------- from the recording ------- */

/* The first argument that is no option; NULL: there is none yet. */
static char *find_argument(const struct completion *completion)
{
	for (int i = 1; i < completion->count - 1; i++) {
		const struct option_info *info =
			options_find(completion->command,
				     completion->words[i]);

		if (info && info->argument &&
		    !strchr(completion->words[i], '='))
			i++;
		else if (completion->words[i][0] != '-')
			return completion->words[i];
	}
	return NULL;
}

/* The one that is named, or the newest; free() it. */
static char *recording_path(const struct completion *completion)
{
	const char *path = find_argument(completion);
	struct failure why;
	char *newest;
	size_t others;

	if (path)
		return strdup(path);
	return newest_recording(&newest, &others, &why) ? NULL : newest;
}

static struct recording *open_recording(const struct completion *completion)
{
	char *path = recording_path(completion);
	struct recording *recording = NULL;
	struct failure why;
	size_t others;

	if (path && recording_open(&recording, path, &why))
		recording = NULL;
	free(path);
	/* What was named may have been something else. */
	if (!recording && !newest_recording(&path, &others, &why)) {
		if (recording_open(&recording, path, &why))
			recording = NULL;
		free(path);
	}
	return recording;
}

static void offer_threads(const struct completion *completion, const char *end)
{
	struct recording *recording = open_recording(completion);
	struct failure why;
	char text[24];
	uint32_t tid;

	if (!recording)
		return;
	for (uint32_t i = 0; i < recording_threads(recording); i++) {
		if (recording_tid(recording, i, &tid, &why))
			break;
		snprintf(text, sizeof(text), "%" PRIu32, tid);
		offer(completion, text, end);
	}
	recording_close(recording);
}

/* Numbers, and names that only one has. */
static void offer_processes(const struct completion *completion)
{
	char *path = recording_path(completion);
	struct processes processes = { 0 };
	struct family_files files = { 0 };
	struct failure why;
	char text[24];

	if (!path || family_files_find(&files, path, &why) ||
	    processes_load(&processes, &files, false, &why))
		processes.count = 0;
	for (size_t i = 0; i < processes.count; i++) {
		const struct process *process = &processes.list[i];

		snprintf(text, sizeof(text), "%" PRIu32, process->pid);
		offer(completion, text, "");
		if (process->name)
			offer(completion, process->name, "");
	}
	processes_release(&processes);
	family_files_release(&files);
	free(path);
}

/* Symbols of a module, all but a few by their beginning. */
static void offer_module(struct completion *completion,
			 const struct symbols *symbols, bool is_program)
{
	const char *slash = strrchr(symbols->path, '/');
	const char *name = slash ? slash + 1 : symbols->path;
	bool with_module = strchr(completion->typed, '!') != NULL;
	char text[512];

	snprintf(text, sizeof(text), "%s!", name);
	if (!is_program && !with_module)
		offer(completion, text, "");
	if (!is_program && !completion->typed[0])
		return;
	if (with_module && strncmp(text, completion->typed, strlen(text)) != 0)
		return;
	for (size_t i = 0; i < symbols->count; i++) {
		snprintf(text, sizeof(text), "%s%s%s", with_module ? name : "",
			 with_module ? "!" : "", symbols->list[i].name);
		if (is_program && !strncmp(text, completion->typed,
					   strlen(completion->typed)))
			completion->count_offered++;
		offer(completion, text, "");
	}
}

/* Of the program, at the time that is asked for, or the end. */
static void offer_expression(void *opaque, const char *text)
{
	struct completion *completion = opaque;

	offer(completion, text, "");
	completion->count_offered++;
}

static const char *time_of(const struct completion *completion)
{
	for (int i = 1; i < completion->count; i++)
		if (!strncmp(completion->words[i], "--at=", 5))
			return completion->words[i] + 5;
	return "end";
}

static void offer_variables(struct completion *completion, struct lines *lines)
{
	struct recording *recording = names_recording(lines_names(lines));
	struct expressions *expressions = NULL;
	struct query *query = NULL;
	struct position at;
	struct failure why;
	bool is_time;

	if (!place_position(&at, &is_time, recording, time_of(completion),
			    &why) &&
	    !query_create(&query, recording, &why) &&
	    !expressions_create(&expressions, lines, query, &why))
		expressions_complete(expressions, &at, completion->typed,
				     offer_expression, completion);
	expressions_destroy(expressions);
	query_destroy(query);
}

/* What libraries have is offered where the program has nothing. */
static void offer_names(struct completion *completion, struct names *names)
{
	struct recording *recording = names_recording(names);
	uint64_t end = recording_end(recording), bias;
	const struct symbols *symbols, *own = names_own(names, end, &bias);

	if (own && !completion->count_offered)
		offer_module(completion, own, true);
	if (completion->count_offered && *completion->typed)
		return;
	for (size_t i = 0; (symbols = names_mapped(names, end, i, &bias)); i++)
		if (symbols != own)
			offer_module(completion, symbols, false);
}

static void offer_symbols(struct completion *completion)
{
	struct recording *recording = open_recording(completion);
	struct lines *lines = NULL;
	struct failure why;

	if (recording && !lines_create(&lines, recording, &why)) {
		offer_variables(completion, lines);
		if (!completion->count_offered || !*completion->typed)
			offer_names(completion, lines_names(lines));
	}
	lines_destroy(lines);
	recording_close(recording);
}

/* ------- functions ------- */

static bool is_any(const char *name)
{
	(void)name;
	return true;
}

static int compare_names(const void *left, const void *right)
{
	const struct call_function *const *a = left, *const *b = right;

	return strcmp((*a)->name, (*b)->name);
}

/* Without the types of arguments: one name for all that differ in these. */
static void offer_function_names(struct completion *completion,
				 struct call_functions *functions)
{
	char text[512], last[512] = "";

	if (functions->count)
		qsort(functions->list, functions->count,
		      sizeof(*functions->list), compare_names);
	for (size_t i = 0; i < functions->count; i++) {
		const char *name = functions->list[i]->name;
		size_t size = *name == '(' ? strlen(name) : strcspn(name, "(");

		snprintf(text, sizeof(text), "%.*s", (int)size, name);
		if (!strcmp(text, last) || strncmp(text, completion->typed,
						   strlen(completion->typed)))
			continue;
		offer(completion, text, "");
		completion->count_offered++;
		memcpy(last, text, sizeof(last));
	}
}

/* As 'cprec calls' lists them. */
static void offer_own_functions(struct completion *completion,
				struct lines *lines)
{
	struct names *names = lines_names(lines);
	struct recording *recording = names_recording(names);
	uint64_t end = recording_end(recording), bias;
	const struct symbols *own = names_own(names, end, &bias), *symbols;
	struct call_functions functions = { .lines = lines,
					    .is_wanted = is_any };

	for (size_t i = 0; (symbols = names_mapped(names, end, i, &bias)); i++)
		if (symbols == own &&
		    !call_functions_list(&functions, end, i, NULL))
			offer_function_names(completion, &functions);
	call_functions_release(&functions);
}

/* The program's; of libraries, where it has none. */
static void offer_functions(struct completion *completion)
{
	struct recording *recording = open_recording(completion);
	struct lines *lines = NULL;

	if (recording && !lines_create(&lines, recording, NULL)) {
		offer_own_functions(completion, lines);
		if (!completion->count_offered && *completion->typed)
			offer_names(completion, lines_names(lines));
	}
	lines_destroy(lines);
	recording_close(recording);
}

/* ------- values ------- */

static void offer_times(const struct completion *completion)
{
	offer(completion, "start", "");
	offer(completion, "end", "");
	offer(completion, "50%", "");
	offer(completion, "output:", "");
	offer_threads(completion, ":");
}

static void offer_formats(const struct completion *completion)
{
	for (const char *letter = EXPRESSION_FORMATS; *letter; letter++)
		offer(completion, (const char[]) { *letter, '\0' }, "");
	offer(completion, "raw", "");
}

static void offer_kinds(const struct completion *completion)
{
	const char *kind;

	for (size_t i = 0; (kind = dump_kind(i)); i++)
		offer(completion, kind, "");
}

/* What a value of an option may be, by what stands for it in the help. */
static void offer_value(struct completion *completion, const char *argument)
{
	if (!strcmp(argument, "A") || !strcmp(argument, "E")) {
		offer_symbols(completion);
	} else if (!strcmp(argument, "PLACE")) {
		offer_functions(completion);
	} else if (!strcmp(argument, "F")) {
		offer_formats(completion);
	} else if (!strcmp(argument, "T")) {
		offer_times(completion);
	} else if (!strcmp(argument, "TID")) {
		offer_threads(completion, "");
		offer(completion, "all", "");
	} else if (!strcmp(argument, "PID")) {
		offer_processes(completion);
	} else if (!strcmp(argument, "KIND")) {
		offer_kinds(completion);
	} else if (!strcmp(argument, "HOW")) {
		offer(completion, "random", "");
	} else if (!strcmp(argument, "FILE")) {
		puts(":file");
	}
}

/* ------- words ------- */

static void offer_commands(const struct completion *completion)
{
	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->summary)
			offer(completion, commands[i]->name, "");
	offer(completion, "help", "");
	offer(completion, "version", "");
}

static void offer_options(const struct completion *completion)
{
	const struct option_info *info = completion->command->options;
	char text[48];

	for (; info->name; info++) {
		if (info->instead)
			continue;
		snprintf(text, sizeof(text), "--%s", info->name);
		offer(completion, text, info->argument ? "=" : "");
	}
	if (completion->command->kind == COMMAND_ASKS)
		offer(completion, "--pid", "=");
	offer(completion, "--help", "");
}

/* The program that is recorded and its arguments, as another command line. */
static bool is_of_program(const struct completion *completion)
{
	const char *program = find_argument(completion);

	if (completion->command->kind != COMMAND_RUNS_PROGRAM)
		return false;
	return program || completion->typed[0] != '-';
}

/* Counted in the words that the shell has, where "cprec" comes first. */
static int number_of_program(const struct completion *completion)
{
	const char *program = find_argument(completion);

	for (int i = 1; i < completion->count; i++)
		if (completion->words[i] == program)
			return i + 1;
	return completion->count;
}

/* An option before the word, whose value the word is. */
static const struct option_info *
option_before(const struct completion *completion)
{
	const char *before = completion->words[completion->count - 2];
	const struct option_info *info;

	if (completion->count < 3 || strchr(before, '='))
		return NULL;
	info = options_find(completion->command, before);
	return info && info->argument ? info : NULL;
}

/* Behind the recording, or in place of it, some take functions. */
static void complete_argument(struct completion *completion)
{
	const char *arguments = completion->command->arguments;
	bool takes = arguments && (strstr(arguments, "PATTERN") ||
				   strstr(arguments, "=>"));

	if (takes && (*completion->typed || find_argument(completion)))
		offer_functions(completion);
	if (!*completion->printed)
		puts(":recording");
}

static void complete_word(struct completion *completion)
{
	const struct option_info *info = option_before(completion);
	char *word = completion->words[completion->count - 1];
	char *mark = word[0] == '-' ? strchr(word, '=') : NULL;

	if (!info && mark)
		info = options_find(completion->command, word);
	if (!info && is_of_program(completion)) {
		printf(":program %d\n", number_of_program(completion));
	} else if (!info && word[0] == '-') {
		offer_options(completion);
	} else if (!info) {
		complete_argument(completion);
	} else if (info->argument) {
		if (mark) {
			completion->typed = mark + 1;
			snprintf(completion->before, sizeof(completion->before),
				 "%.*s", (int)(mark + 1 - word), word);
		}
		offer_value(completion, info->argument);
	}
}

static void complete_line(struct completion *completion)
{
	completion->command = command_find(completion->words[0]);
	completion->typed = completion->words[completion->count - 1];
	if (completion->count == 1)
		offer_commands(completion);
	else if (!strcmp(completion->words[0], "help") &&
		 completion->count == 2)
		offer_commands(completion);
	else if (completion->command)
		complete_word(completion);
}

static int run(struct options *options)
{
	size_t printed = 0;
	struct completion completion = { .printed = &printed };
	char **words = options_program(options, options_next(options));

	if (!words)
		return options->status;
	/* The first is "cprec", by whatever name. */
	completion.words = words + 1;
	completion.count = options->argc - options->first - 1;
	if (completion.count > 0)
		complete_line(&completion);
	return finish_output(EXIT_ANSWERED);
}
