/* SPDX-License-Identifier: GPL-2.0-or-later */
/* views.c - see views.h */
#include "tools/views.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "replayer/symbols/symbols.h"
#include "tools/commands.h"
#include "tools/damage.h"
#include "tools/debug_notes.h"
#include "tools/machines.h"
#include "tools/messages.h"
#include "tools/print.h"

/* ------- options ------- */

static int add_time(struct view *view, const char *text)
{
	const char **list = realloc(view->ats, (view->at_count + 1) *
					       sizeof(*list));

	if (!list)
		return OPTIONS_WRONG;
	view->ats = list;
	list[view->at_count++] = text;
	return 0;
}

int view_take_option(const struct options *options, int id, struct view *view)
{
	switch (id) {
	case VIEW_AT:
		if (!place_may_be_time(options->value))
			return options_bad_value(options, id,
						 PLACE_TIME_WANTED);
		return add_time(view, options->value);
	case VIEW_THREAD:
		if (!number_parse_threads(options->value, &view->threads))
			return options_bad_value(options, id,
						 NUMBER_THREADS_WANTED);
		break;
	case VIEW_FRAME:
		if (!number_parse(options->value, &view->frame))
			return options_bad_value(options, id, "a number");
		view->has_frame = true;
		break;
	case VIEW_ELEMENTS:
		return shown_values_take_elements(options, id);
	case VIEW_RAW:
		shown_values_take_raw();
		break;
	case VIEW_DEBUG_DIR:
		debug_folders_take(options->value);
		break;
	case VIEW_JSON:
		view->json = true;
		break;
	}
	return 0;
}

int view_check_thread(const struct options *options, const struct view *view)
{
	return view->threads.all ?
		options_wrong(options, "'--thread' takes the number of a"
			      " thread, not 'all'") : 0;
}

int view_take_word(struct options *options, const char **out)
{
	size_t count;
	char **words = options_take_words(options, &count);

	*out = count ? words[0] : NULL;
	return count > 1 ? options_wrong(options, "there are too many"
					 " arguments: '%s'", words[1]) : 0;
}

/* ------- the place ------- */

struct expression_place view_place(const struct view *view)
{
	return (struct expression_place) {
		.at = view->at,
		.some_thread = view->threads.some && !view->threads.all,
		.tid = view->threads.tid,
		.frame = view->frame,
	};
}

int view_thread(const struct view *view, uint32_t *stream, uint32_t *tid,
		struct failure *why)
{
	int rc = 0;

	*stream = replayer_stream(view->replayer);
	if (view->threads.some && !view->threads.all)
		rc = recording_find_stream(view->recording, view->threads.tid,
					   view->at.time, stream, why);
	return rc ? rc : recording_tid(view->recording,
				       recording_thread_of(view->recording,
							   *stream,
							   view->at.time),
				       tid, why);
}

int view_find_frame(const struct view *view, struct frame *out, uint32_t *tid,
		    struct failure *why)
{
	struct backtrace backtrace = {
		.replayer = view->replayer,
		.lines = view->lines,
	};
	int rc = view_thread(view, &backtrace.stream, tid, why);

	return rc ? rc : backtrace_find(&backtrace, view->frame, out, why);
}

/* An expression that is not in memory is a number. */
static int take_number(const struct expression *found, const char *text,
		       uint64_t *out, struct failure *why)
{
	*out = 0;
	if (!found->bytes || found->size > sizeof(*out))
		return failed(why, ERR_INPUT, "cannot take '%s' for an"
			      " address", text);
	memcpy(out, found->bytes, found->size);
	return 0;
}

int view_address(const struct view *view, const char *text, uint64_t *out,
		 struct failure *why)
{
	const struct expression_question question = {
		.text = text, .place = view_place(view),
	};
	struct expression found;
	int rc = expressions_find(view->expressions, &question, &found, why);

	if (rc)
		return rc;
	if (found.has_addr)
		*out = found.addr;
	else
		rc = take_number(&found, text, out, why);
	expression_release(&found);
	return rc;
}

/* ------- times ------- */

/* Where it died, if it did. */
static int find_end(struct view *view, struct failure *why)
{
	struct crash crash;
	bool is_time;

	if (!crash_find(&crash, view->recording, NULL)) {
		view->at = crash.at;
		return 0;
	}
	return place_position(&view->at, &is_time, view->recording, "end", why);
}

static void print_failure(const struct view *view, const char *at,
			  bool is_time, const struct failure *why)
{
	if (view->json) {
		json_t *object = json_object();

		if (is_time)
			json_set_position(object, &view->at);
		else
			json_set_text(object, "asked_at", at);
		json_set_text(object, "error", why->text);
		print_json(object);
	}
	say_failure(why);
}

static int show_place(struct view *view, const char *at, bool *is_time,
		      struct failure *why)
{
	int rc = at ? place_position(&view->at, is_time, view->recording, at,
				     why) : find_end(view, why);

	if (!rc)
		rc = query_replayer(view->query, &view->replayer, why);
	if (!rc)
		rc = replayer_seek(view->replayer, &view->at, why);
	if (!rc)
		view->at = replayer_position(view->replayer);
	return rc ? rc : view->show(view, why);
}

/* At the time that was given, or, without one, at the end. */
static bool show_at(struct view *view, const char *at)
{
	struct failure why;
	bool is_time = true;
	int rc = show_place(view, at, &is_time, &why);

	if (rc)
		print_failure(view, at, is_time, &why);
	return !rc;
}

static int show_all(struct view *view)
{
	int status = EXIT_ANSWERED;

	if (!view->at_count && !show_at(view, NULL))
		status = EXIT_FAILED;
	for (size_t i = 0; i < view->at_count; i++)
		if (!show_at(view, view->ats[i]))
			status = EXIT_FAILED;
	if (status == EXIT_ANSWERED)
		damage_say(view->recording);
	return status;
}

static int open_and_show(struct view *view, const char *path)
{
	struct failure why;
	int rc = opened_begin_any(&view->opened, path, &why);

	if (rc)
		return say_failure(&why);
	view->recording = view->opened->recording;
	rc = opened_ask(view->opened, &why);
	if (rc)
		return say_failure(&why);
	view->lines = view->opened->lines;
	view->query = view->opened->query;
	view->expressions = view->opened->expressions;
	return show_all(view);
}

int views_run(struct view *view, struct options *options, int id)
{
	const char *path = options_recording(options, id);
	int status = path ? open_and_show(view, path) : options->status;

	opened_end(view->opened);
	free(view->ats);
	return path ? finish_output(status) : status;
}
