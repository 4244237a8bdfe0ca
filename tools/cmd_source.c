/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_source.c - cprec source: the source code around a place */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "replayer/session/session.h"
#include "tools/commands.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/print.h"
#include "tools/print_frames.h"
#include "tools/views.h"

#define LINES_SHOWN 10u		/* as gdb */

static int run(struct options *options);

enum { OPTION_COUNT = VIEW_OWN, OPTION_SOURCE_DIR };

const struct command command_source = {
	.name = "source",
	.run = run,
	.arguments = "[FILE] [--at=T]",
	.summary = "the source code around a place",
	.usage = "source [OPTION...] [FILE]",
	.about = "Shows the source lines around the place where a thread is;"
		 " '=>' marks its line.\n"
		 "The file is looked for where it was compiled.",
	.options = (const struct option_info[]) {
		VIEW_ROW_AT,
		VIEW_ROW_THREAD,
		VIEW_ROW_FRAME,
		{ OPTION_COUNT, "count", "N",
		  "so many lines; without this: 10" },
		{ OPTION_SOURCE_DIR, "source-dir", "DIR",
		  "where source files are looked for first" },
		VIEW_ROW_DEBUG_DIR,
		{ VIEW_JSON, "json", NULL,
		  "one JSON object: at, events, thread, frame,\n"
		  "function, file, line, source_path, lines" },
		{ 0 }
	},
};

struct source_command {
	uint64_t count;
	const char *folders;
};

/* ------- printing ------- */

static void print_lines(const struct source *source, const struct frame *frame,
			size_t first, size_t count)
{
	for (size_t i = first; i < first + count; i++) {
		size_t size;
		const char *text = source_text(source, i, &size);

		printf("%s %zu\t", i == frame->line.line ? "=>" : "  ", i);
		print_source_text(stdout, text, size);
		putchar('\n');
	}
}

static json_t *lines_of(const struct source *source, size_t first,
			size_t count)
{
	json_t *lines = json_array();

	for (size_t i = first; i < first + count; i++) {
		json_t *object = json_object();
		size_t size;
		const char *text = source_text(source, i, &size);

		json_set_count(object, "line", i);
		json_object_set_new(object, "text", json_text_of(text, size));
		json_array_append_new(lines, object);
	}
	return lines;
}

/* ------- the source ------- */

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec :
					a->tv_nsec > b->tv_nsec;
}

/* Lines may have moved since it was compiled. */
static void note_newer(const struct source *source, const struct frame *frame)
{
	struct stat about;

	if (frame->module && !stat(frame->module, &about) &&
	    is_newer(&source->changed, &about.st_mtim))
		say_note("'%s' is newer than '%s'", source->path,
			 frame->module);
}

static int show_frame(const struct view *view, const struct frame *frame,
		      uint32_t tid, struct failure *why)
{
	const struct source_command *command = view->context;
	size_t line = frame->line.line, first, count = command->count;
	struct source source;
	char at[POSITION_TEXT];
	json_t *object;
	int rc = source_open(&source, &frame->line, command->folders, why);

	if (!rc && line > source.count)
		rc = failed(why, ERR_NOT_FOUND, "'%s' has %zu lines, not %zu:"
			    " it is another version", source.path,
			    source.count, line);
	if (rc) {
		source_close(&source);
		return rc;
	}
	note_newer(&source, frame);
	first = line > count / 2 ? line - count / 2 : 1;
	if (count > source.count - first + 1)
		count = source.count - first + 1;
	object = json_object();
	json_set_position(object, &view->at);
	json_set_count(object, "thread", tid);
	json_set_count(object, "frame", view->frame);
	json_set_code(object, frame->pc, frame->module, &frame->line);
	json_set_text(object, "source_path", source.path);
	if (view->json) {
		json_object_set_new(object, "lines",
				    lines_of(&source, first, count));
		print_json(object);
	} else {
		printf("thread %" PRIu32 " at t=%s:\n", tid,
		       position_text(at, &view->at));
		print_frame(stdout, object);
		print_lines(&source, frame, first, count);
		json_decref(object);
	}
	source_close(&source);
	return 0;
}

static int show(struct view *view, struct failure *why)
{
	struct frame frame;
	uint32_t tid;
	int rc = view_find_frame(view, &frame, &tid, why);

	if (!rc && !frame.line.file)
		rc = failed(why, ERR_NOT_FOUND, "no source line of 0x%" PRIx64
			    "%s%.80s%s is known: there is no debugging"
			    " information of it", frame.pc,
			    *frame.line.function ? " (" : "",
			    frame.line.function,
			    *frame.line.function ? ")" : "");
	return rc ? rc : show_frame(view, &frame, tid, why);
}

/* ------- the command ------- */

static int take_option(const struct options *options, int id,
		       struct view *view)
{
	struct source_command *command = view->context;

	switch (id) {
	case OPTION_COUNT:
		if (!number_parse(options->value, &command->count) ||
		    !command->count)
			return options_bad_value(options, id,
						 "a number above 0");
		return 0;
	case OPTION_SOURCE_DIR:
		command->folders = options->value;
		return 0;
	}
	return view_take_option(options, id, view);
}

static int run(struct options *options)
{
	struct source_command command = { .count = LINES_SHOWN };
	struct view view = {
		.show = show, .context = &command,
	};
	int id = 0, rc = 0;

	while (!rc && (id = options_next(options)) >= 0)
		rc = take_option(options, id, &view);
	if (!rc && id == OPTIONS_END)
		rc = view_check_thread(options, &view);
	return views_run(&view, options, rc ? rc : id);
}
