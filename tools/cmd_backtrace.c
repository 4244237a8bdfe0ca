/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_backtrace.c - cprec backtrace: who called whom, in threads at a time */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"
#include "tools/commands.h"
#include "tools/damage.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/print.h"
#include "tools/print_frames.h"

/* A stack that was filled up by mistake has too many to look at. */
#define FRAMES_SHOWN 100u

static int run(struct options *options);

enum { OPTION_AT = 256, OPTION_THREAD, OPTION_LIMIT, OPTION_DEBUG_DIR,
       OPTION_JSON };

const struct command command_backtrace = {
	.name = "backtrace",
	.run = run,
	.arguments = "[FILE] [--at=T]",
	.summary = "who called whom, where it died",
	.usage = "backtrace [OPTION...] [FILE]",
	.about = "Tells who called whom: the functions that a thread was in,"
		 " the innermost first,\n"
		 "with source lines, and those that were inlined.  Without a"
		 " time, where a signal\n"
		 "ended the program; else at its end.",
	.options = (const struct option_info[]) {
		{ OPTION_AT, "at", "T",
		  "a time, in instructions: as 'cprec query --help'\n"
		  "says" },
		{ OPTION_THREAD, "thread", "TID",
		  "of this thread, or 'all'; without this, of the one\n"
		  "that had its turn" },
		{ OPTION_LIMIT, "limit", "N",
		  "at most so many frames; without this: 100; of -N,\n"
		  "the N outermost" },
		{ OPTION_DEBUG_DIR, "debug-dir", "DIR",
		  "where debugging information is looked for, too" },
		{ OPTION_JSON, "json", NULL,
		  "one JSON object for each thread: at, events,\n"
		  "thread, frames" },
		{ 0 }
	},
	.notes = "Callers are found by the unwind tables of the program and its"
		 " libraries.  Where\n"
		 "there are none, they are guessed: such frames have a '?'.",
};

struct question {
	const char *path, *at;
	struct threads_text threads;
	uint64_t limit;
	bool is_outermost;
	bool json;
	struct recording *recording;
	struct replayer *replayer;
	struct lines *lines;
};

/* ------- threads ------- */

static void print_header(const json_t *object, const struct position *at)
{
	char text[POSITION_TEXT];

	printf("thread %" JSON_INTEGER_FORMAT " at t=%s:\n",
	       json_integer_value(json_object_get(object, "thread")),
	       position_text(text, at));
}

static int print_stream(const struct question *question, uint32_t stream,
			struct failure *why)
{
	const struct frames_question asked = {
		question->recording, question->replayer, question->lines,
		stream, question->limit, question->is_outermost,
	};
	struct position at = replayer_position(question->replayer);
	json_t *object;
	uint32_t tid;
	int rc = recording_tid(question->recording,
			       recording_thread_of(question->recording,
						   stream, at.time),
			       &tid, why);

	if (rc)
		return rc;
	object = json_object();
	json_set_position(object, &at);
	json_set_count(object, "thread", tid);
	rc = json_set_frames(object, &asked, why);
	if (!rc && question->json) {
		print_json(object);
		return 0;
	}
	if (!rc) {
		print_header(object, &at);
		print_frames(stdout, object, "");
	}
	json_decref(object);
	return rc;
}

static int print_all(const struct question *question, struct failure *why)
{
	size_t count = recording_threads(question->recording);
	int rc = 0;

	for (uint32_t stream = 0; stream < count && !rc; stream++) {
		rc = print_stream(question, stream, why);
		if (rc == ERR_NOT_FOUND)
			rc = 0;
	}
	return rc;
}

static int print_one(const struct question *question, struct failure *why)
{
	struct recording *recording = question->recording;
	uint64_t t = replayer_time(question->replayer);
	uint32_t thread;
	int rc = recording_find_thread(recording, question->threads.tid, t,
				       &thread, why);

	if (rc)
		return rc;
	return print_stream(question,
			    recording_stream_of(recording, thread, t), why);
}

static int print_threads(const struct question *question, struct failure *why)
{
	if (question->threads.all)
		return print_all(question, why);
	if (question->threads.some)
		return print_one(question, why);
	return print_stream(question, replayer_stream(question->replayer),
			    why);
}

/* ------- the time ------- */

/* Where it died, if it did. */
static int find_position(const struct question *question,
			 struct position *out, struct failure *why)
{
	struct crash crash;
	bool is_time;

	if (!question->at && !crash_find(&crash, question->recording, NULL)) {
		*out = crash.at;
		return 0;
	}
	return place_position(out, &is_time, question->recording,
			      question->at ? question->at : "end", why);
}

static int answer(struct question *question, struct failure *why)
{
	struct position at;
	int rc = find_position(question, &at, why);

	if (!rc)
		rc = lines_create(&question->lines, question->recording, why);
	if (!rc)
		rc = replayer_create(&question->replayer, question->recording,
				     why);
	if (!rc)
		rc = replayer_seek(question->replayer, &at, why);
	if (!rc)
		rc = print_threads(question, why);
	replayer_destroy(question->replayer);
	lines_destroy(question->lines);
	return rc;
}

/* ------- the command ------- */

static int take_option(const struct options *options, int id,
		       struct question *question)
{
	switch (id) {
	case OPTION_AT:
		question->at = options->value;
		if (!place_may_be_time(options->value))
			return options_bad_value(options, id,
						 PLACE_TIME_WANTED);
		break;
	case OPTION_THREAD:
		if (!number_parse_threads(options->value, &question->threads))
			return options_bad_value(options, id,
						 NUMBER_THREADS_WANTED);
		break;
	case OPTION_LIMIT:
		question->is_outermost = *options->value == '-';
		if (!number_parse(options->value + question->is_outermost,
				  &question->limit) || !question->limit)
			return options_bad_value(options, id,
						 "a number that is not 0");
		break;
	case OPTION_DEBUG_DIR:
		debug_search_folders(options->value);
		break;
	case OPTION_JSON:
		question->json = true;
		break;
	}
	return 0;
}

static int run(struct options *options)
{
	struct question question = { .limit = FRAMES_SHOWN };
	struct failure why;
	int id, rc;

	while ((id = options_next(options)) >= 0)
		if (take_option(options, id, &question))
			return EXIT_USAGE;
	question.path = options_recording(options, id);
	if (!question.path)
		return options->status;
	rc = recording_open(&question.recording, question.path, &why);
	if (rc)
		return say_failure(&why);
	rc = answer(&question, &why);
	if (!rc)
		damage_say(question.recording);
	recording_close(question.recording);
	return rc ? say_failure(&why) : finish_output(EXIT_ANSWERED);
}
