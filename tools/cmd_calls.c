/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_calls.c - cprec calls: calls of functions, with arguments and results */
#include <stdlib.h>

#include "formats/error.h"
#include "replayer/expressions/expressions.h"
#include "replayer/recording/recording.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"
#include "tools/asking.h"
#include "tools/commands.h"
#include "tools/copy_notes.h"
#include "tools/debug_notes.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/print_calls.h"
#include "tools/shown_values.h"

static int run(struct options *options);

enum { OPTION_FROM = 256, OPTION_TO, OPTION_THREAD, OPTION_PROCESS,
       OPTION_LIMIT, OPTION_DEPTH, OPTION_COUNT, OPTION_DEBUG_DIR,
       OPTION_JSON, OPTION_ELEMENTS, OPTION_RAW };

const struct command command_calls = {
	.name = "calls",
	.run = run,
	.arguments = "[FILE] PATTERN...",
	.summary = "calls of functions: arguments, results",
	.usage = "calls [OPTION...] [FILE] PATTERN...",
	.about = "Lists each call of the functions that a PATTERN means: when"
		 " it began, by which\n"
		 "thread, with which arguments, what it returned, how many"
		 " instructions that took,\n"
		 "and from where.  Calls that others made are indented.\n"
		 "PATTERN is a name as in the program (malloc, Server::serve),"
		 " with '*', '?' and\n"
		 "'[...]' as in shells; LIBRARY!PATTERN: only of that library;"
		 " FILE.c:PATTERN:\n"
		 "only of that source file.",
	.options = (const struct option_info[]) {
		{ OPTION_FROM, "from", "T",
		  "calls that begin at this time or later; without\n"
		  "this, from the start on" },
		{ OPTION_TO, "to", "T",
		  "no further than to this time; without this, to the\n"
		  "end" },
		{ OPTION_THREAD, "thread", "TID", "calls of this thread" },
		{ OPTION_PROCESS, "process", "P",
		  "of a machine: only in this process of its kernel, a\n"
		  "number or a name; its programs' names are known" },
		{ OPTION_LIMIT, "limit", "N",
		  "no more than the first N calls" },
		{ OPTION_DEPTH, "depth", "N",
		  "no calls within N others that are listed" },
		{ OPTION_COUNT, "count", NULL,
		  "only how many calls of each function there were, and\n"
		  "how many instructions were executed in them" },
		SHOWN_ROWS(OPTION_ELEMENTS, OPTION_RAW),
		{ OPTION_DEBUG_DIR, "debug-dir", "DIR",
		  "where debugging information is looked for, too" },
		{ OPTION_JSON, "json", NULL,
		  "one JSON object per line: at, thread, depth,\n"
		  "function, passed, returned, not_returned,\n"
		  "instructions, until, caller; or function, calls,\n"
		  "instructions" },
		{ 0 }
	},
	.notes = "Arguments and results have types with debugging information;"
		 " without, the\n"
		 "registers of the first three and of the result are shown.  A"
		 " function that was\n"
		 "inlined is not called.  Exits with 1 if nothing was called.",
};

struct calls_command {
	struct asking asking;
	struct symbol_pattern *patterns;
	bool *is_found;		/* of each */
	size_t pattern_count;
	struct calls_question question;
	uint64_t begun;		/* calls, so far */
	bool is_part;		/* of the recording, or of its threads */
	bool json, count;
	struct call_lines out;
};

/* ------- answers ------- */

static int on_begin(void *context, struct call *call, struct failure *why)
{
	struct calls_command *command = context;

	command->begun++;
	return command->count ? 0 : call_lines_begin(&command->out, call, why);
}

static int on_end(void *context, struct call *call, struct failure *why)
{
	struct calls_command *command = context;

	return command->count ? 0 : call_lines_end(&command->out, call, why);
}

/* No pattern has an answer, or only this one has none. */
static void say_uncalled(const struct calls_command *command, const char *name)
{
	void (*tell)(const char *format, ...)
		__attribute__((format(printf, 1, 2))) =
			command->begun ? say_note : say;
	char from[POSITION_TEXT], to[POSITION_TEXT];

	if (command->is_part)
		tell("'%s' was not called from t=%s to t=%s%s", name,
		     position_text(from, &command->question.from),
		     position_text(to, &command->question.to),
		     command->question.user.some_thread ? " by that thread" :
							   "");
	else
		tell("'%s' was never called", name);
}

/*
 * Patterns that mean nothing, what was not called, and what was inlined: others
 * were listed.
 */
static void say_absent(const struct calls_command *command,
		       const struct call_functions *functions)
{
	struct failure why;

	/* Nobody has looked for those that a library brings later. */
	if (command->begun == command->question.user.limit)
		return;
	for (size_t i = 0; i < command->pattern_count; i++) {
		struct inlined_copies copies;

		if (command->is_found[i] &&
		    !function_copies_count(functions->lines,
					   command->question.to.time,
					   &command->patterns[i], &copies,
					   &why))
			copies_note_uncalled(command->patterns[i].asked,
					     &copies);
		if (!command->is_found[i]) {
			calls_no_function(&command->question, functions, i,
					  &why);
			say_note("%s", why.text);
		} else if (!call_functions_called(functions, i)) {
			say_uncalled(command, command->patterns[i].asked);
		}
	}
}

static int list(void *context, struct failure *why)
{
	struct calls_command *command = context;
	struct call_functions functions = {
		.lines = command->asking.lines,
		.patterns = command->patterns,
		.pattern_count = command->pattern_count,
		.is_found = command->is_found,
	};
	int rc;

	command->question.query = command->asking.query;
	command->question.from = command->asking.first;
	command->question.to = command->asking.last;
	command->question.user.begins = on_begin;
	command->question.user.ends = on_end;
	command->question.user.context = command;
	call_lines_init(&command->out, command->asking.lines,
			command->asking.expressions, command->json);
	rc = calls_find(&command->question, &functions, why);
	if (!rc && command->count && command->begun)
		rc = print_call_counts(&functions, command->json, why);
	if (!rc)
		say_absent(command, &functions);
	call_lines_release(&command->out);
	call_functions_release(&functions);
	return rc;
}

/* ------- the command line ------- */

static int take_number(const struct options *options, int id, uint64_t *out)
{
	return number_parse(options->value, out) && *out ? 0 :
		options_bad_value(options, id, "a number above 0");
}

static int take_thread(const struct options *options, int id,
		       struct call_user *user)
{
	struct threads_text threads;

	if (!number_parse_threads(options->value, &threads))
		return options_bad_value(options, id, NUMBER_THREADS_WANTED);
	user->some_thread = threads.some;
	user->tid = threads.tid;
	return 0;
}

static int take_option(const struct options *options, int id,
		       struct calls_command *command)
{
	switch (id) {
	case OPTION_FROM:
		command->is_part = true;
		return options_take_time(options, id, &command->asking.from);
	case OPTION_TO:
		command->is_part = true;
		return options_take_time(options, id, &command->asking.to);
	case OPTION_PROCESS:
		command->is_part = true;
		command->asking.process = options->value;
		break;
	case OPTION_THREAD:
		command->is_part = true;
		return take_thread(options, id, &command->question.user);
	case OPTION_LIMIT:
		return take_number(options, id, &command->question.user.limit);
	case OPTION_DEPTH:
		return take_number(options, id, &command->question.user.depth_most);
	case OPTION_COUNT:
		command->count = true;
		break;
	case OPTION_ELEMENTS:
		return shown_values_take_elements(options, id);
	case OPTION_RAW:
		shown_values_take_raw();
		break;
	case OPTION_DEBUG_DIR:
		debug_folders_take(options->value);
		break;
	case OPTION_JSON:
		command->json = true;
		break;
	}
	return 0;
}

static int take_patterns(struct options *options,
			 struct calls_command *command)
{
	size_t count;
	char **words = options_take_words(options, &count);

	if (!count)
		return options_wrong(options, "a PATTERN is missing: which"
				     " functions");
	command->patterns = calloc(count, sizeof(*command->patterns));
	command->is_found = calloc(count, sizeof(*command->is_found));
	if (!command->patterns || !command->is_found)
		return OPTIONS_WRONG;
	for (; command->pattern_count < count; command->pattern_count++)
		if (symbol_pattern_init(
			    &command->patterns[command->pattern_count],
			    words[command->pattern_count]))
			return OPTIONS_WRONG;
	return OPTIONS_END;
}

static int run(struct options *options)
{
	struct calls_command command = {
		.asking = { .from = "start", .to = "end" },
		.question.user = { .limit = UINT64_MAX, .depth_most = UINT64_MAX },
	};
	int id, status;

	while ((id = options_next(options)) >= 0)
		if (take_option(options, id, &command))
			return EXIT_USAGE;
	if (id == OPTIONS_END)
		id = take_patterns(options, &command);
	command.asking.path = options_recording(options, id);
	status = command.asking.path ?
			 asking_run(&command.asking, list, &command) :
			 options->status;
	if (status == EXIT_ANSWERED && command.asking.path && !command.begun)
		status = EXIT_FAILED;
	for (size_t i = 0; i < command.pattern_count; i++)
		symbol_pattern_release(&command.patterns[i]);
	free(command.patterns);
	free(command.is_found);
	return status;
}
