/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_query.c - cprec query: memory and registers at a time */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/query.h"
#include "replayer/recording.h"
#include "replayer/replayer.h"
#include "tools/commands.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/print.h"
#include "tools/questions.h"

enum { OPTION_ADDR = 256, OPTION_AT, OPTION_SIZE, OPTION_JSON,
       OPTION_REGISTERS };

static const struct command_help help = {
	.name = "query",
	.usage = "query FILE --addr=A... --at=T... [--size=N] [--json]\n"
		 "       cprec query FILE --registers --at=T... [--json]\n"
		 "       cprec query FILE - [--json]",
	.about = "Tells what memory or registers held at a time.  With several"
		 " addresses and\n"
		 "times, answers for each address at each time.  With '-',"
		 " answers the lines\n"
		 "\"A T [N]\" of standard input, one by one.",
	.options = (const struct option_info[]) {
		{ OPTION_ADDR, "addr", "A",
		  "an address or a symbol: 0x1000, counter,\n"
		  "counter+8, libc.so.6!environ" },
		{ OPTION_AT, "at", "T",
		  "a time, in instructions: 5000000, start, end, 50%" },
		{ OPTION_SIZE, "size", "N",
		  "how many bytes; without this: 8" },
		{ OPTION_REGISTERS, "registers", NULL,
		  "the processor's registers" },
		{ OPTION_JSON, "json", NULL,
		  "one JSON object per line: addr, at, size, bytes,\n"
		  "source; or at, registers" },
		{ 0 }
	},
	.notes = "Unknown bytes are ??.  The source says how the answer was"
		 " found: 'code' that\n"
		 "was not changed, 'snapshot' (it was stored), 'replay' (it was"
		 " computed again),\n"
		 "or 'unknown'.  Exits with 1 if it could not answer, or nothing"
		 " is mapped there.",
};

/* Options that may be given several times. */
struct texts {
	const char **list;
	size_t count;
};

struct query_command {
	const char *path;
	struct texts addrs, ats;
	const char *size;
	bool json, registers, from_input;
	struct recording *recording;
};

static int add_text(struct texts *texts, const char *text)
{
	const char **list = realloc(texts->list, (texts->count + 1) *
						 sizeof(*list));

	if (!list)
		return OPTIONS_WRONG;
	texts->list = list;
	list[texts->count++] = text;
	return 0;
}

/* ------- registers ------- */

static void print_registers_json(const struct reg_table *table, uint64_t t,
				 const struct reg_file *file)
{
	json_t *object = json_object(), *registers = json_object();
	char value[REGISTER_TEXT];

	for (unsigned i = 0; i < table->count; i++) {
		register_text(value, table, file, i);
		json_object_set_new(registers, table->regs[i].name,
				    json_string(value));
	}
	json_object_set_new(object, "at", json_count(t));
	json_object_set_new(object, "registers", registers);
	print_json(object);
}

static void print_registers(const struct query_command *command, uint64_t t,
			    const struct reg_file *file)
{
	const struct reg_table *table =
		recording_reg_table(command->recording);
	size_t segment = recording_segment_at(command->recording, t);
	char value[REGISTER_TEXT], name[256];

	printf("registers at t=%" PRIu64 "\n", t);
	for (unsigned i = 0; i < table->count; i++) {
		register_text(value, table, file, i);
		printf("  %-8s %s", table->regs[i].name, value);
		if (i == table->pc &&
		    recording_name(command->recording, segment,
				   reg_get(table, file, i), name,
				   sizeof(name))) {
			fputs("  ", stdout);
			print_escaped(stdout, name, strlen(name));
		}
		putchar('\n');
	}
}

static int answer_registers(const struct query_command *command,
			    struct query *query, struct failure *why)
{
	const struct reg_table *table =
		recording_reg_table(command->recording);
	struct replayer *replayer;
	struct reg_file file;
	uint64_t t;
	int rc = query_replayer(query, &replayer, why);

	for (size_t i = 0; i < command->ats.count && !rc; i++) {
		rc = question_time(&t, command->recording,
				   command->ats.list[i], why);
		if (!rc)
			rc = replayer_seek(replayer, t, why);
		if (rc)
			break;
		replayer_registers(replayer, &file);
		if (command->json)
			print_registers_json(table, t, &file);
		else
			print_registers(command, t, &file);
	}
	return rc;
}

/* ------- memory, asked by options ------- */

static int compare_times(const void *left, const void *right)
{
	const struct question *a = *(const struct question *const *)left;
	const struct question *b = *(const struct question *const *)right;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static int make_questions(const struct query_command *command,
			  struct question *questions,
			  struct question **by_time, struct failure *why)
{
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < command->ats.count; i++) {
		for (size_t j = 0; j < command->addrs.count && !rc; j++, n++) {
			struct request request = {
				.addr = command->addrs.list[j],
				.at = command->ats.list[i],
				.size = command->size,
			};

			by_time[n] = &questions[n];
			rc = question_init(&questions[n], command->recording,
					   &request, why);
		}
	}
	return rc;
}

/* Answers in the order of time, which replays least, and prints as asked. */
static int answer_options(const struct query_command *command,
			  struct query *query, int *status,
			  struct failure *why)
{
	size_t count = command->ats.count * command->addrs.count;
	struct question *questions = calloc(count, sizeof(*questions));
	struct question **by_time = calloc(count, sizeof(struct question *));
	int rc;

	if (!questions || !by_time) {
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
		goto end;
	}
	rc = make_questions(command, questions, by_time, why);
	if (rc)
		goto end;
	qsort(by_time, count, sizeof(struct question *), compare_times);
	for (size_t i = 0; i < count && !rc; i++)
		rc = question_answer(by_time[i], query, command->recording, why);
	for (size_t i = 0; i < count && !rc; i++) {
		question_print(&questions[i], command->json);
		if (!questions[i].is_mapped)
			*status = EXIT_FAILED;
	}
end:
	for (size_t i = 0; questions && i < count; i++)
		question_release(&questions[i]);
	free(questions);
	free(by_time);
	return rc;
}

/* ------- memory, asked by lines ------- */

static int answer_line(const struct query_command *command,
		       struct query *query, char *line, int *status,
		       struct failure *why)
{
	static const char blanks[] = " \t\r\n";
	struct question question = { 0 };
	struct request request;
	char *rest;
	int rc;

	request.addr = strtok_r(line, blanks, &rest);
	if (!request.addr)
		return 0;
	request.at = strtok_r(NULL, blanks, &rest);
	request.size = strtok_r(NULL, blanks, &rest);
	if (!request.at || strtok_r(NULL, blanks, &rest))
		return failed(why, ERR_INPUT,
			      "cannot answer a line that is not \"A T [N]\"");
	rc = question_init(&question, command->recording, &request, why);
	if (!rc)
		rc = question_answer(&question, query, command->recording, why);
	if (!rc) {
		question_print(&question, command->json);
		if (!question.is_mapped)
			*status = EXIT_FAILED;
	}
	question_release(&question);
	return rc;
}

/* A line that cannot be answered gets an answer too: the reason. */
static void print_line_failure(const struct query_command *command,
			       const struct failure *why)
{
	json_t *object;

	if (command->json) {
		object = json_object();
		json_object_set_new(object, "error", json_text(why->text));
		print_json(object);
	}
	say_failure(why);
}

static int answer_input(const struct query_command *command,
			struct query *query, int *status)
{
	struct failure why;
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) >= 0) {
		if (answer_line(command, query, line, status, &why)) {
			print_line_failure(command, &why);
			*status = EXIT_FAILED;
		}
		if (fflush(stdout))
			break;
	}
	free(line);
	return 0;
}

/* ------- the command ------- */

static int answer(const struct query_command *command, struct failure *why)
{
	struct query *query = NULL;
	int status = EXIT_ANSWERED;
	int rc = query_create(&query, command->recording, why);

	if (!rc && command->from_input)
		rc = answer_input(command, query, &status);
	if (!rc && command->addrs.count)
		rc = answer_options(command, query, &status, why);
	if (!rc && command->registers)
		rc = answer_registers(command, query, why);
	query_destroy(query);
	if (rc)
		status = say_failure(why);
	return finish_output(status);
}

static int take_option(const struct options *options, int id,
		       struct query_command *command)
{
	switch (id) {
	case OPTION_ADDR:
		return add_text(&command->addrs, options->value);
	case OPTION_AT:
		return add_text(&command->ats, options->value);
	case OPTION_SIZE:
		command->size = options->value;
		break;
	case OPTION_JSON:
		command->json = true;
		break;
	case OPTION_REGISTERS:
		command->registers = true;
		break;
	}
	return 0;
}

static int take_arguments(const struct options *options,
			  struct query_command *command)
{
	int left = options_left(options);
	char **arguments = options->argv + options->first;

	command->from_input = left == 2 && !strcmp(arguments[1], "-");
	if (left != 1 && !command->from_input)
		return options_wrong(options, "one FILE is needed");
	command->path = arguments[0];
	if (command->from_input) {
		if (command->addrs.count || command->ats.count ||
		    command->size || command->registers)
			return options_wrong(options, "'-' takes its questions"
					     " from standard input only");
		return 0;
	}
	if (!command->addrs.count && !command->registers)
		return options_wrong(options, "what to ask for is missing:"
				     " --addr or --registers");
	if (!command->ats.count)
		return options_wrong(options, "a time is missing: --at");
	return 0;
}

static int open_and_answer(struct query_command *command)
{
	struct failure why;
	int status;

	if (recording_open(&command->recording, command->path, &why))
		return say_failure(&why);
	status = answer(command, &why);
	if (status == EXIT_ANSWERED)
		question_warn_if_cut(command->recording);
	recording_close(command->recording);
	return status;
}

int cmd_query(int argc, char **argv)
{
	struct options options = OPTIONS(help, argc, argv);
	struct query_command command = { 0 };
	int status = EXIT_USAGE;
	int id, rc = 0;

	while ((id = options_next(&options)) >= 0 && !rc)
		rc = take_option(&options, id, &command);
	if (id == OPTIONS_HELP)
		status = finish_output(EXIT_ANSWERED);
	else if (id == OPTIONS_END && !rc &&
		 !take_arguments(&options, &command))
		status = open_and_answer(&command);
	free(command.addrs.list);
	free(command.ats.list);
	return status;
}
