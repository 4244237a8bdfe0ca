/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print_frames.c - see print_frames.h */
#include "tools/print_frames.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "formats/error.h"
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
	uint64_t first;		/* that is kept */
	uint64_t count;		/* of those that were visited */
	bool is_outside;	/* of the function that is entered */
	bool has_more;
	int rc;			/* what is wrong with variables */
	struct failure *why;
};

static const char *kind_of(const struct frame *frame)
{
	if (frame->is_signal)
		return "signal";
	if (frame->is_tail_call)
		return "tail_call";
	return frame->is_inlined ? "inlined" : "function";
}

/* Arguments and local variables of a frame. */
struct variables {
	json_t *arguments, *locals;
};

static int add_variable(void *context, const struct variable *variable)
{
	struct variables *variables = context;
	json_t *object = json_object();

	json_object_set_new(object, "name", json_text(variable->name));
	if (variable->type)
		json_object_set_new(object, "type", json_text(variable->type));
	json_object_set_new(object, "value", json_text(variable->value));
	if (variable->entry)
		json_object_set_new(object, "entry", json_text(variable->entry));
	if (!variable->is_scalar)
		json_object_set_new(object, "scalar", json_false());
	if (!variable->is_scalar && strcmp(variable->brief, "..."))
		json_object_set_new(object, "brief",
				    json_text(variable->brief));
	return json_array_append_new(variable->is_argument ?
					     variables->arguments :
					     variables->locals, object);
}

static int set_variables(json_t *object, const struct gathering *gathering,
			 const struct frame *frame, uint64_t number)
{
	const struct frames_question *asked = gathering->asked;
	struct variables variables = { json_array(), json_array() };
	struct variables_question question = {
		.place = asked->place,
		.frame = frame,
		.locals = asked->locals,
		.visit = add_variable,
		.context = &variables,
	};
	bool is_known;
	int rc;

	question.place.frame = number;
	rc = expressions_variables(asked->expressions, &question, &is_known,
				   gathering->why);
	if (is_known)
		json_object_set(object, "args", variables.arguments);
	if (is_known && asked->locals)
		json_object_set(object, "locals", variables.locals);
	json_decref(variables.arguments);
	json_decref(variables.locals);
	return rc;
}

static int add_frame(void *context, const struct frame *frame)
{
	struct gathering *gathering = context;
	const struct frames_question *asked = gathering->asked;
	uint64_t number = gathering->count++;
	json_t *object;

	if (asked->callers && !gathering->is_outside) {
		gathering->is_outside = !frame->is_inlined;
		gathering->first = number + 1;
	}
	if (number < gathering->first)
		return 0;
	gathering->has_more = !asked->is_outermost && !asked->only &&
			      number - gathering->first >= asked->limit;
	if (gathering->has_more)
		return 1;
	object = json_object();
	json_set_count(object, "frame",
		       number - (asked->callers ? gathering->first - 1 : 0));
	json_set_text(object, "kind", kind_of(frame));
	json_set_code(object, frame->pc, frame->module, &frame->line);
	if (frame->is_inlined)
		json_object_del(object, "offset");
	if (!frame->is_sure)
		json_object_set_new(object, "sure", json_false());
	if (asked->expressions && !frame->is_signal)
		gathering->rc = set_variables(object, gathering, frame,
					      number);
	json_array_append_new(gathering->frames, object);
	return gathering->rc || asked->only;
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

static int no_frame(const struct gathering *gathering)
{
	return failed(gathering->why, ERR_NOT_FOUND, "there is no frame %"
		      PRIu64 ": the outermost is %" PRIu64,
		      gathering->asked->place.frame, gathering->count - 1);
}

static int count_frame(void *context, const struct frame *frame)
{
	struct gathering *gathering = context;

	(void)frame;
	gathering->count++;
	return 0;
}

static int walk(struct gathering *gathering,
		int (*visit)(void *context, const struct frame *frame),
		enum frames_end *end)
{
	const struct frames_question *asked = gathering->asked;
	const struct backtrace backtrace = {
		.replayer = asked->replayer,
		.lines = asked->lines,
		.stream = asked->stream,
		.visit = visit,
		.context = gathering,
	};

	gathering->count = 0;
	return backtrace_walk(&backtrace, end, gathering->why);
}

/* The outermost ones are known once all have been counted. */
static int find_first(struct gathering *gathering, enum frames_end *end)
{
	const struct frames_question *asked = gathering->asked;
	int rc;

	if (asked->only)
		gathering->first = asked->place.frame;
	if (!asked->is_outermost)
		return 0;
	rc = walk(gathering, count_frame, end);
	if (gathering->count > asked->limit)
		gathering->first = gathering->count - asked->limit;
	return rc;
}

static int gather(struct gathering *gathering, enum frames_end *end)
{
	int rc = find_first(gathering, end);

	if (!rc)
		rc = walk(gathering, add_frame, end);
	if (!rc)
		rc = gathering->rc;
	if (!rc && gathering->asked->only &&
	    !json_array_size(gathering->frames))
		rc = no_frame(gathering);
	return rc;
}

int json_set_frames(json_t *object, const struct frames_question *asked,
		    struct failure *why)
{
	struct gathering gathering = { .asked = asked,
				       .frames = json_array(), .why = why };
	enum frames_end end;
	int rc = gather(&gathering, &end);

	if (rc) {
		json_decref(gathering.frames);
		return rc;
	}
	set_path(object, asked);
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

/* ------- names of functions ------- */

/* The bracket that opens what ends at `end`; or `start`. */
static const char *opening(const char *start, const char *end)
{
	unsigned depth = 0;

	for (; end > start; end--) {
		depth += end[-1] == ')' || end[-1] == '>';
		depth -= (end[-1] == '(' || end[-1] == '<') && depth;
		if (!depth)
			return end - 1;
	}
	return start;
}

/* Where what stands before a function's name ends: "void " of "void f<int>". */
static const char *behind_result(const char *start, const char *end)
{
	if (memmem(start, (size_t)(end - start), "operator", 8))
		return start;
	for (const char *at = end; at > start; at--) {
		if (at[-1] == ' ')
			return at;
		if (at[-1] == ')' || at[-1] == '>')
			at = opening(start, at) + 1;
	}
	return start;
}

/* "f<int>" of "void f<int>(int) const": its arguments are shown with values. */
static void print_plain_function(FILE *out, const json_t *function)
{
	const char *start = json_string_value(function);
	const char *end = start + symbol_name_size(start);

	if (*end)
		start = behind_result(start, end);
	print_escaped(out, start, (size_t)(end - start));
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* What is shown of a value that has parts; NULL: it has none. */
static const char *brief_of(const json_t *argument)
{
	const char *brief = text_of(argument, "brief");

	if (!json_object_get(argument, "scalar"))
		return NULL;
	return brief ? brief : "...";
}

static void print_arguments(FILE *out, const json_t *arguments)
{
	fputs(" (", out);
	for (size_t i = 0; i < json_array_size(arguments); i++) {
		const json_t *argument = json_array_get(arguments, i);

		fputs(i ? ", " : "", out);
		print_argument(out, &(struct shown_argument) {
				text_of(argument, "name"),
				text_of(argument, "value"),
				text_of(argument, "entry"),
				brief_of(argument) });
	}
	fputc(')', out);
}

/* " in main (argc=1) at hello.c:5", or " in libc.so.6!qsort+0x4" */
void print_frame_place(FILE *out, const json_t *frame, const char *program)
{
	const json_t *function = json_object_get(frame, "function");
	const json_t *file = json_object_get(frame, "file");
	const json_t *arguments = json_object_get(frame, "args");
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
	if (function && arguments)
		print_plain_function(out, function);
	else if (function)
		print_string(out, function);
	else if (!name)
		fputs("??", out);
	if (arguments)
		print_arguments(out, arguments);
	if (file) {
		fputs(" at ", out);
		print_string(out, file);
		fprintf(out, ":%" JSON_INTEGER_FORMAT,
			json_integer_value(json_object_get(frame, "line")));
	} else if (function || name) {
		fprintf(out, "+0x%" PRIx64, (uint64_t)json_integer_value(
				json_object_get(frame, "offset")));
	}
}

static void print_one(FILE *out, const json_t *frame, const char *program)
{
	const char *kind = json_string_value(json_object_get(frame, "kind"));

	fprintf(out, "#%-2" JSON_INTEGER_FORMAT " %s%s",
		json_integer_value(json_object_get(frame, "frame")),
		json_object_get(frame, "sure") ? "? " : "",
		json_string_value(json_object_get(frame, "pc")));
	if (kind && !strcmp(kind, "signal"))
		fputs(" <signal handler called>", out);
	else
		print_frame_place(out, frame, program);
	if (kind && !strcmp(kind, "inlined"))
		fputs(", inlined", out);
	fputc('\n', out);
}

void print_frame(FILE *out, const json_t *frame)
{
	print_one(out, frame, NULL);
}

/* Says how many frames are further in than the first that is shown. */
static void print_left_out(FILE *out, const json_t *first, const char *indent)
{
	json_int_t number = json_integer_value(json_object_get(first, "frame"));

	if (number)
		fprintf(out, "%s(%" JSON_INTEGER_FORMAT " frame%s further in"
			")\n", indent, number, number == 1 ? " is" : "s are");
}

static void print_locals(FILE *out, const json_t *locals)
{
	for (size_t i = 0; i < json_array_size(locals); i++) {
		const json_t *local = json_array_get(locals, i);

		fputs("        ", out);
		print_string(out, json_object_get(local, "name"));
		fputs(" = ", out);
		print_value_text(out, json_string_value(
					      json_object_get(local, "value")));
		fputc('\n', out);
	}
	if (locals && !json_array_size(locals))
		fputs("No locals.\n", out);
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
		print_one(out, json_array_get(frames, i), program);
		print_locals(out, json_object_get(json_array_get(frames, i),
						  "locals"));
	}
	if (note)
		fprintf(out, "%s(%s)\n", indent, json_string_value(note));
}
