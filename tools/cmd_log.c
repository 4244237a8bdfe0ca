/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_log.c - cprec log: prints added to a program after the fact */
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
#include "tools/print_calls.h"
#include "tools/shown_values.h"

static int run(struct options *options);

enum { OPTION_FROM = 256, OPTION_TO, OPTION_THREAD, OPTION_PROCESS,
       OPTION_LIMIT, OPTION_DEBUG_DIR, OPTION_JSON, OPTION_ELEMENTS,
       OPTION_RAW };

const struct command command_log = {
	.name = "log",
	.run = run,
	.arguments = "[FILE] 'F.c:12 => i'",
	.summary = "values, each time a line was executed",
	.usage = "log [OPTION...] [FILE] 'PLACE => EXPRESSION, ...'...",
	.about = "Prints what expressions were each time that a place was"
		 " executed, as if the\n"
		 "program had had these prints.  A PLACE is a line"
		 " (hello.c:12), a function\n"
		 "(Server::serve) or an address (*0x401136); it stops where a"
		 " breakpoint does.\n"
		 "An EXPRESSION is as for 'cprec query'; $return is what a"
		 " function returned:\n"
		 "then nothing else can be asked for, and it is printed behind"
		 " the call.",
	.options = (const struct option_info[]) {
		{ OPTION_FROM, "from", "T",
		  "from this time on; without this, from the start" },
		{ OPTION_TO, "to", "T",
		  "no further than to this time; without this, to the\n"
		  "end" },
		{ OPTION_THREAD, "thread", "TID", "only of this thread" },
		{ OPTION_PROCESS, "process", "P",
		  "of a machine: only in this process of its kernel, a\n"
		  "number or a name; its programs' names are known" },
		{ OPTION_LIMIT, "limit", "N", "no more than N lines" },
		SHOWN_ROWS(OPTION_ELEMENTS, OPTION_RAW),
		{ OPTION_DEBUG_DIR, "debug-dir", "DIR",
		  "where debugging information is looked for, too" },
		{ OPTION_JSON, "json", NULL,
		  "one JSON object per line: at, thread, place, values" },
		{ 0 }
	},
	.notes = "An expression that has no value then is the reason, in"
		 " <...>.  One that can\n"
		 "never have a value is refused.  Exits with 1 if no PLACE was"
		 " executed.",
};

#define RETURNED "$return"

/* What is to be printed at one place. */
struct item {
	char *text;		/* all of it, cut into: */
	char *place;
	char **list;		/* expressions */
	size_t count, room;
	bool returned;
	uint64_t printed;
};

struct log_command {
	struct asking asking;
	struct item *items;
	struct log_question question;	/* points: as many as items */
	uint64_t limit, printed;
	bool json;
	int width;		/* of times */
	char frame_option[POSITION_TEXT + 32];	/* of the command that has it */
};

#define IS_ENOUGH 1

/* ------- items ------- */

static char *trim(char *text)
{
	size_t size;

	text += strspn(text, " \t");
	size = strlen(text);
	while (size && strchr(" \t", text[size - 1]))
		text[--size] = '\0';
	return text;
}

/* The end of an expression: a ',' that is in no brackets and no quotes. */
static char *expression_end(char *text)
{
	unsigned depth = 0;
	char quote = 0;

	for (; *text; text++) {
		if (quote) {
			if (*text == '\\' && text[1])
				text++;
			else if (*text == quote)
				quote = 0;
		} else if (*text == '"' || *text == '\'') {
			quote = *text;
		} else if (strchr("([{", *text)) {
			depth++;
		} else if (strchr(")]}", *text)) {
			depth -= depth > 0;
		} else if (*text == ',' && !depth) {
			break;
		}
	}
	return text;
}

static int add_expression(struct item *item, char *text, struct failure *why)
{
	text = trim(text);
	if (!*text)
		return failed(why, ERR_INPUT, "an expression is missing in the"
			      " list of '%s'", item->place);
	item->returned |= !strcmp(text, RETURNED);
	if (array_room(item->list, item->count, item->room))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	item->list[item->count++] = text;
	return 0;
}

/* "PLACE => EXPRESSION, EXPRESSION" */
static int cut(struct item *item, const char *text, struct failure *why)
{
	char *at, *end;
	int rc = 0;

	item->place = item->text = strdup(text);
	if (!item->text)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	at = strstr(item->text, "=>");
	if (at) {
		*at = '\0';
		at += 2;
	}
	item->place = trim(item->text);
	for (; at && !rc; at = end) {
		end = expression_end(at);
		end = *end ? (*end = '\0', end + 1) : NULL;
		rc = add_expression(item, at, why);
	}
	return rc;
}

static int take_item(struct item *item, struct log_point *point,
		     const char *text, struct failure *why)
{
	int rc = cut(item, text, why);

	if (!rc)
		rc = log_point_init(point, item->place, why);
	if (rc || !item->returned)
		return rc;
	if (item->count > 1)
		return failed(why, ERR_INPUT, "with " RETURNED ", nothing else"
			      " can be asked for: '%s'", text);
	if (!point->function.asked)
		return failed(why, ERR_INPUT, RETURNED " is of functions, and"
			      " '%s' is none", item->place);
	point->at_return = true;
	return 0;
}

/* ------- values ------- */

struct shown {
	char *type;		/* NULL: not known */
	char *value;
	bool has_none;		/* `value` is the reason */
};

static void release(struct shown *shown)
{
	free(shown->type);
	free(shown->value);
}

/* What has no type is a number. */
static int find(struct log_command *command, const struct log_met *met,
		const char *text, struct expression *out, struct failure *why)
{
	struct expression_question question = {
		.text = text,
		.place = { .at = met->at, .frame = met->frame },
	};
	int rc = expressions_find(command->asking.expressions, &question, out, why);

	if (rc || out->value || out->no_value)
		return rc;
	expression_release(out);
	question.format = 'x';
	question.size = 8;
	return expressions_find(command->asking.expressions, &question, out, why);
}

static void take_reason(struct shown *shown, const char *reason)
{
	shown->has_none = true;
	shown->value = strdup(reason);
}

/* How messages say that a frame is chosen. */
static void take_frame_option(struct log_command *command,
			      const struct log_met *met)
{
	char at[POSITION_TEXT];

	snprintf(command->frame_option, sizeof(command->frame_option),
		 "cprec query --at=%s --frame=", position_text(at, &met->at));
}

static void evaluate(struct log_command *command, const struct log_met *met,
		     const char *text, struct shown *out)
{
	struct expression found = { 0 };
	struct failure why = { "" };

	*out = (struct shown) { 0 };
	if (find(command, met, text, &found, &why)) {
		take_reason(out, why.text);
	} else if (!found.value) {
		take_reason(out, found.no_value ? found.no_value : "");
	} else {
		out->value = found.value;
		out->type = found.type;
		found.value = found.type = NULL;
	}
	expression_release(&found);
}

static int take_returned(void *context, const struct call_value *value)
{
	struct shown *out = context;

	out->type = value->type ? strdup(value->type) : NULL;
	out->value = strdup(value->value);
	return 0;
}

static int evaluate_all(struct log_command *command, const struct log_met *met,
			const struct item *item, struct shown *out,
			struct failure *why)
{
	int rc = 0;

	for (size_t i = 0; i < item->count && !rc; i++) {
		if (!item->returned) {
			evaluate(command, met, item->list[i], &out[i]);
			continue;
		}
		rc = expressions_returned(command->asking.expressions, &met->at,
					  met->entry, take_returned, &out[i],
					  why);
		if (!rc && !out[i].value)
			take_reason(&out[i], "the function returns nothing");
	}
	for (size_t i = 0; i < item->count && !rc; i++)
		if (!out[i].value)
			rc = failed(why, ERR_NO_MEMORY, "out of memory");
	return rc;
}

/* ------- as text and JSON ------- */

static void print_text(const char *text)
{
	print_escaped(stdout, text, strlen(text));
}

static void print_as_text(const struct log_command *command,
			  const struct log_met *met, const struct item *item,
			  const struct shown *values)
{
	char at[POSITION_TEXT];

	printf("%*s %" PRIu32 " ", command->width, position_text(at, &met->at),
	       met->tid);
	if (met->function)
		print_function_name(met->function->name,
				    met->function->module,
				    met->function->is_program);
	else
		print_text(item->place);
	for (size_t i = 0; i < item->count; i++) {
		fputs(i ? ", " : ": ", stdout);
		print_text(item->list[i]);
		fputs(values[i].has_none ? " = <" : " = ", stdout);
		print_value_text(stdout, values[i].value);
		if (values[i].has_none)
			putchar('>');
	}
	putchar('\n');
}

static void print_as_json(const struct log_met *met, const struct item *item,
			  const struct shown *values)
{
	json_t *object = json_object(), *list = json_array();

	json_set_position(object, &met->at);
	json_set_count(object, "thread", met->tid);
	json_set_text(object, "place", item->place);
	if (met->function) {
		json_set_text(object, "function", met->function->name);
		json_set_text(object, "module", met->function->module);
	}
	for (size_t i = 0; i < item->count; i++) {
		json_t *value = json_object();

		json_set_text(value, "expression", item->list[i]);
		if (values[i].type)
			json_set_text(value, "type", values[i].type);
		json_set_text(value, values[i].has_none ? "error" : "value",
			      values[i].value);
		json_array_append_new(list, value);
	}
	json_object_set_new(object, "values", list);
	print_json(object);
}

static int on_met(void *context, const struct log_met *met,
		  struct failure *why)
{
	struct log_command *command = context;
	struct item *item = &command->items[met->point];
	struct shown *values = calloc(item->count + 1, sizeof(*values));
	int rc;

	if (!values)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	take_frame_option(command, met);
	rc = evaluate_all(command, met, item, values, why);
	if (!rc && command->json)
		print_as_json(met, item, values);
	else if (!rc)
		print_as_text(command, met, item, values);
	for (size_t i = 0; i < item->count; i++)
		release(&values[i]);
	free(values);
	if (rc)
		return rc;
	item->printed++;
	return ++command->printed == command->limit ? IS_ENOUGH : 0;
}

/* ------- answers ------- */

/* Nothing was printed, or only of others. */
static void say_absent(const struct log_command *command)
{
	void (*tell)(const char *format, ...)
		__attribute__((format(printf, 1, 2))) =
			command->printed ? say_note : say;
	const struct log_question *question = &command->question;
	char from[POSITION_TEXT], to[POSITION_TEXT];

	for (size_t i = 0; i < question->count; i++) {
		const struct item *item = &command->items[i];

		if (item->printed)
			continue;
		tell("'%s' %s from t=%s to t=%s%s", item->place,
		     item->returned ? "did not return" : "was not executed",
		     position_text(from, &question->from),
		     position_text(to, &question->to),
		     question->some_thread ? " by that thread" : "");
	}
}

/* Of functions that were inlined, copies that are not in the answer. */
static void say_missing(const struct log_command *command)
{
	for (size_t i = 0; i < command->question.count; i++) {
		const struct log_point *point = &command->question.points[i];
		const struct inlined_copies *copies = &point->copies;

		if (point->at_return)
			copies_note_uncalled(command->items[i].place, copies);
		else
			copies_note_lost(command->items[i].place, copies);
	}
}

/* ------- what can never have a value ------- */

/* What is said of it where the place is executed first. */
struct explaining {
	struct log_command *command;
	const char *text;
	struct failure *why;
};

static int on_first(void *context, const struct log_met *met,
		    struct failure *why)
{
	struct explaining *explaining = context;
	struct shown shown;

	(void)why;
	take_frame_option(explaining->command, met);
	evaluate(explaining->command, met, explaining->text, &shown);
	if (shown.has_none && shown.value)
		snprintf(explaining->why->text, sizeof(explaining->why->text),
			 "%s", shown.value);
	release(&shown);
	return IS_ENOUGH;
}

/* Of a variable of a caller, how it is asked for. */
static void explain_there(struct log_command *command, struct log_point *point,
			  const char *text, struct failure *why)
{
	struct explaining explaining = { command, text, why };
	struct log_question question = command->question;
	struct failure ignored;

	question.points = point;
	question.count = 1;
	question.met = on_first;
	question.context = &explaining;
	log_points_find(&question, &ignored);
}

static int check_item(struct log_command *command, const struct item *item,
		      struct log_point *point, struct failure *why)
{
	struct expressions_asked asked = {
		.points = point, .count = 1, .from = command->question.from,
		.to = command->question.to,
	};
	bool is_elsewhere = false;
	int rc = 0;

	for (size_t i = 0; i < item->count && !item->returned && !rc; i++) {
		asked.text = item->list[i];
		rc = expressions_check_asked(command->asking.expressions,
					     &asked, &is_elsewhere, why);
		if (rc && is_elsewhere)
			explain_there(command, point, item->list[i], why);
	}
	return rc;
}

/* It is told before all else. */
static int check(struct log_command *command, struct failure *why)
{
	int rc = 0;

	for (size_t i = 0; i < command->question.count && !rc; i++)
		rc = check_item(command, &command->items[i],
				&command->question.points[i], why);
	return rc;
}

/* ------- all of it ------- */

static int list(void *context, struct failure *why)
{
	struct log_command *command = context;
	struct log_question *question = &command->question;
	int rc;

	command->width = snprintf(NULL, 0, "%" PRIu64,
				  recording_end(command->asking.recording));
	question->query = command->asking.query;
	question->from = command->asking.first;
	question->to = command->asking.last;
	question->lines = command->asking.lines;
	question->met = on_met;
	question->context = command;
	expressions_frame_option(command->asking.expressions,
				 command->frame_option);
	rc = check(command, why);
	if (!rc)
		rc = log_points_find(question, why);
	expressions_frame_option(command->asking.expressions, NULL);
	if (!rc || rc == IS_ENOUGH)
		say_missing(command);
	if (!rc)
		say_absent(command);
	return rc == IS_ENOUGH ? 0 : rc;
}

/* ------- the command line ------- */

static int take_option(const struct options *options, int id,
		       struct log_command *command)
{
	struct threads_text threads;

	switch (id) {
	case OPTION_FROM:
		return options_take_time(options, id, &command->asking.from);
	case OPTION_TO:
		return options_take_time(options, id, &command->asking.to);
	case OPTION_PROCESS:
		command->asking.process = options->value;
		break;
	case OPTION_THREAD:
		if (!number_parse_threads(options->value, &threads))
			return options_bad_value(options, id,
						 NUMBER_THREADS_WANTED);
		command->question.some_thread = threads.some;
		command->question.tid = threads.tid;
		break;
	case OPTION_LIMIT:
		if (!number_parse(options->value, &command->limit) ||
		    !command->limit)
			return options_bad_value(options, id,
						 "a number above 0");
		break;
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

static int take_items(struct options *options, struct log_command *command)
{
	struct failure why;
	size_t count;
	char **words = options_take_words(options, &count);

	if (!count)
		return options_wrong(options, "what to print is missing, like"
				     " 'hello.c:12 => i'");
	command->items = calloc(count, sizeof(*command->items));
	command->question.points = calloc(count,
					  sizeof(*command->question.points));
	if (!command->items || !command->question.points)
		return OPTIONS_WRONG;
	for (size_t i = 0; i < count; i++) {
		command->question.count++;
		if (take_item(&command->items[i],
			      &command->question.points[i], words[i], &why))
			return options_wrong(options, "%s", why.text);
	}
	return OPTIONS_END;
}

static int run(struct options *options)
{
	struct log_command command = { .asking = { .from = "start", .to = "end" } };
	int id, status;

	while ((id = options_next(options)) >= 0)
		if (take_option(options, id, &command))
			return EXIT_USAGE;
	if (id == OPTIONS_END)
		id = take_items(options, &command);
	command.asking.path = options_recording(options, id);
	status = command.asking.path ?
			 asking_run(&command.asking, list, &command) :
			 options->status;
	if (status == EXIT_ANSWERED && command.asking.path && !command.printed)
		status = EXIT_FAILED;
	for (size_t i = 0; i < command.question.count; i++) {
		log_point_release(&command.question.points[i]);
		free(command.items[i].list);
		free(command.items[i].text);
	}
	free(command.question.points);
	free(command.items);
	return status;
}
