/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print_frames.c - see print_frames.h */
#include "tools/print_frames.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "tools/print.h"

/* ------- as JSON ------- */

/* The name of a module's file. */
static const char *module_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

void json_set_code(json_t *object, uint64_t addr, const char *module,
		   const struct source_line *line)
{
	json_set_address(object, "pc", addr);
	if (line->function[0])
		json_set_text(object, "function",
			      without_module(line->function,
					     module_name(module)));
	if (line->linkage_name[0])
		json_set_text(object, "linkage_name", line->linkage_name);
	if (line->function[0] || line->module[0])
		json_set_count(object, "offset", line->offset);
	if (module) {
		json_set_text(object, "module", module_name(module));
		json_set_text(object, "module_path", module);
	}
	if (line->file) {
		json_set_text(object, "file", line->file);
		json_set_count(object, "line", line->line);
	}
}

struct gathering {
	const struct frames_question *asked;
	json_t *frames;
	uint64_t count;		/* of those that were visited */
	bool has_more;
};

static const char *kind_of(const struct frame *frame)
{
	if (frame->is_signal)
		return "signal";
	return frame->is_inlined ? "inlined" : "function";
}

/* Leaves the last ones; not each time, since that moves all of them. */
static void drop_inner(json_t **frames, size_t limit)
{
	size_t count = json_array_size(*frames);
	json_t *last = json_array();

	for (size_t i = count - limit; i < count; i++)
		json_array_append(last, json_array_get(*frames, i));
	json_decref(*frames);
	*frames = last;
}

static int add_frame(void *context, const struct frame *frame)
{
	struct gathering *gathering = context;
	const struct frames_question *asked = gathering->asked;
	size_t kept = json_array_size(gathering->frames);
	json_t *object;

	if (asked->is_outermost && kept / 2 >= asked->limit)
		drop_inner(&gathering->frames, asked->limit);
	gathering->has_more = !asked->is_outermost && kept >= asked->limit;
	if (gathering->has_more)
		return 1;
	object = json_object();
	json_set_count(object, "frame", gathering->count++);
	json_set_text(object, "kind", kind_of(frame));
	json_set_code(object, frame->pc, frame->module, &frame->line);
	if (frame->is_inlined)
		json_object_del(object, "offset");
	if (!frame->is_sure)
		json_object_set_new(object, "sure", json_false());
	return json_array_append_new(gathering->frames, object);
}

/* Which is the program, of all modules. */
static void set_path(json_t *object, const struct frames_question *asked)
{
	uint64_t t = replayer_time(asked->replayer);
	const struct recording_program *list;
	size_t count;

	if (recording_programs(asked->recording, &list, &count, NULL))
		return;
	while (count > 1 && list[count - 1].time > t)
		count--;
	json_set_text(object, "path", list[count - 1].image.path);
}

int json_set_frames(json_t *object, const struct frames_question *asked,
		    struct failure *why)
{
	struct gathering gathering = { asked, json_array(), 0, false };
	const struct backtrace backtrace = {
		.replayer = asked->replayer,
		.lines = asked->lines,
		.stream = asked->stream,
		.visit = add_frame,
		.context = &gathering,
	};
	enum frames_end end;
	int rc = backtrace_walk(&backtrace, &end, why);

	if (rc) {
		json_decref(gathering.frames);
		return rc;
	}
	set_path(object, asked);
	if (json_array_size(gathering.frames) > asked->limit)
		drop_inner(&gathering.frames, asked->limit);
	json_object_set_new(object, "frames", gathering.frames);
	if (gathering.has_more)
		json_set_text(object, "note", "more frames follow");
	else if (frames_end_text(end))
		json_set_text(object, "note", frames_end_text(end));
	return 0;
}

/* ------- as text ------- */

static void print_string(FILE *out, const json_t *text)
{
	print_escaped(out, json_string_value(text), json_string_length(text));
}

/* "in main (hello.c:5)", or "in libc.so.6!qsort+0x4" */
static void print_place(FILE *out, const json_t *frame, const char *program)
{
	const json_t *function = json_object_get(frame, "function");
	const json_t *file = json_object_get(frame, "file");
	const char *name = json_string_value(
		json_object_get(frame, "module"));
	const char *path = json_string_value(
		json_object_get(frame, "module_path"));
	bool is_own = program && path && !strcmp(path, program);

	fputs(" in ", out);
	if (!file && name && (!function || !is_own)) {
		print_escaped(out, name, strlen(name));
		fputs(function ? "!" : "", out);
	}
	if (function)
		print_string(out, function);
	else if (!name)
		fputs("??", out);
	if (file) {
		fputs(" (", out);
		print_string(out, file);
		fprintf(out, ":%" JSON_INTEGER_FORMAT ")",
			json_integer_value(json_object_get(frame, "line")));
	} else if (function || name) {
		fprintf(out, "+0x%" PRIx64, (uint64_t)json_integer_value(
				json_object_get(frame, "offset")));
	}
}

static void print_frame(FILE *out, const json_t *frame, const char *program)
{
	const char *kind = json_string_value(json_object_get(frame, "kind"));

	fprintf(out, "#%-2" JSON_INTEGER_FORMAT " %s%s",
		json_integer_value(json_object_get(frame, "frame")),
		json_object_get(frame, "sure") ? "? " : "",
		json_string_value(json_object_get(frame, "pc")));
	if (!strcmp(kind, "signal"))
		fputs(" <signal handler called>", out);
	else
		print_place(out, frame, program);
	if (!strcmp(kind, "inlined"))
		fputs(", inlined", out);
	fputc('\n', out);
}

/* Says how many frames are further in than the first that is shown. */
static void print_left_out(FILE *out, const json_t *first, const char *indent)
{
	json_int_t number = json_integer_value(json_object_get(first, "frame"));

	if (number)
		fprintf(out, "%s(%" JSON_INTEGER_FORMAT " frame%s further in"
			")\n", indent, number, number == 1 ? " is" : "s are");
}

void print_frames(FILE *out, const json_t *object, const char *indent)
{
	const json_t *frames = json_object_get(object, "frames");
	const json_t *note = json_object_get(object, "note");
	const char *program = json_string_value(
		json_object_get(object, "path"));

	print_left_out(out, json_array_get(frames, 0), indent);
	for (size_t i = 0; i < json_array_size(frames); i++) {
		fputs(indent, out);
		print_frame(out, json_array_get(frames, i), program);
	}
	if (note)
		fprintf(out, "%s(%s)\n", indent, json_string_value(note));
}
