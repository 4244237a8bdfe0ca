/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_query.c - cprec query: memory at a time */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "tools/commands.h"
#include "tools/damage.h"
#include "tools/debug_notes.h"
#include "tools/machines.h"
#include "tools/messages.h"
#include "tools/opened.h"
#include "tools/options.h"
#include "tools/query_races.h"
#include "tools/questions.h"
#include "tools/shown_values.h"

static int run(struct options *options);

#define LINE_MOST 65536u	/* bytes; symbols of C++ can be long */
#define QUESTIONS_MOST 65536u	/* addresses times times */

enum { OPTION_ADDR = 256, OPTION_AT, OPTION_SIZE, OPTION_JSON,
       OPTION_REGISTERS, OPTION_THREAD, OPTION_RACES, OPTION_NO_RACES,
       OPTION_FORMAT, OPTION_DEBUG_DIR, OPTION_FRAME, OPTION_PHYSICAL,
       OPTION_PROCESS, OPTION_SPACE, OPTION_ELEMENTS, OPTION_RAW };

const struct command command_query = {
	.name = "query",
	.run = run,
	.arguments = "[FILE] --addr=A [--at=T]",
	.summary = "what an address held at a time",
	.usage = "query [FILE] --addr=A... [--at=T...] [--size=N]"
		 " [--format=F] [--json]\n"
		 "       cprec query [FILE] [--format=F] [--json] -",
	.about = "Tells what memory held at a time.  With several"
		 " addresses and\n"
		 "times, answers for each address at each time.  With '-',"
		 " answers the lines\n"
		 "\"A T [N]\" of standard input, one by one, what has blanks"
		 " in quotes; it skips\n"
		 "empty lines and those that begin with '#'.\n"
		 "\n"
		 "A question without an answer does not hinder the others; an"
		 " option that makes no\n"
		 "sense does.",
	.options = (const struct option_info[]) {
		{ OPTION_ADDR, "addr", "A",
		  "an address: 0x1000, counter+8, libc.so.6!environ;\n"
		  "or an expression: head->name, table[3].x, *p,\n"
		  "*argv@argc, app::counter, file.c:counter, $rsp; or\n"
		  "heap:p, the block of the heap that p points into",
		  .without = "-" },
		{ OPTION_AT, "at", "T",
		  "a time, in instructions: 5000000, 5m, start, end,\n"
		  "50%; the 3rd line of output: output:3; end-1, 50%+3;\n"
		  "of one thread: TID:5000000, TID:end; T.1: behind the\n"
		  "first event at T, see below; without this, where a\n"
		  "signal ended the program, or its end",
		  .without = "-" },
		{ OPTION_SIZE, "size", "N",
		  "how many bytes (k, m: times 1024); without this\n"
		  "the size of a variable given by its name (at most\n"
		  "4096), else 8",
		  .with = "addr" },
		{ OPTION_FORMAT, "format", "F",
		  "how numbers are shown: x, d, u, o, t (binary), c, f,\n"
		  "s (text) or a (address), as gdb does; or raw: bytes",
		  .with = "addr -" },
		SHOWN_ROWS(OPTION_ELEMENTS, OPTION_RAW),
		{ OPTION_DEBUG_DIR, "debug-dir", "DIR",
		  "where debugging information is looked for, too" },
		{ OPTION_THREAD, "thread", "TID",
		  "whose variables and registers are meant; without\n"
		  "this those of the thread whose turn it is",
		  .with = "addr -" },
		{ OPTION_FRAME, "frame", "N",
		  "whose variables are meant: 0 is the innermost\n"
		  "function, 1 its caller, as 'cprec backtrace' shows\n"
		  "them",
		  .with = "addr -" },
		{ OPTION_PHYSICAL, "physical", NULL,
		  "of a machine: addresses are physical; without this\n"
		  "they are those of its page tables at T",
		  .with = "addr", .without = "process asid" },
		{ OPTION_PROCESS, "process", "P",
		  "of a machine: addresses are those of this process of\n"
		  "its kernel, a number or a name; 'cprec ps --at=T'\n"
		  "lists them", .with = "addr", .without = "asid" },
		{ OPTION_SPACE, "asid", "N",
		  "of a machine: addresses are those of the program\n"
		  "that last had this number of an address space",
		  .with = "addr" },
		{ OPTION_REGISTERS, "registers", NULL, NULL,
		  .instead = "cprec registers --at=T" },
		{ OPTION_RACES, "races", NULL,
		  "look for races, see below, in all that was before\n"
		  "T: much slower",
		  .with = "addr", .without = "no-races" },
		{ OPTION_NO_RACES, "no-races", NULL,
		  "do not look for races: quicker" },
		{ OPTION_JSON, "json", NULL,
		  "one JSON object per line: addr, at, events, size,\n"
		  "bytes, type, value, source, as_of, race; or addr,\n"
		  "at, error" },
		{ 0 }
	},
	.notes = "At T, T instructions have been executed, with all that they"
		 " do themselves.\n"
		 "What happens before the next one, as a signal, a fault or"
		 " another thread's turn,\n"
		 "has not happened yet: T.1 is behind the first such event, T.2"
		 " behind the second.\n"
		 "The end is behind all.\n"
		 "\n"
		 "Unknown bytes are ??.  The source says how the answer was"
		 " found: 'code' that\n"
		 "was not changed, 'snapshot' (it was stored), 'replay' (it was"
		 " computed again),\n"
		 "'file' (nobody may write there, the program did not use it,"
		 " and the file that is\n"
		 "mapped is as it was), or 'unknown'.  Exits with 1 if a"
		 " question has no answer or\n"
		 "nothing is mapped there; one line on standard error says"
		 " which.\n"
		 "\n"
		 "If threads raced for the memory, so that it may have held"
		 " other values, the\n"
		 "answer says so and lists them.  Races are looked for in the"
		 " 10 million\n"
		 "instructions before T (fewer for more than 4 times), and not"
		 " for lines of\n"
		 "standard input.",
};

/* Options that may be given several times. */
struct texts {
	const char **list;
	size_t count;
};

/* Where values that threads raced for are looked for. */
enum which_races {
	RACES_NEAR,		/* shortly before the time */
	RACES_ALL,
	RACES_NOT,
};

struct query_command {
	const char *path;
	struct texts addrs, ats;
	char at[POSITION_TEXT];	/* where nothing is said */
	const char *size;
	char format;
	uint64_t frame;
	struct threads_text threads;
	bool json, from_input;
	struct request space;	/* which addresses */
	enum which_races races;
	struct opened *opened;
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

/* ------- memory, asked by options ------- */

static int compare_times(const void *left, const void *right)
{
	const struct question *a = *(const struct question *const *)left;
	const struct question *b = *(const struct question *const *)right;

	int order = position_compare(&a->at, &b->at);

	if (order)
		return order;
	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* All of a request but what and when. */
static struct request how_asked(const struct query_command *command)
{
	struct request asked = command->space;

	asked.size = command->size;
	asked.format = command->format;
	asked.some_thread = command->threads.some;
	asked.tid = command->threads.tid;
	asked.frame = command->frame;
	return asked;
}

static void make_questions(const struct query_command *command,
			   struct question *questions,
			   struct question **by_time)
{
	size_t count = command->ats.count * command->addrs.count;

	for (size_t i = 0; i < count; i++) {
		questions[i] = (struct question) {
			.asked = how_asked(command),
			.is_alone = count == 1,
		};
		questions[i].asked.addr =
			command->addrs.list[i % command->addrs.count];
		questions[i].asked.at =
			command->ats.list[i / command->addrs.count];
		by_time[i] = &questions[i];
		question_find(&questions[i], command->opened);
	}
}

/*
 * Other values.  Unless they were asked for, they are an extra, without which
 * there is an answer all the same: then `*lacks`, and `why` says why.
 */
static int find_races(const struct query_command *command,
		      struct question **by_time, size_t count,
		      struct query_races *races, bool *lacks,
		      struct failure *why)
{
	struct recording *recording = command->opened->recording;
	int rc;

	*lacks = false;
	if (command->races == RACES_NOT)
		return 0;
	/* Of those between a machine's cores nothing is known. */
	if (recording_is_machine(recording) && recording_threads(recording) > 1)
		return command->races == RACES_ALL ?
			       recording_check_program(recording, why) : 0;
	rc = query_races_find(races, recording, by_time, count,
			      command->races == RACES_ALL, why);
	*lacks = rc && command->races != RACES_ALL;
	return *lacks ? 0 : rc;
}

static bool is_any_answered(const struct question *questions, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!questions[i].has_failed)
			return true;
	return false;
}

/* Answers in the order of time, which replays least, and prints as asked. */
static int answer_options(const struct query_command *command, int *status,
			  struct failure *why)
{
	size_t count = command->ats.count * command->addrs.count;
	struct question *questions;
	struct question **by_time;
	struct query_races races = { 0 };
	bool lacks = false;
	int rc = 0;

	if (count > QUESTIONS_MOST)
		return failed(why, ERR_INPUT, "at most %u questions can be"
			      " asked at once", QUESTIONS_MOST);
	questions = calloc(count, sizeof(*questions));
	by_time = calloc(count, sizeof(struct question *));
	if (!questions || !by_time) {
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
		goto end;
	}
	make_questions(command, questions, by_time);
	qsort(by_time, count, sizeof(struct question *), compare_times);
	/* Before the query has a replayer, if it needs one: two take room. */
	rc = find_races(command, by_time, count, &races, &lacks, why);
	if (rc)
		goto end;
	for (size_t i = 0; i < count; i++)
		question_answer(by_time[i], command->opened);
	if (lacks && is_any_answered(questions, count))
		say_note("no search for races: %s", why->text);
	for (size_t i = 0; i < count; i++)
		if (!question_print(&questions[i], command->json))
			*status = EXIT_FAILED;
end:
	for (size_t i = 0; i < count && questions; i++)
		question_release(&questions[i]);
	query_races_release(&races);
	free(questions);
	free(by_time);
	return rc;
}

/* ------- memory, asked by lines ------- */

static const char blanks[] = " \t\r\n";

/* One of standard input, without its end. */
struct line {
	uint64_t number;
	char *text;		/* LINE_MOST bytes and a NUL */
	size_t size;		/* of all of it, also of what is not kept */
};

/* Reads up to the line's end and no further.  False if there is none. */
static bool read_line(struct line *line)
{
	int c = getc(stdin);

	line->number++;
	line->size = 0;
	if (c == EOF)
		return false;
	for (; c != EOF && c != '\n'; c = getc(stdin))
		if (line->size++ < LINE_MOST)
			line->text[line->size - 1] = (char)c;
	line->text[line->size < LINE_MOST ? line->size : LINE_MOST] = '\0';
	return !ferror(stdin);
}

static bool is_question(const struct line *line)
{
	size_t start = strspn(line->text, blanks);

	return start < line->size && line->text[start] != '#';
}

/* Where the quote at `text` ends, if it holds all of a word; else NULL. */
static char *quote_end(char *text)
{
	char *end = *text == '\'' || *text == '"' ? strchr(text + 1, *text)
						 : NULL;

	return end && (!end[1] || strchr(blanks, end[1])) ? end : NULL;
}

/*
 * Cuts the next word off, without its quotes; NULL: there is none.  Quotes
 * inside a word are a part of it, as of an expression's.
 */
static char *take_word(char **rest)
{
	char *word = *rest + strspn(*rest, blanks), *end = quote_end(word);

	if (!*word)
		return NULL;
	word += end != NULL;
	if (!end)
		end = word + strcspn(word, blanks);
	*rest = end + (*end != '\0');
	*end = '\0';
	return word;
}

/* What is wrong with a line that is not "A T [N]"; else NULL. */
static const char *cut_line(const struct line *line, struct request *out)
{
	char *rest = line->text;

	if (line->size > LINE_MOST)
		return "the line is too long";
	if (memchr(line->text, '\0', line->size))
		return "a NUL is in the line";
	out->addr = take_word(&rest);
	out->at = take_word(&rest);
	out->size = take_word(&rest);
	if (!out->at || take_word(&rest))
		return "not \"A T [N]\" (what has blanks in it needs quotes)";
	return NULL;
}

static bool answer_line(const struct query_command *command,
			const struct line *line)
{
	struct question question = {
		.asked = how_asked(command),
		.line = line->number,
	};
	const char *wrong = cut_line(line, &question.asked);
	struct failure why;
	bool answered;

	if (!wrong) {
		question_find(&question, command->opened);
	} else {
		failed(&why, ERR_INPUT, "cannot answer: %s", wrong);
		question_fail(&question, &why);
	}
	question_answer(&question, command->opened);
	answered = question_print(&question, command->json);
	question_release(&question);
	return answered;
}

static int answer_input(const struct query_command *command, int *status,
			struct failure *why)
{
	struct line line = { .text = malloc(LINE_MOST + 1) };
	int rc = 0;

	if (!line.text)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	while (read_line(&line)) {
		if (is_question(&line) && !answer_line(command, &line))
			*status = EXIT_FAILED;
		if (fflush(stdout))
			break;
	}
	if (ferror(stdin))
		rc = failed(why, ERR_SYSTEM, "cannot read standard input: %s",
			    strerror(errno));
	free(line.text);
	return rc;
}

/* ------- the command ------- */

/* Where a signal ended it, the thread that got it is what matters. */
static int take_end(struct query_command *command, struct failure *why)
{
	struct crash crash;
	const char *text = "end";

	if (!crash_find(&crash, command->opened->recording, NULL))
		text = position_text(command->at, &crash.at);
	return add_text(&command->ats, text) ?
		failed(why, ERR_NO_MEMORY, "out of memory") : 0;
}

static int answer_all(struct query_command *command, int *status,
		      struct failure *why)
{
	const struct request asked = how_asked(command);
	int rc = opened_ask(command->opened, why);

	if (!rc)
		rc = question_check_space(&asked, command->opened->recording,
					  why);
	if (!rc && command->addrs.count && !command->ats.count)
		rc = take_end(command, why);
	if (!rc && command->from_input)
		rc = answer_input(command, status, why);
	if (!rc && command->addrs.count)
		rc = answer_options(command, status, why);
	return rc;
}

static int answer(struct query_command *command, struct failure *why)
{
	int status = EXIT_ANSWERED;
	int rc = answer_all(command, &status, why);

	if (rc)
		status = say_failure(why);
	return finish_output(status);
}

static int take_option(const struct options *options, int id,
		       struct query_command *command)
{
	struct failure why;

	switch (id) {
	case OPTION_ADDR:
		if (question_check_address(options->value, &why))
			return options_wrong(options, "%s", why.text);
		return add_text(&command->addrs, options->value);
	case OPTION_AT:
		if (!place_may_be_time(options->value))
			return options_bad_value(options, id,
						 PLACE_TIME_WANTED);
		return add_text(&command->ats, options->value);
	case OPTION_SIZE:
		if (!question_may_be_size(options->value))
			return options_bad_value(options, id,
						 QUESTION_SIZE_WANTED);
		command->size = options->value;
		break;
	case OPTION_ELEMENTS:
		return shown_values_take_elements(options, id);
	case OPTION_RAW:
		shown_values_take_raw();
		break;
	case OPTION_DEBUG_DIR:
		debug_folders_take(options->value);
		break;
	case OPTION_FORMAT:
		if (!strcmp(options->value, "raw"))
			command->format = QUESTION_RAW;
		else if (strlen(options->value) == 1 &&
			 strchr(EXPRESSION_FORMATS, *options->value))
			command->format = *options->value;
		else
			return options_bad_value(options, id,
						 "a letter of '"
						 EXPRESSION_FORMATS
						 "' or 'raw'");
		break;
	case OPTION_FRAME:
		if (!number_parse(options->value, &command->frame))
			return options_bad_value(options, id, "a number");
		break;
	case OPTION_JSON:
		command->json = true;
		break;
	case OPTION_PROCESS:
		command->space.process = options->value;
		break;
	case OPTION_PHYSICAL:
		command->space.is_physical = true;
		break;
	case OPTION_SPACE:
		if (!request_take_space(&command->space, options->value))
			return options_bad_value(options, id,
						 REQUEST_SPACE_WANTED);
		break;
	case OPTION_RACES:
		command->races = RACES_ALL;
		break;
	case OPTION_NO_RACES:
		command->races = RACES_NOT;
		break;
	case OPTION_THREAD:
		if (!number_parse_threads(options->value,
					  &command->threads))
			return options_bad_value(options, id,
						 NUMBER_THREADS_WANTED);
		break;
	}
	return 0;
}

static int take_arguments(struct options *options,
			  struct query_command *command)
{
	command->from_input = options_take_last(options, "-");
	if (!command->from_input && !command->addrs.count)
		return options_wrong(options, "what to ask for is missing:"
				     " --addr");
	if (command->threads.all)
		return options_wrong(options, "'--thread' takes the number of a"
				     " thread, not 'all'");
	return 0;
}

static int open_and_answer(struct query_command *command)
{
	struct failure why;
	int status;

	if (opened_begin_any(&command->opened, command->path, &why))
		return say_failure(&why);
	status = answer(command, &why);
	if (status == EXIT_ANSWERED)
		damage_say(command->opened->recording);
	opened_end(command->opened);
	return status;
}

static int run(struct options *options)
{
	struct query_command command = { 0 };
	int id = 0, rc = 0, status;

	while (!rc && (id = options_next(options)) >= 0)
		rc = take_option(options, id, &command);
	if (!rc && id == OPTIONS_END)
		rc = take_arguments(options, &command);
	command.path = options_recording(options, rc ? rc : id);
	status = command.path ? open_and_answer(&command) : options->status;
	free(command.addrs.list);
	free(command.ats.list);
	return status;
}
