/* SPDX-License-Identifier: GPL-2.0-or-later */
/* states.c - see states.h */
#include "tools/states.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"
#include "tools/messages.h"
#include "tools/print.h"
#include "tools/print_frames.h"

/* One thread at a time. */
struct state {
	struct position at;
	uint32_t tid;
	uint64_t steps;		/* of the thread, before */
	bool runs;		/* it is its turn */
	bool has_ended;		/* ... and its end: that of the process */
	struct reg_file file;
};

static void print_as_json(struct lines *lines, const struct reg_table *table,
			  const struct state *state)
{
	uint64_t pc = reg_get(table, &state->file, table->pc);
	struct source_line line;
	json_t *object = json_object(), *registers = json_object();
	char value[REGISTER_TEXT];

	for (unsigned i = 0; i < table->count; i++) {
		register_text(value, table, &state->file, i);
		json_set_text(registers, table->regs[i].name, value);
	}
	json_set_position(object, &state->at);
	json_set_count(object, "thread", state->tid);
	json_set_count(object, "instructions", state->steps);
	json_object_set_new(object, "runs",
			    json_boolean(state->runs && !state->has_ended));
	lines_find(lines, state->at.time, pc, &line);
	json_set_code(object, pc, NULL, &line);
	if (line.module[0])
		json_set_text(object, "module", line.module);
	json_object_set_new(object, "registers", registers);
	print_json(object);
}

/* Where the thread is, as far as it is known. */
static void print_place(struct lines *lines, uint64_t t, uint64_t pc)
{
	struct source_line line;
	char name[256];

	if (!names_of(lines_names(lines), t, pc, name, sizeof(name)))
		return;
	fputs("  ", stdout);
	print_escaped(stdout, name, strlen(name));
	lines_find(lines, t, pc, &line);
	if (!line.line)
		return;
	fputs(" at ", stdout);
	print_escaped(stdout, line.file, strlen(line.file));
	printf(":%u", line.line);
}

static void print_as_text(struct lines *lines, const struct state *state)
{
	const struct reg_table *table =
		recording_reg_table(names_recording(lines_names(lines)));
	char value[REGISTER_TEXT], at[POSITION_TEXT];

	printf("registers of thread %" PRIu32 " at t=%s (%" PRIu32 ":%" PRIu64
	       ")%s\n", state->tid, position_text(at, &state->at), state->tid,
	       state->steps, state->has_ended ? ", where it ended" :
	       state->runs ? "" : ", not its turn");
	for (unsigned i = 0; i < table->count; i++) {
		register_text(value, table, &state->file, i);
		printf("  %-8s %s", table->regs[i].name, value);
		if (i == table->pc)
			print_place(lines, state->at.time,
				    reg_get(table, &state->file, i));
		putchar('\n');
	}
}

/* ERR_NOT_FOUND if there is no such thread then. */
static int find_state(const struct state_question *asked,
		      struct replayer *replayer, uint32_t stream,
		      struct state *out, struct failure *why)
{
	struct recording *recording = asked->recording;
	uint32_t thread;
	int rc = replayer_thread_registers(replayer, stream, &out->file, why);

	out->at = replayer_position(replayer);
	out->runs = replayer_stream(replayer) == stream;
	out->has_ended = out->runs && replayer_has_ended(replayer);
	thread = recording_thread_of(recording, stream, out->at.time);
	if (!rc)
		rc = recording_tid(recording, thread, &out->tid, why);
	if (!rc)
		rc = recording_steps(recording, thread, out->at.time,
				     &out->steps, why);
	return rc;
}

static int print_state(const struct state_question *asked,
		       struct replayer *replayer, uint32_t stream,
		       struct failure *why)
{
	struct state state;
	int rc = find_state(asked, replayer, stream, &state, why);

	if (rc)
		return rc;
	if (asked->json)
		print_as_json(asked->lines,
			      recording_reg_table(asked->recording), &state);
	else
		print_as_text(asked->lines, &state);
	return 0;
}

static int print_one(const struct state_question *asked,
		     struct replayer *replayer, struct failure *why)
{
	struct recording *recording = asked->recording;
	uint64_t t = replayer_time(replayer);
	uint32_t thread, stream;
	int rc = recording_find_thread(recording, asked->threads.tid, t,
				       &thread, why);

	if (rc)
		return rc;
	stream = recording_stream_of(recording, thread, t);
	/* By its own exec it became the process's first. */
	if (recording_thread_of(recording, stream, t) != thread)
		return failed(why, ERR_NOT_FOUND,
			      "thread %" PRIu32 " has ended before t=%" PRIu64,
			      asked->threads.tid, t);
	return print_state(asked, replayer, stream, why);
}

/* Every thread that there is at the time, or the one that was asked for. */
static int print_states(const struct state_question *asked,
			struct replayer *replayer, struct failure *why)
{
	size_t count = recording_threads(asked->recording);
	uint32_t stream;
	int rc = 0;

	if (!asked->json && names_check(lines_names(asked->lines), replayer_time(replayer), why))
		say_note("%s: code is not named", why->text);
	if (asked->threads.some && !asked->threads.all)
		return print_one(asked, replayer, why);
	for (stream = 0; stream < count && !rc; stream++) {
		rc = print_state(asked, replayer, stream, why);
		if (rc == ERR_NOT_FOUND)
			rc = 0;
	}
	return rc;
}

static void print_failure(const struct state_question *asked, const char *at,
			  bool is_time, const struct position *position,
			  const struct failure *why)
{
	if (asked->json) {
		json_t *object = json_object();

		if (is_time)
			json_set_position(object, position);
		else
			json_set_text(object, "asked_at", at);
		json_set_text(object, "error", why->text);
		print_json(object);
	}
	say_failure(why);
}

bool state_print(const struct state_question *asked, struct query *query,
		 const char *at)
{
	struct replayer *replayer;
	struct failure why;
	bool is_time;
	struct position position;
	int rc = place_position(&position, &is_time, asked->recording, at,
				&why);

	if (!rc)
		rc = query_replayer(query, &replayer, &why);
	if (!rc)
		rc = replayer_seek(replayer, &position, &why);
	if (!rc)
		rc = print_states(asked, replayer, &why);
	if (rc)
		print_failure(asked, at, is_time, &position, &why);
	return !rc;
}
