/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_when.c - cprec when: when a condition became true */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
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
#include "tools/print.h"
#include "tools/print_access.h"
#include "tools/shown_values.h"

static int run(struct options *options);

enum { OPTION_EXPR = 256, OPTION_IN, OPTION_FROM, OPTION_TO, OPTION_LAST,
       OPTION_LIMIT, OPTION_THREAD, OPTION_PROCESS, OPTION_DEBUG_DIR,
       OPTION_JSON, OPTION_ELEMENTS, OPTION_RAW };

const struct command command_when = {
	.name = "when",
	.run = run,
	.arguments = "[FILE] --expr=E",
	.summary = "when a condition became true",
	.usage = "when [OPTION...] [FILE] --expr=E",
	.about = "Tells when a condition became true: which instruction, or"
		 " system call, made it so\n"
		 "that had been false or not known right before; and what"
		 " changed.",
	.options = (const struct option_info[]) {
		{ OPTION_EXPR, "expr", "E",
		  "the condition, an expression as for 'cprec query':\n"
		  "'count > 100', 'head->next->id == 7', '$rax == -1'" },
		{ OPTION_IN, "in", "PLACE",
		  "it is asked in this function, where its statements\n"
		  "begin and it is left, or at this line (hello.c:12)" },
		{ OPTION_FROM, "from", "T",
		  "from this time on; without this, from the start" },
		{ OPTION_TO, "to", "T",
		  "no further than to this time; without this, to the\n"
		  "end" },
		{ OPTION_LAST, "last", NULL, "the last time, not the first",
		  .without = "limit" },
		{ OPTION_LIMIT, "limit", "N",
		  "the first N times; 0: all" },
		{ OPTION_THREAD, "thread", "TID",
		  "only what this thread does" },
		{ OPTION_PROCESS, "process", "P",
		  "of a machine: only in this process of its kernel, a\n"
		  "number or a name; its programs' names are known" },
		SHOWN_ROWS(OPTION_ELEMENTS, OPTION_RAW),
		{ OPTION_DEBUG_DIR, "debug-dir", "DIR",
		  "where debugging information is looked for, too" },
		{ OPTION_JSON, "json", NULL,
		  "one JSON object per line: at, events, thread, by, pc,\n"
		  "function, file, line, values, ..." },
		{ 0 }
	},
	.notes = "The time is that before the instruction that makes it true;"
		 " with --in, or with\n"
		 "registers, that at which it is found to be.  Without --in,"
		 " variables of a function\n"
		 "are asked for in that function.  Exits with 1 if it never"
		 " became true.",
};

/* What an operator combines, before and after. */
struct operand {
	char *text, *old, *new;
};

struct when_command {
	struct asking asking;
	struct when_question question;
	struct when_result result;
	struct access_printing printing;
	uint64_t printed;
	bool json;

	/* As of the time that was told last. */
	struct operand *operands;
	size_t count, room;
	bool has_failed;
};

/* ------- operands ------- */

static void release(struct when_command *command)
{
	for (size_t i = 0; i < command->count; i++) {
		free(command->operands[i].text);
		free(command->operands[i].old);
		free(command->operands[i].new);
	}
	free(command->operands);
}

static void on_operand(void *context, const char *text, size_t size)
{
	struct when_command *command = context;
	struct operand operand = { .text = strndup(text, size) };

	for (size_t i = 0; i < command->count; i++)
		if (operand.text &&
		    !strcmp(command->operands[i].text, operand.text)) {
			free(operand.text);
			return;
		}
	if (!operand.text ||
	    array_room(command->operands, command->count, command->room)) {
		free(operand.text);
		command->has_failed = true;
		return;
	}
	command->operands[command->count++] = operand;
}

/* Programs on a machine's kernel have names where the replay stands. */
static int stand_at(const struct when_command *command,
		    const struct position *at, struct failure *why)
{
	struct replayer *replayer;
	int rc;

	if (!recording_is_machine(command->asking.recording))
		return 0;
	rc = query_replayer(command->asking.query, &replayer, why);
	return rc ? rc : replayer_seek(replayer, at, why);
}

/* NULL: it is not known. */
static char *value_of(struct when_command *command, const char *text,
		      const struct expression_question *question)
{
	struct expression_question asked = *question;
	struct expression found;
	struct failure ignored;
	char *value;

	asked.text = text;
	if (stand_at(command, &question->place.at, &ignored) ||
	    expressions_find(command->asking.expressions, &asked, &found,
			     &ignored))
		return NULL;
	value = found.value;
	found.value = NULL;
	expression_release(&found);
	return value;
}

static struct expression_question question_at(const struct when_command *command,
					      const struct when_met *met,
					      const struct position *at)
{
	return (struct expression_question) {
		.place = { .at = *at, .some_thread = true, .tid = met->tid },
		.no_frame = command->result.is_of_memory, .only_begun = true,
	};
}

/* They are the same each time; their values are asked for in order of time. */
static int find_operands(struct when_command *command,
			 const struct when_met *met, struct failure *why)
{
	const struct expression_question old = question_at(command, met,
							   &met->old_at);
	const struct expression_question new = question_at(command, met,
							   &met->new_at);
	int rc = command->count ? 0 : stand_at(command, &met->new_at, why);

	if (rc)
		return rc;
	if (!command->count)
		expressions_operands(command->asking.expressions,
				     command->question.text, &new, on_operand,
				     command);
	for (size_t i = 0; i < command->count; i++) {
		free(command->operands[i].old);
		command->operands[i].old = met->has_old ?
			value_of(command, command->operands[i].text, &old) :
			NULL;
	}
	for (size_t i = 0; i < command->count; i++) {
		free(command->operands[i].new);
		command->operands[i].new =
			value_of(command, command->operands[i].text, &new);
	}
	return command->has_failed ?
		       failed(why, ERR_NO_MEMORY, "out of memory") : 0;
}

static bool has_changed(const struct operand *operand)
{
	return operand->new && (!operand->old ||
				strcmp(operand->old, operand->new) != 0);
}

/* Those that changed; or all, if none did. */
static bool is_shown(const struct when_command *command, size_t number)
{
	bool any = false;

	for (size_t i = 0; i < command->count; i++)
		any |= has_changed(&command->operands[i]);
	return any ? has_changed(&command->operands[number]) :
		     command->operands[number].new != NULL;
}

/* ------- as text and JSON ------- */

static void print_operands(const struct when_command *command)
{
	const char *mark = ": ";

	for (size_t i = 0; i < command->count; i++) {
		const struct operand *operand = &command->operands[i];

		if (!is_shown(command, i))
			continue;
		printf("%s", mark);
		print_escaped(stdout, operand->text, strlen(operand->text));
		fputs(" = ", stdout);
		if (has_changed(operand) && operand->old) {
			print_value_text(stdout, operand->old);
			fputs(" -> ", stdout);
		}
		print_value_text(stdout, operand->new);
		mark = ", ";
	}
	putchar('\n');
}

static json_t *operands_array(const struct when_command *command)
{
	json_t *list = json_array();

	for (size_t i = 0; i < command->count; i++) {
		const struct operand *operand = &command->operands[i];
		json_t *object = json_object();

		json_set_text(object, "expression", operand->text);
		if (operand->old)
			json_set_text(object, "before", operand->old);
		if (operand->new)
			json_set_text(object, "value", operand->new);
		json_array_append_new(list, object);
	}
	return list;
}

static int print(struct when_command *command, const struct when_met *met,
		 struct failure *why)
{
	json_t *object;
	int rc = stand_at(command, &met->access.before, why);

	if (rc)
		return rc;
	if (!command->json) {
		rc = print_access_place(&command->printing, &met->access, why);
		if (!rc)
			print_operands(command);
		return rc;
	}
	rc = access_place_object(&command->printing, &met->access, &object,
				 why);
	if (rc)
		return rc;
	json_object_set_new(object, "values", operands_array(command));
	print_json(object);
	return 0;
}

static int on_met(void *context, const struct when_met *met,
		  struct failure *why)
{
	struct when_command *command = context;
	int rc = find_operands(command, met, why);

	if (!rc)
		rc = print(command, met, why);
	if (rc)
		return rc;
	command->printed++;
	return ferror(stdout) ? WHEN_ENOUGH : 0;
}

/* ------- answers ------- */

static int search(void *context, struct failure *why)
{
	struct when_command *command = context;
	struct when_question *question = &command->question;
	char text[POSITION_TEXT];
	int rc;

	question->from = command->asking.first;
	question->to = command->asking.last;
	question->met = on_met;
	question->context = command;
	command->printing = (struct access_printing) {
		.recording = command->asking.recording,
		.lines = command->asking.lines, .json = command->json,
	};
	rc = expressions_when(command->asking.expressions, question,
			      &command->result, why);
	if (!rc && command->result.was_true)
		say_note("'%s' is true at t=%s already", question->text,
		    position_text(text, &question->from));
	if (!rc && question->place)
		copies_note_lost(question->place, &command->result.copies);
	return rc;
}

static int none(const struct when_command *command)
{
	char from[POSITION_TEXT], to[POSITION_TEXT];

	say("'%s' did not become true from t=%s to t=%s",
	    command->question.text,
	    position_text(from, &command->asking.first),
	    position_text(to, &command->asking.last));
	return EXIT_FAILED;
}

/* ------- the command line ------- */

static int take_thread(const struct options *options, int id,
		       struct when_question *question)
{
	struct threads_text threads;

	if (!number_parse_threads(options->value, &threads) || threads.all)
		return options_bad_value(options, id,
					 "the number of a thread");
	question->some_thread = true;
	question->tid = threads.tid;
	return 0;
}

static int take_place(const struct options *options,
		      struct when_question *question)
{
	struct log_point point;
	struct failure why;
	int rc = log_point_init(&point, options->value, &why);

	log_point_release(&point);
	question->place = options->value;
	return rc ? options_wrong(options, "%s", why.text) : 0;
}

static int take_option(const struct options *options, int id,
		       struct when_command *command)
{
	switch (id) {
	case OPTION_EXPR:
		command->question.text = options->value;
		break;
	case OPTION_IN:
		return take_place(options, &command->question);
	case OPTION_FROM:
		return options_take_time(options, id, &command->asking.from);
	case OPTION_TO:
		return options_take_time(options, id, &command->asking.to);
	case OPTION_LAST:
		command->question.last = true;
		break;
	case OPTION_LIMIT:
		if (!number_parse(options->value,
				  &command->question.limit))
			return options_bad_value(options, id, "a number");
		break;
	case OPTION_PROCESS:
		command->asking.process = options->value;
		break;
	case OPTION_THREAD:
		return take_thread(options, id, &command->question);
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

static int run(struct options *options)
{
	struct when_command command = {
		.asking = { .from = "start", .to = "end" },
		.question.limit = 1,
	};
	int id, status;

	while ((id = options_next(options)) >= 0)
		if (take_option(options, id, &command))
			return EXIT_USAGE;
	if (id == OPTIONS_END &&
	    (!command.question.text || !*command.question.text))
		id = options_wrong(options, "a condition is missing: --expr");
	command.asking.path = options_recording(options, id);
	if (!command.asking.path)
		return options->status;
	status = asking_run(&command.asking, search, &command);
	release(&command);
	return status == EXIT_ANSWERED && !command.printed ? none(&command) :
							     status;
}
