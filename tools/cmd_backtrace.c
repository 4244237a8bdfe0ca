/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_backtrace.c - cprec backtrace: who called whom, in threads at a time */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "replayer/session/session.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/print.h"
#include "tools/print_frames.h"
#include "tools/print_waits.h"
#include "tools/views.h"

/* A stack that was filled up by mistake has too many to look at. */
#define FRAMES_SHOWN 100u

static int run(struct options *options);

enum { OPTION_LIMIT = VIEW_OWN, OPTION_FULL, OPTION_NO_ARGUMENTS };

const struct command command_backtrace = {
	.name = "backtrace",
	.run = run,
	.arguments = "[FILE] [--at=T]",
	.summary = "who called whom, where it died",
	.usage = "backtrace [OPTION...] [FILE]",
	.about = "Tells who called whom: the functions that a thread was in,"
		 " the innermost first,\n"
		 "with arguments and source lines, and those that were"
		 " inlined.  Without a time,\n"
		 "where a signal ended the program; else at its end.",
	.options = (const struct option_info[]) {
		VIEW_ROW_AT,
		{ VIEW_THREAD, "thread", "TID",
		  "of this thread, or 'all'; without this, of the one\n"
		  "that had its turn" },
		{ OPTION_FULL, "full", NULL,
		  "with local variables", .without = "no-arguments" },
		{ OPTION_NO_ARGUMENTS, "no-arguments", NULL,
		  "without arguments: quicker" },
		{ VIEW_FRAME, "frame", "N",
		  "only this one: 0 is the innermost",
		  .without = "limit" },
		{ OPTION_LIMIT, "limit", "N",
		  "at most so many frames; without this: 100; of -N,\n"
		  "the N outermost" },
		SHOWN_ROWS(VIEW_ELEMENTS, VIEW_RAW),
		VIEW_ROW_DEBUG_DIR,
		{ VIEW_JSON, "json", NULL,
		  "one JSON object for each thread: at, events,\n"
		  "thread, name, frames" },
		{ 0 }
	},
	.notes = "Callers are found by the unwind tables of the program and its"
		 " libraries.  Where\n"
		 "there are none, they are guessed: such frames have a '?'.\n"
		 "\n"
		 "Structures and arrays that are arguments are '...', as in"
		 " gdb, and of containers\n"
		 "only what they are; with --json all of them is there.",
};

struct backtrace_command {
	uint64_t limit;
	bool is_outermost, full, no_arguments;
	struct thread_names *names;	/* of all threads; else NULL */
};

/* ------- threads ------- */

static void print_header(const json_t *object, const struct position *at)
{
	const char *name = json_string_value(json_object_get(object, "name"));
	char text[POSITION_TEXT];

	printf("thread %" JSON_INTEGER_FORMAT,
	       json_integer_value(json_object_get(object, "thread")));
	if (name) {
		fputs(" \"", stdout);
		print_escaped(stdout, name, strlen(name));
		putchar('"');
	}
	printf(" at t=%s:\n", position_text(text, at));
}

/* Of several threads, each one's, as far as they are known. */
static int set_name(json_t *object, const struct view *view, uint32_t tid,
		    struct failure *why)
{
	struct backtrace_command *command = view->context;
	char name[THREAD_NAME_SIZE];
	uint32_t thread;
	int rc = 0;

	if (!view->threads.all || recording_is_machine(view->recording))
		return 0;
	if (!command->names)
		rc = thread_names_create(&command->names, view->recording, why);
	if (!rc)
		rc = recording_find_thread(view->recording, tid, view->at.time,
					   &thread, why);
	if (!rc)
		rc = thread_names_find(command->names, thread, &view->at, name,
				       why);
	if (!rc)
		json_set_text(object, "name", name);
	return rc == ERR_NOT_FOUND ? 0 : rc;
}

static struct frames_question how_asked(const struct view *view,
					uint32_t stream, uint32_t tid)
{
	const struct backtrace_command *command = view->context;

	return (struct frames_question) {
		.recording = view->recording,
		.replayer = view->replayer,
		.lines = view->lines,
		.stream = stream,
		.limit = command->limit,
		.is_outermost = command->is_outermost,
		.only = view->has_frame,
		.expressions = command->no_arguments ? NULL :
						       view->expressions,
		.place = { view->at, true, tid, view->frame },
		.locals = command->full,
	};
}

static int show_thread(const struct view *view, uint32_t stream, uint32_t tid,
		       struct failure *why)
{
	const struct frames_question asked = how_asked(view, stream, tid);
	json_t *object = json_object();
	int rc;

	json_set_position(object, &view->at);
	json_set_count(object, "thread", tid);
	rc = set_name(object, view, tid, why);
	if (!rc)
		rc = json_set_frames(object, &asked, why);
	if (!rc && view->json) {
		print_json(object);
		return 0;
	}
	if (!rc) {
		print_header(object, &view->at);
		print_frames(stdout, object, "");
	}
	json_decref(object);
	return rc;
}

static int show_stream(const struct view *view, uint32_t stream,
		       struct failure *why)
{
	uint32_t tid;
	int rc = recording_tid(view->recording,
			       recording_thread_of(view->recording, stream,
						   view->at.time), &tid, why);

	return rc ? rc : show_thread(view, stream, tid, why);
}

/* It was there for long, until somebody ended it from outside, by Ctrl-C say. */
static bool was_ended(const struct view *view)
{
	struct crash crash;

	return !view->at_count && !view->json && !view->threads.some &&
	       !view->has_frame && recording_threads(view->recording) > 1 &&
	       !crash_find(&crash, view->recording, NULL) &&
	       (crash.signal == SIGINT || crash.signal == SIGQUIT ||
		crash.signal == SIGTERM || crash.signal == SIGHUP);
}

static int show_waits(struct view *view, struct failure *why)
{
	struct thread_names *names = NULL;
	int rc = thread_names_create(&names, view->recording, why);

	if (!rc)
		rc = print_waits(view, names, why);
	thread_names_destroy(names);
	return rc;
}

static int show(struct view *view, struct failure *why)
{
	struct backtrace_command *command = view->context;
	size_t count = recording_threads(view->recording);
	uint32_t stream, tid;
	int rc = 0;

	if (!view->threads.all) {
		rc = view_thread(view, &stream, &tid, why);
		if (!rc)
			rc = show_thread(view, stream, tid, why);
		return !rc && was_ended(view) ? show_waits(view, why) : rc;
	}
	for (stream = 0; stream < count && !rc; stream++) {
		rc = show_stream(view, stream, why);
		if (rc == ERR_NOT_FOUND)
			rc = 0;
	}
	thread_names_destroy(command->names);
	command->names = NULL;
	return rc;
}

/* ------- the command ------- */

static int take_option(const struct options *options, int id,
		       struct view *view)
{
	struct backtrace_command *command = view->context;

	switch (id) {
	case OPTION_LIMIT:
		command->is_outermost = *options->value == '-';
		if (!number_parse(options->value + command->is_outermost,
				  &command->limit) || !command->limit)
			return options_bad_value(options, id,
						 "a number that is not 0");
		return 0;
	case OPTION_FULL:
		command->full = true;
		return 0;
	case OPTION_NO_ARGUMENTS:
		command->no_arguments = true;
		return 0;
	}
	return view_take_option(options, id, view);
}

static int run(struct options *options)
{
	struct backtrace_command command = { .limit = FRAMES_SHOWN };
	struct view view = { .show = show, .context = &command };
	int id = 0, rc = 0;

	while (!rc && (id = options_next(options)) >= 0)
		rc = take_option(options, id, &view);
	return views_run(&view, options, rc ? rc : id);
}
