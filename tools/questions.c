/* SPDX-License-Identifier: GPL-2.0-or-later */
/* questions.c - see questions.h */
#include "tools/questions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/error.h"
#include "tools/messages.h"
#include "tools/numbers.h"
#include "tools/print.h"
#include "tools/print_races.h"

bool question_may_be_at(const char *text)
{
	const char *time;
	uint32_t tid;
	uint64_t t;

	number_cut_thread(text, &tid, &time);
	return number_parse_time(time, 0, 0, &t);
}

static int parse_addr(const char *text, struct address_text *out,
		      struct failure *why)
{
	const char *wrong;

	if (number_parse_address(text, out, &wrong))
		return 0;
	return failed(why, ERR_INPUT,
		      "cannot take '%.80s%s' for an address: %s", text,
		      strlen(text) > 80 ? "..." : "", wrong);
}

int question_check_addr(const char *text, struct failure *why)
{
	struct address_text address;

	return parse_addr(text, &address, why);
}

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

/* "TID:T": where the thread had retired so many instructions. */
static int find_thread_time(uint64_t *out, bool *is_time,
			    struct recording *recording, uint32_t tid,
			    const char *text, struct failure *why)
{
	uint64_t end = recording_end(recording), steps;
	struct recording_thread thread;
	uint32_t number;
	int rc = recording_find_thread(recording, tid, end, &number, why);

	*is_time = false;
	if (!rc)
		rc = recording_thread(recording, number, &thread, why);
	if (rc)
		return rc;
	if (!number_parse_time(text, thread.steps_before, thread.steps, &steps))
		return failed(why, ERR_INPUT,
			      "cannot take '%s' for a time of thread %" PRIu32
			      ": %s is needed", text, tid, QUESTION_AT_WANTED);
	if (steps < thread.steps_before)
		return failed(why, ERR_INPUT,
			      "thread %" PRIu32 " begins at %" PRIu32 ":%" PRIu64
			      " in this recording, after %" PRIu32 ":%" PRIu64,
			      tid, tid, thread.steps_before, tid, steps);
	if (steps > thread.steps)
		return failed(why, ERR_INPUT,
			      "thread %" PRIu32 " ends at %" PRIu32 ":%" PRIu64
			      ", before %" PRIu32 ":%" PRIu64, tid, tid,
			      thread.steps, tid, steps);
	rc = recording_time_of(recording, tid, steps, out, why);
	*is_time = !rc;
	return rc;
}

int question_time(uint64_t *out, bool *is_time, struct recording *recording,
		  const char *text, struct failure *why)
{
	uint64_t start = recording_start(recording);
	uint64_t end = recording_end(recording);
	const char *time;
	uint32_t tid;

	if (number_cut_thread(text, &tid, &time))
		return find_thread_time(out, is_time, recording, tid, time,
					why);
	*is_time = number_parse_time(text, start, end, out);
	if (!*is_time)
		return failed(why, ERR_INPUT,
			      "cannot take '%s' for a time: %s is needed", text,
			      QUESTION_AT_WANTED);
	if (*out < start)
		return failed(why, ERR_INPUT,
			      "'%s' begins at t=%" PRIu64 ", after t=%" PRIu64,
			      trace_reader_path(recording_reader(recording)),
			      start, *out);
	if (*out > end)
		return failed(why, ERR_INPUT,
			      "'%s' ends at t=%" PRIu64 ", before t=%" PRIu64,
			      trace_reader_path(recording_reader(recording)),
			      end, *out);
	return 0;
}

/* ------- what was asked ------- */

static bool is_register(struct recording *recording, const char *name)
{
	const struct reg_table *table = recording_reg_table(recording);

	for (unsigned i = 0; i < table->count; i++)
		if (!strcasecmp(table->regs[i].name, name))
			return true;
	return false;
}

/* As debuggers would take them; `why` has what to say of any other name. */
static int not_found(struct recording *recording, const char *name,
		     struct failure *why)
{
	if (is_register(recording, name + strspn(name, "$%")))
		return failed(why, ERR_NOT_FOUND,
			      "cannot find a symbol '%s': registers are asked"
			      " for with --registers", name);
	if (strpbrk(name, "[]()*$%/"))
		return failed(why, ERR_NOT_FOUND,
			      "cannot find a symbol '%.80s%s': expressions are"
			      " not understood, only a number or a symbol and"
			      " an offset, like counter+8", name,
			      strlen(name) > 80 ? "..." : "");
	return ERR_NOT_FOUND;
}

/* A data symbol without an offset says how much there is to see. */
static int find_symbol(struct question *question, struct recording *recording,
		       const struct address_text *address, uint64_t *base,
		       struct failure *why)
{
	char *name = strndup(address->symbol, address->symbol_size);
	uint64_t size = 0;
	int rc;

	if (!name)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = recording_find_symbol(recording, question->at, name, base, &size,
				   why);
	if (rc == ERR_NOT_FOUND)
		rc = not_found(recording, name, why);
	free(name);
	if (size && !address->offset)
		question->size = size < QUESTION_SIZE_DATA ?
					 (size_t)size : QUESTION_SIZE_DATA;
	question->has_symbol = true;
	return rc;
}

static int find_address(struct question *question, struct recording *recording,
			struct failure *why)
{
	const char *text = question->asked.addr;
	struct address_text address;
	uint64_t base;
	int rc = parse_addr(text, &address, why);

	if (rc)
		return rc;
	base = address.number;
	if (address.symbol)
		rc = find_symbol(question, recording, &address, &base, why);
	if (rc)
		return rc;
	if (!number_add_offset(&address, base, &question->addr))
		return failed(why, ERR_INPUT,
			      "cannot answer for '%s': there is no such address",
			      text);
	question->has_addr = true;
	return 0;
}

static int find_size(struct question *question, struct failure *why)
{
	const char *text = question->asked.size;

	if (text && !parse_size(text, &question->size))
		return failed(why, ERR_INPUT,
			      "cannot take '%s' for a size: %s is needed",
			      text, QUESTION_SIZE_WANTED);
	if (question->size - 1 > UINT64_MAX - question->addr)
		return failed(why, ERR_INPUT,
			      "cannot answer for %zu bytes at 0x%" PRIx64
			      ": they reach past the last address",
			      question->size, question->addr);
	return 0;
}

static int find_all(struct question *question, struct recording *recording,
		    struct failure *why)
{
	int rc = question_time(&question->at, &question->has_at, recording,
			       question->asked.at, why);

	question->size = QUESTION_SIZE;
	if (!rc)
		rc = find_address(question, recording, why);
	if (!rc)
		rc = find_size(question, why);
	return rc;
}

void question_find(struct question *question, struct recording *recording)
{
	struct failure why;

	if (find_all(question, recording, &why))
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
	*question = (struct question) { 0 };
}

/* ------- the answer ------- */

static int find_answer(struct question *question, struct query *query,
		       struct recording *recording, struct failure *why)
{
	int rc;

	question->bytes = calloc(1, question->size);
	question->known = calloc(1, question->size);
	if (!question->bytes || !question->known)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = query_memory(query, question->addr, question->at, question->bytes,
			  question->known, question->size, &question->answer,
			  why);
	if (rc)
		return rc;
	question->is_mapped = true;
	if (memchr(question->known, 1, question->size))
		return 0;
	return recording_is_mapped(recording, question->at, question->addr,
				   &question->is_mapped, why);
}

void question_answer(struct question *question, struct query *query,
		     struct recording *recording)
{
	struct failure why;

	if (!question->has_failed &&
	    find_answer(question, query, recording, &why))
		question_fail(question, &why);
}

static const char *const source_names[] = {
	[QUERY_UNKNOWN] = "unknown",
	[QUERY_CODE] = "code",
	[QUERY_SNAPSHOT] = "snapshot",
	[QUERY_REPLAY] = "replay",
};

/* What is not known is said as it was asked. */
static void set_place(json_t *object, const struct question *question)
{
	const char *addr = question->asked.addr, *at = question->asked.at;
	uint64_t number = question->addr;

	if (question->line)
		json_set_count(object, "line", question->line);
	if (question->has_addr || (addr && number_parse(addr, &number)))
		json_set_address(object, "addr", number);
	else if (addr)
		json_set_text(object, "addr", addr);
	if (question->has_at)
		json_set_count(object, "at", question->at);
	else if (at)
		json_set_text(object, "at", at);
}

static void set_answer(json_t *object, const struct question *question)
{
	char *bytes = memory_text(question->bytes, question->known,
				  question->size);

	json_set_count(object, "size", question->size);
	json_object_set_new(object, "bytes", bytes ? json_string(bytes) : NULL);
	json_set_text(object, "source", source_names[question->answer.source]);
	if (question->answer.as_of != QUERY_CERTAIN)
		json_set_count(object, "as_of", question->answer.as_of);
	if (question->has_symbol)
		json_set_text(object, "symbol", question->asked.addr);
	if (question->race) {
		json_object_set_new(object, "race",
				    json_race_values(question->race));
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

static void print_as_text(const struct question *question)
{
	if (question->has_symbol) {
		print_escaped(stdout, question->asked.addr,
			      strlen(question->asked.addr));
		fputs(" = ", stdout);
	}
	printf("0x%" PRIx64 " at t=%" PRIu64 ", %zu byte%s, source: %s\n",
	       question->addr, question->at, question->size,
	       question->size == 1 ? "" : "s",
	       source_names[question->answer.source]);
	print_memory(stdout, question->addr, question->bytes, question->known,
		     question->size);
	if (question->race)
		print_race_values(stdout, question->race);
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
	char line[LINE_TEXT];

	if (as_of == QUERY_CERTAIN)
		return;
	if (as_of <= question->at)
		say_note("%s0x%" PRIx64 " at t=%" PRIu64 " is shared memory, "
			 "others may have changed it since t=%" PRIu64,
			 line_text(question, line), question->addr,
			 question->at, as_of);
	else
		say_note("%s0x%" PRIx64 " at t=%" PRIu64 " is shared memory, "
			 "shown as of t=%" PRIu64 ", others may have changed "
			 "it before",
			 line_text(question, line), question->addr,
			 question->at, as_of);
}

static void say_not_mapped(const struct question *question)
{
	char line[LINE_TEXT];

	say("%s0x%" PRIx64 "%s is not mapped at t=%" PRIu64,
	    line_text(question, line), question->addr, way_of_reading(question), question->at);
}

bool question_print(const struct question *question, bool json)
{
	if (json)
		print_as_json(question);
	else if (!question->has_failed)
		print_as_text(question);
	if (!question->has_failed)
		note_as_of(question);
	if (question->has_failed)
		say_failed(question);
	else if (!question->is_mapped)
		say_not_mapped(question);
	else
		return true;
	return false;
}
