/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_disassemble.c - cprec disassemble: the instructions around a place */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/print.h"
#include "tools/views.h"

/* Where no function is known. */
#define COUNT_SHOWN 16u

static int run(struct options *options);

enum { OPTION_ADDR = VIEW_OWN, OPTION_SIZE, OPTION_COUNT, OPTION_SYNTAX,
       OPTION_SOURCE, OPTION_BYTES, OPTION_SOURCE_DIR };

const struct command command_disassemble = {
	.name = "disassemble",
	.run = run,
	.arguments = "[FILE] [--at=T]",
	.summary = "the instructions around a place",
	.usage = "disassemble [OPTION...] [FILE]",
	.about = "Shows the instructions of the function where a thread is;"
		 " '=>' marks the one that\n"
		 "comes next, or, in a caller, where it goes on.",
	.options = (const struct option_info[]) {
		VIEW_ROW_AT,
		VIEW_ROW_THREAD,
		VIEW_ROW_FRAME,
		{ OPTION_ADDR, "addr", "A",
		  "of this function, or the one around this address" },
		{ OPTION_SIZE, "size", "N",
		  "so many bytes from there on",
		  .without = "count" },
		{ OPTION_COUNT, "count", "N",
		  "so many instructions from there on; without --addr\n"
		  "so many around the marked one" },
		{ OPTION_SYNTAX, "syntax", "S",
		  "intel, as without this, or att" },
		{ OPTION_BYTES, "bytes", NULL, "with the bytes" },
		{ OPTION_SOURCE, "source", NULL, "with the source lines" },
		{ OPTION_SOURCE_DIR, "source-dir", "DIR",
		  "where source files are looked for first",
		  .with = "source" },
		VIEW_ROW_DEBUG_DIR,
		{ VIEW_JSON, "json", NULL,
		  "one JSON object for each instruction: at, events,\n"
		  "addr, size, bytes, instruction, function, offset,\n"
		  "file, line, target, symbol, next" },
		{ 0 }
	},
};

struct disassemble_command {
	const char *addr, *folders;
	uint64_t size, count;	/* 0: not given */
	enum vm_syntax syntax;
	bool bytes, with_source;

	/* Of the time that is shown. */
	struct view *view;
	struct frame frame;
	uint64_t pc;
	uint64_t skipped, left;		/* instructions */
	uint64_t mark;			/* ... before that at `pc` */
	struct source source;
	const char *file;		/* of the last line */
	unsigned line;
};

/* ------- printing ------- */

static void print_as_json(const struct disassemble_command *command,
			  const struct code_line *code)
{
	const struct vm_instruction *instruction = &code->instruction;
	const struct view *view = command->view;
	json_t *object = json_object();
	struct source_line line;

	json_set_position(object, &view->at);
	json_set_address(object, "addr", code->addr);
	json_set_count(object, "size", code->size);
	lines_find(view->lines, view->at.time, code->addr, &line);
	if (code->bytes) {
		uint8_t known[VM_INSTRUCTION_MOST];
		char *text;

		memset(known, 1, sizeof(known));
		text = memory_text(code->bytes, known, code->size);
		json_object_set_new(object, "bytes",
				    text ? json_string(text) : NULL);
		free(text);
		json_set_text(object, "instruction",
			      instruction->size ? instruction->text : "(bad)");
	}
	if (line.function[0]) {
		json_set_text(object, "function",
			      without_module(line.function, line.module));
		json_set_count(object, "offset", line.offset);
	}
	if (line.module[0])
		json_set_text(object, "module", line.module);
	if (line.file) {
		json_set_text(object, "file", line.file);
		json_set_count(object, "line", line.line);
	}
	if (instruction->has_target)
		json_set_address(object, "target", instruction->target);
	if (code->target[0])
		json_set_text(object, "symbol", code->target);
	if (code->addr == command->pc)
		json_object_set_new(object, "next", json_true());
	print_json(object);
}

static void print_bytes(const struct code_line *code)
{
	for (size_t i = 0; i < code->size; i++)
		printf("%02x ", code->bytes[i]);
	/* Most are shorter than 8 bytes. */
	printf("%*s\t", code->size < 8 ? (int)(8 - code->size) * 3 : 0, "");
}

static void print_name(const char *before, const char *name)
{
	fputs(before, stdout);
	print_escaped(stdout, name, strlen(name));
	putchar('>');
}

static void print_target(const struct code_line *code)
{
	const struct vm_instruction *instruction = &code->instruction;

	if (instruction->has_target && !instruction->jumps)
		printf("  # 0x%" PRIx64, instruction->target);
	if (code->target[0])
		print_name(" <", code->target);
}

/* "7\tint x = 5;", where another line begins. */
static void print_source(struct disassemble_command *command, uint64_t addr)
{
	struct view *view = command->view;
	struct source_line line;
	const char *text;
	size_t size;

	lines_find(view->lines, view->at.time, addr, &line);
	if (!line.file || (line.file == command->file &&
			   line.line == command->line))
		return;
	if (!command->file || strcmp(command->file, line.file) != 0) {
		source_close(&command->source);
		if (source_open(&command->source, &line, command->folders,
				NULL))
			source_close(&command->source);
		print_escaped(stdout, line.file, strlen(line.file));
		puts(":");
	}
	command->file = line.file;
	command->line = line.line;
	printf("%u", line.line);
	if (line.line <= command->source.count) {
		putchar('\t');
		text = source_text(&command->source, line.line, &size);
		print_source_text(stdout, text, size);
	}
	putchar('\n');
}

static void print_as_text(struct disassemble_command *command,
			  const struct code_line *code)
{
	const struct vm_instruction *instruction = &code->instruction;
	const char *text = instruction->size ? instruction->text : "(bad)";

	if (command->with_source)
		print_source(command, code->addr);
	printf("%s 0x%" PRIx64, code->addr == command->pc ? "=>" : "  ",
	       code->addr);
	if (code->name[0])
		print_name(" <", code->name);
	fputs(":\t", stdout);
	if (!code->bytes) {
		printf("?? (%zu byte%s that nobody ever looked at)\n",
		       code->size, code->size == 1 ? "" : "s");
		return;
	}
	if (command->bytes)
		print_bytes(code);
	fputs(text, stdout);
	print_target(code);
	putchar('\n');
}

static int print_code(void *context, const struct code_line *code)
{
	struct disassemble_command *command = context;

	if (command->skipped) {
		command->skipped--;
		return 0;
	}
	if (command->view->json)
		print_as_json(command, code);
	else
		print_as_text(command, code);
	return --command->left == 0;
}

/* ------- which ------- */

static int count_code(void *context, const struct code_line *code)
{
	struct disassemble_command *command = context;

	if (code->addr >= command->pc)
		return 1;
	command->mark++;
	return 0;
}

/* So many around the marked one. */
static int find_window(struct disassemble_command *command,
		       const struct code_walk *all, struct failure *why)
{
	struct code_walk walk = *all;
	int rc;

	walk.visit = count_code;
	command->mark = 0;
	rc = code_each(&walk, why);
	if (rc < 0)
		return rc;
	if (command->mark > command->count / 2)
		command->skipped = command->mark - command->count / 2;
	command->left = command->count;
	return 0;
}

static int print_walk(struct disassemble_command *command,
		      struct code_walk *walk, bool is_known,
		      struct failure *why)
{
	int rc = 0;

	command->skipped = 0;
	command->left = UINT64_MAX;
	if (command->size) {
		walk->end = walk->start + command->size;
	} else if (command->count && (command->addr || !is_known)) {
		walk->count = command->count;
		walk->end = UINT64_MAX;
	} else if (command->count) {
		rc = find_window(command, walk, why);
	} else if (!is_known) {
		walk->count = COUNT_SHOWN;
		walk->end = UINT64_MAX;
	}
	if (!rc)
		rc = code_each(walk, why);
	return rc < 0 ? rc : 0;
}

static void print_header(const struct disassemble_command *command,
			 uint32_t tid)
{
	char at[POSITION_TEXT];

	if (!command->view->json)
		printf("thread %" PRIu32 " at t=%s:\n", tid,
		       position_text(at, &command->view->at));
}

static int show(struct view *view, struct failure *why)
{
	struct disassemble_command *command = view->context;
	struct code_walk walk = {
		.replayer = view->replayer,
		.lines = view->lines,
		.count = UINT64_MAX,
		.syntax = command->syntax,
		.visit = print_code,
		.context = command,
	};
	uint64_t addr, start, end;
	uint32_t tid;
	bool is_known;
	int rc = view_find_frame(view, &command->frame, &tid, why);

	command->view = view;
	command->pc = command->frame.pc;
	addr = command->frame.code;
	if (!rc && command->addr)
		rc = view_address(view, command->addr, &addr, why);
	if (rc)
		return rc;
	is_known = code_function(view->lines, view->at.time, addr, &start,
				 &end);
	walk.start = is_known ? start : command->addr ? addr : command->pc;
	walk.end = is_known ? end : walk.start;
	/* A call that its function ends with returns behind it. */
	if (is_known && end == command->pc && addr != command->pc)
		walk.end++;
	if (command->size || (command->count && command->addr))
		walk.start = command->addr ? addr : command->pc;
	print_header(command, tid);
	rc = print_walk(command, &walk, is_known, why);
	source_close(&command->source);
	command->file = NULL;
	return rc;
}

/* ------- the command ------- */

static int take_count(const struct options *options, int id, uint64_t *out)
{
	if (number_parse(options->value, out) && *out)
		return 0;
	return options_bad_value(options, id, "a number above 0");
}

static int take_syntax(const struct options *options, int id,
		       struct disassemble_command *command)
{
	if (!strcmp(options->value, "intel"))
		command->syntax = VM_INTEL;
	else if (!strcmp(options->value, "att"))
		command->syntax = VM_ATT;
	else
		return options_bad_value(options, id, "'intel' or 'att'");
	return 0;
}

static int take_option(const struct options *options, int id,
		       struct view *view)
{
	struct disassemble_command *command = view->context;

	switch (id) {
	case OPTION_ADDR:
		command->addr = options->value;
		return 0;
	case OPTION_SIZE:
		return take_count(options, id, &command->size);
	case OPTION_COUNT:
		return take_count(options, id, &command->count);
	case OPTION_SYNTAX:
		return take_syntax(options, id, command);
	case OPTION_BYTES:
		command->bytes = true;
		return 0;
	case OPTION_SOURCE:
		command->with_source = true;
		return 0;
	case OPTION_SOURCE_DIR:
		command->folders = options->value;
		return 0;
	}
	return view_take_option(options, id, view);
}

static int run(struct options *options)
{
	struct disassemble_command command = { 0 };
	struct view view = { .show = show, .context = &command };
	int id = 0, rc = 0;

	while (!rc && (id = options_next(options)) >= 0)
		rc = take_option(options, id, &view);
	if (!rc && id == OPTIONS_END)
		rc = view_check_thread(options, &view);
	return views_run(&view, options, rc ? rc : id);
}
