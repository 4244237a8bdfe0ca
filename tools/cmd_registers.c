/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_registers.c - cprec registers: what the registers of threads held */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "replayer/symbols/symbols.h"
#include "tools/commands.h"
#include "tools/messages.h"
#include "tools/print.h"
#include "tools/print_frames.h"
#include "tools/print_registers.h"
#include "tools/views.h"

static int run(struct options *options);

enum { OPTION_ALL = VIEW_OWN };

const struct command command_registers = {
	.name = "registers",
	.run = run,
	.arguments = "[FILE] [--at=T]",
	.summary = "what the registers of threads held",
	.usage = "registers [OPTION...] [FILE] [NAME...]",
	.about = "Tells what the registers of each thread held: the general"
		 " ones, or those whose\n"
		 "NAMEs are given.",
	.options = (const struct option_info[]) {
		VIEW_ROW_AT,
		{ VIEW_THREAD, "thread", "TID",
		  "of this thread; without this, or with 'all', of\n"
		  "each" },
		{ VIEW_FRAME, "frame", "N",
		  "in this frame, as 'cprec backtrace' counts them, of\n"
		  "one thread: those that its callees have kept" },
		{ OPTION_ALL, "all", NULL,
		  "also those of x87 and vectors" },
		VIEW_ROW_DEBUG_DIR,
		{ VIEW_JSON, "json", NULL,
		  "one JSON object for each thread: at, events,\n"
		  "thread, instructions, runs, registers (all), and\n"
		  "where it is" },
		{ 0 }
	},
};

struct registers_command {
	bool all;
	char **names;
	size_t count;
};

/* One thread at a time. */
struct state {
	const struct view *view;
	const struct reg_table *table;
	uint32_t tid;
	uint64_t steps;		/* of the thread, before */
	bool runs;		/* it is its turn */
	bool has_ended;		/* ... and its end: that of the process */
	struct frame_registers registers;
};

/* ------- which ------- */

/* Those that were asked for, in that order; else those of the table. */
static unsigned count_of(const struct state *state)
{
	const struct registers_command *command = state->view->context;

	return command->count ? (unsigned)command->count :
				state->table->count;
}

/* False: it is not shown. */
static bool find(const struct state *state, unsigned i, struct reg_named *out)
{
	const struct registers_command *command = state->view->context;

	if (command->count)
		return reg_find(state->table, command->names[i], out);
	return reg_find(state->table, state->table->regs[i].name, out) &&
	       (command->all || state->view->json ||
		reg_is_general(&out->info));
}

static bool is_lost(const struct state *state, const struct reg_named *named)
{
	bool is = false;

	for (unsigned i = 0; i < named->count; i++)
		is |= state->registers.is_lost[named->reg + i];
	return is;
}

static int check_name(const struct reg_table *table, const char *name,
		      struct failure *why)
{
	struct reg_named named;

	return reg_find(table, name, &named) ? 0 :
	       reg_not_found(table, name, ERR_NOT_FOUND, why);
}

/* ------- printing ------- */

static void print_as_json(const struct state *state)
{
	const struct reg_table *table = state->table;
	const struct frame_registers *found = &state->registers;
	const struct view *view = state->view;
	struct source_line line;
	json_t *object = json_object(), *registers = json_object();
	struct reg_named named;
	char value[REGISTER_TEXT];

	for (unsigned i = 0; i < count_of(state); i++) {
		if (!find(state, i, &named))
			continue;
		register_text(value, &named.info, &found->file);
		if (is_lost(state, &named))
			json_object_set_new(registers, named.info.name,
					    json_null());
		else
			json_set_text(registers, named.info.name, value);
	}
	json_set_position(object, &view->at);
	json_set_count(object, "thread", state->tid);
	if (view->has_frame)
		json_set_count(object, "frame", view->frame);
	json_set_count(object, "instructions", state->steps);
	json_object_set_new(object, "runs",
			    json_boolean(state->runs && !state->has_ended));
	lines_find(view->lines, view->at.time, found->code, &line);
	json_set_code(object, reg_get(table, &found->file, table->pc), NULL,
		      &line);
	if (line.module[0])
		json_set_text(object, "module", line.module);
	json_object_set_new(object, "registers", registers);
	print_json(object);
}

/* What is at an address, if it has a name. */
static void print_symbol(const struct state *state, uint64_t addr)
{
	char name[256];

	if (!names_of(lines_names(state->view->lines), state->view->at.time,
		      addr, name, sizeof(name)))
		return;
	fputs(" <", stdout);
	print_escaped(stdout, name, strlen(name));
	putchar('>');
}

/* Where the thread is, as far as it is known. */
static void print_source(const struct state *state)
{
	struct source_line line;

	lines_find(state->view->lines, state->view->at.time,
		   state->registers.code, &line);
	if (!line.line)
		return;
	fputs(" at ", stdout);
	print_escaped(stdout, line.file, strlen(line.file));
	printf(":%u", line.line);
}

static void print_line(const struct state *state,
		       const struct reg_named *named)
{
	const struct frame_registers *found = &state->registers;
	const struct reg_info *info = &named->info;
	bool lost = is_lost(state, named);

	printf("  %-14s ", info->name);
	if (lost)
		fputs("<not saved>", stdout);
	else
		print_register(stdout, info, &found->file);
	if (!lost && (info->kind == REG_CODE || info->kind == REG_ADDRESS))
		print_symbol(state, reg_get(state->table, &found->file,
					    named->reg));
	if (named->reg == state->table->pc)
		print_source(state);
	putchar('\n');
}

static void print_as_text(const struct state *state)
{
	struct reg_named named;
	char at[POSITION_TEXT];

	printf("registers of thread %" PRIu32 " at t=%s (%" PRIu32 ":%" PRIu64
	       ")%s", state->tid, position_text(at, &state->view->at),
	       state->tid, state->steps,
	       state->has_ended ? ", where it ended" :
	       state->runs ? "" : ", not its turn");
	if (state->view->has_frame)
		printf(", frame %" PRIu64, state->view->frame);
	putchar('\n');
	for (unsigned i = 0; i < count_of(state); i++)
		if (find(state, i, &named))
			print_line(state, &named);
}

/* ------- threads ------- */

/* ERR_NOT_FOUND if there is no such thread then. */
static int find_state(struct state *state, uint32_t stream,
		      struct failure *why)
{
	const struct view *view = state->view;
	struct recording *recording = view->recording;
	struct expression_place place = { .at = view->at,
					  .frame = view->frame };
	uint32_t thread = recording_thread_of(recording, stream,
					      view->at.time);
	int rc = replayer_thread_registers(view->replayer, stream,
					   &state->registers.file, why);

	state->runs = replayer_stream(view->replayer) == stream;
	state->has_ended = state->runs && replayer_has_ended(view->replayer);
	if (!rc)
		rc = recording_tid(recording, thread, &state->tid, why);
	if (!rc)
		rc = recording_steps(recording, thread, view->at.time,
				     &state->steps, why);
	state->registers.code = reg_get(state->table, &state->registers.file,
					state->table->pc);
	if (rc || !view->frame)
		return rc;
	place.some_thread = true;
	place.tid = state->tid;
	return expressions_registers(view->expressions, &place,
				     &state->registers, why);
}

static int show_stream(const struct view *view, uint32_t stream,
		       struct failure *why)
{
	struct state state = {
		.view = view,
		.table = recording_reg_table(view->recording),
	};
	int rc = find_state(&state, stream, why);

	if (rc)
		return rc;
	if (view->json)
		print_as_json(&state);
	else
		print_as_text(&state);
	return 0;
}

static int show_each(const struct view *view, struct failure *why)
{
	size_t count = recording_threads(view->recording);
	int rc = 0;

	for (uint32_t stream = 0; stream < count && !rc; stream++) {
		rc = show_stream(view, stream, why);
		if (rc == ERR_NOT_FOUND)
			rc = 0;
	}
	return rc;
}

static int check_names(const struct view *view, struct failure *why)
{
	const struct registers_command *command = view->context;
	const struct reg_table *table = recording_reg_table(view->recording);
	int rc = 0;

	for (size_t i = 0; i < command->count && !rc; i++)
		rc = check_name(table, command->names[i], why);
	return rc;
}

static int show(struct view *view, struct failure *why)
{
	uint32_t stream, tid;
	int rc = check_names(view, why);

	if (rc)
		return rc;
	if (!view->json && names_check(lines_names(view->lines), view->at.time,
				       why))
		say_note("%s: code is not named", why->text);
	if (!view->has_frame && (view->threads.all || !view->threads.some))
		return show_each(view, why);
	rc = view_thread(view, &stream, &tid, why);
	return rc ? rc : show_stream(view, stream, why);
}

/* ------- the command ------- */

static int run(struct options *options)
{
	struct registers_command command = { 0 };
	struct view view = { .show = show, .context = &command };
	int id = 0, rc = 0;

	while (!rc && (id = options_next(options)) >= 0) {
		if (id == OPTION_ALL)
			command.all = true;
		else
			rc = view_take_option(options, id, &view);
	}
	if (!rc && id == OPTIONS_END && view.has_frame)
		rc = view_check_thread(options, &view);
	if (!rc && id == OPTIONS_END)
		command.names = options_take_words(options, &command.count);
	return views_run(&view, options, rc ? rc : id);
}
