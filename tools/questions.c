/* SPDX-License-Identifier: GPL-2.0-or-later */
/* questions.c - see questions.h */
#include "tools/questions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"
#include "tools/heap_place.h"
#include "tools/messages.h"
#include "tools/print.h"

static bool parse_size(const char *text, size_t *out)
{
	uint64_t size;

	if (!number_parse_scaled(text, 1024, &size) || size == 0 ||
	    size > QUESTION_SIZE_MAX)
		return false;
	*out = (size_t)size;
	return true;
}

bool question_may_be_size(const char *text)
{
	size_t size;

	return parse_size(text, &size);
}

/* ------- what was asked ------- */

/* What only expressions have. */
static bool is_expression(const char *text)
{
	size_t sign = strcspn(text, "+-");

	return strpbrk(text, " *()[]<>@$'{}|^%=/~") || *text == '!' ||
	       (*text && strchr(text + 1, '&')) ||
	       (text[sign] && text[sign + 1] &&
		!strchr("0123456789", text[sign + 1]));
}

int question_check_address(const char *text, struct failure *why)
{
	const char *inside = heap_place_expression(text);

	text = inside ? inside : text;
	return is_expression(text) ? 0 : place_check_address(text, why);
}

/* Where an expression is, and how much there is to see. */
static void take_expression(struct question *question)
{
	const struct expression *found = &question->found;

	question->has_memory = question->has_addr = found->has_addr;
	question->addr = found->addr;
	if (found->size)
		question->size = found->size < QUESTION_SIZE_DATA ?
					 (size_t)found->size :
					 QUESTION_SIZE_DATA;
}

/* Bytes that are to be seen as they are, or as numbers. */
static int take_size(struct question *question, uint64_t *out,
		     struct failure *why)
{
	const char *text = question->asked.size;
	size_t size = 0;

	if (text && !parse_size(text, &size))
		return failed(why, ERR_INPUT,
			      "cannot take '%s' for a size: %s is needed",
			      text, QUESTION_SIZE_WANTED);
	*out = size;
	return 0;
}

/* A block of the heap. */
static int find_block(struct question *question,
		      struct expressions *expressions, const char *inside,
		      struct failure *why)
{
	const struct request *asked = &question->asked;
	const struct expression_place place = {
		question->at, asked->some_thread, asked->tid, asked->frame,
	};
	uint64_t size;
	int rc = heap_place_find(expressions, inside, &place, &question->addr,
				 &size, why);

	if (rc)
		return rc;
	question->has_symbol = question->has_memory = question->has_addr = true;
	question->size = size < QUESTION_SIZE_MAX ? (size_t)size :
						    QUESTION_SIZE_MAX;
	return 0;
}

static struct expression_question as_expression(const struct question *question)
{
	const struct request *asked = &question->asked;
	bool is_raw = asked->format == QUESTION_RAW;

	return (struct expression_question) {
		.text = asked->addr,
		.place = { question->at, asked->some_thread, asked->tid,
			   asked->frame },
		.format = is_raw ? '\0' : asked->format, .is_raw = is_raw,
	};
}

static int find_address(struct question *question,
			struct expressions *expressions, struct failure *why)
{
	const struct request *asked = &question->asked;
	struct expression_question expression = as_expression(question);
	struct address_text address;
	const char *wrong;
	const char *inside = heap_place_expression(asked->addr);
	int rc = take_size(question, &expression.size, why);

	if (rc)
		return rc;
	if (inside)
		return find_block(question, expressions, inside, why);
	question->has_memory = true;
	if (!is_expression(asked->addr) &&
	    !number_parse_address(asked->addr, &address, &wrong))
		return place_check_address(asked->addr, why);
	question->has_symbol = is_expression(asked->addr) || address.symbol;
	rc = expressions_find(expressions, &expression, &question->found, why);
	if (rc)
		return rc;
	take_expression(question);
	if (expression.is_raw) {
		free(question->found.value);
		question->found.value = NULL;
	}
	return 0;
}

static int find_size(struct question *question, struct failure *why)
{
	const char *text = question->asked.size;

	if (text && !parse_size(text, &question->size))
		return failed(why, ERR_INPUT,
			      "cannot take '%s' for a size: %s is needed",
			      text, QUESTION_SIZE_WANTED);
	if (question->has_memory &&
	    question->size - 1 > UINT64_MAX - question->addr)
		return failed(why, ERR_INPUT,
			      "cannot answer for %zu bytes at 0x%" PRIx64
			      ": they reach past the last address",
			      question->size, question->addr);
	return 0;
}

int question_check_space(const struct request *asked,
			 const struct recording *recording,
			 struct failure *why)
{
	if (recording_is_machine(recording) ||
	    (!asked->is_physical && !asked->process && !asked->has_space))
		return 0;
	return failed(why, ERR_INPUT, "--%s is for machines only",
		      asked->process ? "process" :
		      asked->has_space ? "asid" : "physical");
}

bool request_take_space(struct request *out, const char *text)
{
	uint64_t number;

	if (!number_parse(text, &number) || number > SPACE_MOST)
		return false;
	out->has_space = true;
	out->space = (uint32_t)number;
	return true;
}

/* Names of programs on a machine are those of the time where the replay is. */
static int stand_there(const struct question *question, struct opened *opened,
		       struct failure *why)
{
	struct replayer *replayer;
	int rc = query_replayer(opened->query, &replayer, why);

	return rc ? rc : replayer_seek(replayer, &question->at, why);
}

static int find_process(const struct question *question, struct opened *opened,
			struct address_space *out, struct failure *why)
{
	struct kernel_process process;
	int rc = opened_kernel(opened, why);

	if (!rc)
		rc = kernel_find_process(opened->kernel, &question->at,
					 question->asked.process, &process,
					 why);
	if (!rc)
		*out = (struct address_space){
			.has_table = true, .table = process.table,
		};
	return rc;
}

/* Those of the kernel have no names of programs; physical ones have none. */
static bool has_names(const struct request *asked)
{
	struct address_text address;
	const char *wrong;

	return !asked->is_physical &&
	       (!asked->addr || is_expression(asked->addr) ||
		!number_parse_address(asked->addr, &address, &wrong) ||
		address.symbol || !(address.number >> 63));
}

/* Which addresses of a machine are meant. */
static int take_space(const struct question *question, struct opened *opened,
		      struct failure *why)
{
	const struct request *asked = &question->asked;
	struct address_space space = { .is_physical = asked->is_physical };
	int rc = 0;

	if (!recording_is_machine(opened->recording))
		return 0;
	if (asked->process)
		rc = find_process(question, opened, &space, why);
	else if (asked->has_space)
		rc = space_find(opened->query, &question->at, asked->space,
				&space, why);
	query_use_space(opened->query, &space);
	return rc || !has_names(asked) ? rc :
					 stand_there(question, opened, why);
}

static int find_all(struct question *question, struct opened *opened,
		    struct failure *why)
{
	struct expressions *expressions = opened->expressions;
	int rc = place_position(&question->at, &question->has_at,
				opened->recording, question->asked.at, why);

	question->size = QUESTION_SIZE;
	if (!rc)
		rc = take_space(question, opened, why);
	if (!rc)
		rc = find_address(question, expressions, why);
	if (!rc)
		rc = find_size(question, why);
	if (!rc && !question->has_symbol && question->has_memory)
		expressions_name(expressions, &question->at, question->addr,
				 question->name, sizeof(question->name));
	return rc;
}

void question_find(struct question *question, struct opened *opened)
{
	struct failure why;

	if (find_all(question, opened, &why))
		question_fail(question, &why);
}

void question_fail(struct question *question, const struct failure *why)
{
	free(question->error);
	question->error = strdup(why->text);
	question->has_failed = true;
}

void question_release(struct question *question)
{
	free(question->error);
	free(question->bytes);
	free(question->known);
	for (size_t i = 0; question->race_texts && i < question->race->count;
	     i++) {
		free(question->race_texts[i].type);
		free(question->race_texts[i].value);
	}
	free(question->race_texts);
	expression_release(&question->found);
	*question = (struct question) { 0 };
}

/* ------- the answer ------- */

/* What is in a register, or was computed. */
static int take_value(struct question *question, struct failure *why)
{
	const struct expression *found = &question->found;

	if (!found->value && found->no_value)
		return failed(why, ERR_NOT_FOUND, "cannot answer for '%s': %s",
			      question->asked.addr, found->no_value);
	question->is_mapped = true;
	question->answer = (struct query_answer) { QUERY_REPLAY,
						   QUERY_CERTAIN };
	if (found->bytes && found->size >= question->size) {
		memcpy(question->bytes, found->bytes, question->size);
		memset(question->known, 1, question->size);
	}
	return 0;
}

static int find_physical(struct question *question, struct opened *opened,
			 struct failure *why)
{
	int rc = query_home(opened->query, question->addr, &question->at,
			    &question->physical, why);

	if (rc)
		return rc;
	question->has_physical = question->physical != HOME_NONE;
	question->is_mapped = memchr(question->known, 1, question->size);
	return 0;
}

static int find_answer(struct question *question, struct opened *opened,
		       struct failure *why)
{
	int rc;

	question->bytes = calloc(1, question->size);
	question->known = calloc(1, question->size);
	if (!question->bytes || !question->known)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (!question->has_memory)
		return take_value(question, why);
	rc = query_memory(opened->query, question->addr, &question->at,
			  question->bytes, question->known, question->size,
			  &question->answer, why);
	if (rc)
		return rc;
	if (query_why_unknown(opened->query))
		failed(&question->unknown, ERR_NOT_FOUND, "%s",
		       query_why_unknown(opened->query));
	question->is_mapped = true;
	if (recording_is_machine(opened->recording))
		return find_physical(question, opened, why);
	if (memchr(question->known, 1, question->size))
		return 0;
	return recording_is_mapped(opened->recording, &question->at,
				   question->addr, &question->is_mapped, why);
}

static int find_race_texts(struct question *question, struct opened *opened,
			   struct failure *why)
{
	size_t count = question->race ? question->race->count : 0;
	const struct expression_question asked = as_expression(question);

	if (!question->race)
		return 0;
	question->race_texts = calloc(count + 1, sizeof(struct race_text));
	if (!question->race_texts)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < count; i++) {
		const struct race_value *value = &question->race->values[i];
		const struct part_bytes part = { value->addr, value->bytes,
						 value->size };
		struct race_text *text = &question->race_texts[i];

		if (value->is_known)
			expressions_show_part(opened->expressions, &asked,
					      &part, &text->type,
					      &text->value);
	}
	return 0;
}

void question_answer(struct question *question, struct opened *opened)
{
	struct failure why;

	if (!question->has_failed &&
	    (find_answer(question, opened, &why) ||
	     find_race_texts(question, opened, &why)))
		question_fail(question, &why);
}

static const char *const source_names[] = {
	[QUERY_UNKNOWN] = "unknown",
	[QUERY_CODE] = "code",
	[QUERY_SNAPSHOT] = "snapshot",
	[QUERY_REPLAY] = "replay",
	[QUERY_FILE] = "file",
};

/* What is not known is said as it was asked. */
static void set_place(json_t *object, const struct question *question)
{
	const char *addr = question->asked.addr, *at = question->asked.at;
	uint64_t number = question->addr;

	if (question->line)
		json_set_count(object, "question", question->line);
	if (question->has_addr || (addr && number_parse(addr, &number)))
		json_set_address(object, "addr", number);
	else if (addr && (question->has_memory || question->has_failed))
		json_set_text(object, "asked_addr", addr);
	if (question->has_at)
		json_set_position(object, &question->at);
	else if (at)
		json_set_text(object, "asked_at", at);
}

static void set_answer(json_t *object, const struct question *question)
{
	char *bytes = memory_text(question->bytes, question->known,
				  question->size);

	if (question->has_physical)
		json_set_address(object, "physical", question->physical);
	json_set_count(object, "size", question->size);
	json_object_set_new(object, "bytes", bytes ? json_string(bytes) : NULL);
	if (question->found.type)
		json_set_text(object, "type", question->found.type);
	if (question->found.value)
		json_object_set_new(object, "value",
				    json_text(question->found.value));
	json_set_text(object, "source", source_names[question->answer.source]);
	if (question->answer.as_of != QUERY_CERTAIN)
		json_set_count(object, "as_of", question->answer.as_of);
	if (question->has_symbol)
		json_set_text(object, "symbol", question->asked.addr);
	else if (question->name[0])
		json_set_text(object, "symbol", question->name);
	if (question->race) {
		json_object_set_new(object, "race",
				    json_race_values(question->race,
						     question->race_texts));
		json_set_count(object, "race_since", question->race->since);
	}
	free(bytes);
}

static const char *error_text(const struct question *question)
{
	return question->error ? question->error : "out of memory";
}

static void print_as_json(const struct question *question)
{
	json_t *object = json_object();

	set_place(object, question);
	if (question->has_failed)
		json_set_text(object, "error", error_text(question));
	else
		set_answer(object, question);
	print_json(object);
}

/* "counter = 42": what it is, and where. */
static void print_typed(const struct question *question)
{
	const struct expression *found = &question->found;
	char at[POSITION_TEXT];

	print_escaped(stdout, question->asked.addr,
		      strlen(question->asked.addr));
	fputs(" = ", stdout);
	print_value_text(stdout, found->value ? found->value : "<not mapped>");
	fputs("\n  ", stdout);
	if (found->type)
		print_escaped(stdout, found->type, strlen(found->type));
	if (question->has_memory && found->is_code)
		printf(" at 0x%" PRIx64 " at t=%s\n", question->addr,
		       position_text(at, &question->at));
	else if (question->has_memory)
		printf("%s0x%" PRIx64 " at t=%s, %zu byte%s, source: %s\n",
		       found->type ? " at " : "", question->addr,
		       position_text(at, &question->at), question->size,
		       question->size == 1 ? "" : "s",
		       source_names[question->answer.source]);
	else
		printf("%sat t=%s\n", found->type ? ", " : "",
		       position_text(at, &question->at));
}

static void print_bytes(const struct question *question)
{
	char at[POSITION_TEXT];

	if (question->has_symbol) {
		print_escaped(stdout, question->asked.addr,
			      strlen(question->asked.addr));
		fputs(" = ", stdout);
	}
	printf("0x%" PRIx64 " ", question->addr);
	if (question->name[0]) {
		putchar('(');
		print_escaped(stdout, question->name, strlen(question->name));
		fputs(") ", stdout);
	}
	if (question->has_physical && question->physical != question->addr)
		printf("(physical 0x%" PRIx64 ") ", question->physical);
	printf("at t=%s, %zu byte%s, source: %s\n",
	       position_text(at, &question->at), question->size,
	       question->size == 1 ? "" : "s",
	       source_names[question->answer.source]);
	print_memory(stdout, question->addr, question->bytes, question->known,
		     question->size);
}

static void print_as_text(const struct question *question)
{
	bool is_nothing = question->has_symbol && !question->is_mapped;

	if (question->found.value || is_nothing)
		print_typed(question);
	else
		print_bytes(question);
	if (question->race)
		print_race_values(question->race, question->race_texts);
}

static void say_failed(const struct question *question)
{
	const char *error = error_text(question);

	if (question->line)
		say("line %" PRIu64 ": %s", question->line, error);
	else if (question->is_alone)
		say("%s", error);
	else
		say("%s at %s: %s", question->asked.addr, question->asked.at,
		    error);
}

/* Many tools write hexadecimal addresses without 0x. */
static const char *way_of_reading(const struct question *question)
{
	struct address_text address;
	const char *wrong;

	if (!number_parse_address(question->asked.addr, &address, &wrong) ||
	    address.symbol || address.number < 10 ||
	    strpbrk(question->asked.addr, "xX"))
		return "";
	return " (given in decimal; hexadecimal numbers begin with 0x)";
}

#define LINE_TEXT 40

/* "line 3: " if it was one. */
static const char *line_text(const struct question *question,
			     char text[LINE_TEXT])
{
	*text = '\0';
	if (question->line)
		snprintf(text, LINE_TEXT, "line %" PRIu64 ": ",
			 question->line);
	return text;
}

/* Memory that others share. */
static void note_as_of(const struct question *question)
{
	uint64_t as_of = question->answer.as_of;
	char line[LINE_TEXT], text[POSITION_TEXT];
	const char *at = position_text(text, &question->at);

	if (as_of == QUERY_CERTAIN)
		return;
	if (as_of <= question->at.time)
		say_note("%s0x%" PRIx64 " at t=%s is shared memory, "
			 "others may have changed it since t=%" PRIu64,
			 line_text(question, line), question->addr,
			 at, as_of);
	else
		say_note("%s0x%" PRIx64 " at t=%s is shared memory, "
			 "shown as of t=%" PRIu64 ", others may have changed "
			 "it before",
			 line_text(question, line), question->addr,
			 at, as_of);
}

/* Of a file's bytes that the program did not use. */
static void note_unknown(const struct question *question)
{
	char line[LINE_TEXT];

	if (*question->unknown.text)
		say_note("%sthe program did not use all that was asked for,"
			 " and %s", line_text(question, line),
			 question->unknown.text);
}

static void say_not_mapped(const struct question *question)
{
	char line[LINE_TEXT], at[POSITION_TEXT];

	say("%s0x%" PRIx64 "%s is not mapped at t=%s",
	    line_text(question, line), question->addr,
	    way_of_reading(question), position_text(at, &question->at));
}

bool question_print(const struct question *question, bool json)
{
	if (json)
		print_as_json(question);
	else if (!question->has_failed)
		print_as_text(question);
	if (!question->has_failed) {
		note_as_of(question);
		note_unknown(question);
	}
	if (question->has_failed)
		say_failed(question);
	else if (!question->is_mapped)
		say_not_mapped(question);
	else
		return true;
	return false;
}
