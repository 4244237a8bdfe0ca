/* SPDX-License-Identifier: GPL-2.0-or-later */
/* accesses.c - see accesses.h */
#include "tools/accesses.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "replayer/symbols/symbols.h"
#include "tools/commands.h"
#include "tools/damage.h"
#include "tools/debug_notes.h"
#include "tools/messages.h"
#include "tools/opened.h"
#include "tools/print.h"
#include "tools/print_access.h"
#include "tools/wanted_value.h"

struct answering {
	const struct accesses_command *command;
	struct opened *opened;
	struct question what;	/* the address, as of the last time */
	struct access_printing printing;
	struct history_question question;
	struct wanted_value value;	/* if any is asked for */
	uint64_t count;		/* printed */
};

/* ------- which of them ------- */

static bool is_meant(void *context, const struct history_access *access)
{
	const struct answering *answering = context;
	const struct accesses_command *command = answering->command;

	return (access->writes ? command->writes : command->reads) &&
	       (!command->changes || history_changes(access)) &&
	       (!command->value ||
		wanted_value_is(&answering->value, &answering->question,
				access));
}

/*
 * Programs on a machine's kernel have names where the replay stands; it can go
 * there when nothing else is looked for.
 */
static int stand_there(const struct answering *answering,
		       const struct history_access *access,
		       struct failure *why)
{
	struct replayer *replayer;
	int rc;

	if (answering->command->which != ACCESSES_LAST ||
	    !recording_is_machine(answering->opened->recording))
		return 0;
	rc = query_replayer(answering->opened->query, &replayer, why);
	return rc ? rc : replayer_seek(replayer, &access->before, why);
}

static int print(void *context, const struct history_access *access,
		 struct failure *why)
{
	struct answering *answering = context;
	const struct accesses_command *command = answering->command;
	int rc = stand_there(answering, access, why);

	if (!rc)
		rc = print_access(&answering->printing, access, why);
	answering->count++;
	if (!rc && (command->which == ACCESSES_FIRST ||
		    answering->count == command->limit || print_is_over()))
		rc = HISTORY_ENOUGH;
	return rc;
}

/* ------- answering ------- */

static int find_from(struct answering *answering, struct failure *why)
{
	struct recording *recording = answering->opened->recording;
	struct position *from = &answering->question.from;
	bool is_time;

	if (answering->command->from)
		return place_position(from, &is_time, recording,
				      answering->command->from, why);
	*from = (struct position){ recording_start(recording), 0 };
	return 0;
}

/* A variable of an optimized function, perhaps. */
static int no_memory(const struct question *what, struct failure *why)
{
	const struct expression *found = &what->found;
	const char *text = what->asked.addr;

	if (found->reg && what->asked.frame)
		return failed(why, ERR_INPUT, "'%s' is not in memory then, but"
			      " in %s of frame %" PRIu64, text, found->reg,
			      what->asked.frame);
	if (found->reg)
		return failed(why, ERR_INPUT, "'%s' is not in memory then, but"
			      " in %s: 'cprec last --register=%s' tells who"
			      " wrote it", text, found->reg, found->reg);
	return failed(why, ERR_INPUT, "'%s' is not in memory then%s", text,
		      found->bytes ? "" : ": it is optimized out");
}

/* Of a bit-field, the bytes that have its bits. */
static void take_bits(struct answering *answering)
{
	const struct expression *found = &answering->what.found;
	struct history_question *question = &answering->question;

	question->addr = found->addr;
	question->size = (found->bit_offset + found->bit_size + 7) / 8;
	question->bit_offset = found->bit_offset;
	question->bit_size = found->bit_size;
}

static int find_what(struct answering *answering, struct failure *why)
{
	struct question *what = &answering->what;
	int rc;

	what->asked = answering->command->asked;
	what->is_alone = true;
	question_find(what, answering->opened);
	if (what->has_failed)
		return failed(why, ERR_INPUT, "%s",
			      what->error ? what->error : "out of memory");
	if (!what->has_memory && !what->found.bit_size)
		return no_memory(what, why);
	answering->question.addr = what->addr;
	answering->question.size = what->size;
	answering->question.to = what->at;
	if (what->found.bit_size)
		take_bits(answering);
	answering->printing = (struct access_printing) {
		.recording = answering->opened->recording,
		.lines = answering->opened->lines,
		.addr = answering->question.addr,
		.size = answering->question.size,
		.bit_offset = what->found.bit_offset,
		.bit_size = what->found.bit_size,
		.is_signed = what->found.is_signed,
		.type = what->found.type, .json = answering->command->json,
	};
	rc = find_from(answering, why);
	if (!rc && answering->command->value)
		rc = wanted_value_find(&answering->value,
				       answering->command->value, what,
				       answering->opened->expressions, why);
	if (!rc && position_compare(&answering->question.from, &what->at) > 0)
		rc = failed(why, ERR_INPUT, "--from is behind --to");
	return rc;
}

static int search(struct answering *answering, struct failure *why)
{
	const struct accesses_command *command = answering->command;
	struct history_question *question = &answering->question;
	bool found;

	question->some_thread = command->only_thread &&
				command->asked.some_thread;
	question->tid = command->asked.tid;
	question->reads = command->reads;
	question->writes = command->writes;
	question->is_meant = is_meant;
	question->context = answering;
	if (command->which == ACCESSES_LAST)
		return history_last(answering->opened->query, question, print,
				    &found, why);
	return history_each(answering->opened->query, question, print, why);
}

/* ------- registers ------- */

static int search_register(struct answering *answering, struct failure *why)
{
	const struct request *asked = &answering->command->asked;
	struct reg_named named;
	struct register_question question = {
		.named = &named,
		.some_thread = asked->some_thread, .tid = asked->tid,
	};
	struct register_write write;
	bool is_time, found = false;
	struct recording *recording = answering->opened->recording;
	int rc = place_position(&question.at, &is_time, recording, asked->at,
				why);

	answering->question.from.time = recording_start(recording);
	answering->question.to = question.at;
	answering->printing = (struct access_printing) {
		.recording = answering->opened->recording,
		.lines = answering->opened->lines,
		.json = answering->command->json,
	};
	if (!rc)
		rc = register_to_ask(recording_reg_table(recording),
				     answering->command->reg, &named, why);
	if (!rc)
		rc = register_last_write(answering->opened->query, &question,
					 &write, &found, why);
	answering->count = found;
	return rc || !found ? rc :
	       print_register_write(&answering->printing, &named.info,
				    &write, why);
}

static int none(const struct answering *answering)
{
	const struct accesses_command *command = answering->command;
	char from[POSITION_TEXT], to[POSITION_TEXT];

	struct origin parent;

	say("%s%s %s from t=%s to t=%s",
	    (command->changes && command->which != ACCESSES_LAST) ||
		command->value ||
		answering->question.some_thread ? "no such access: " : "",
	    command->reg ? command->reg : command->asked.addr,
	    !command->writes ? "was not read" :
	    command->reads ? "was not accessed" :
	    command->changes && !command->reg ? "was not changed" :
						"was not written",
	    position_text(from, &answering->question.from),
	    position_text(to, &answering->question.to));
	if (!command->reg && command->writes &&
	    recording_find_parent(answering->opened->recording,
				  answering->question.to.time, &parent))
		say_note("what was written before the fork, the parent has:"
			 " --pid=%" PRIu32 " and times up to %" PRIu64,
			 parent.parent, parent.time);
	return EXIT_FAILED;
}

static int answer(struct answering *answering, struct failure *why)
{
	int rc = opened_ask(answering->opened, why);

	if (!rc)
		rc = question_check_space(&answering->command->asked,
					  answering->opened->recording, why);
	if (!rc && answering->command->reg)
		return search_register(answering, why);
	if (!rc)
		rc = find_what(answering, why);
	if (!rc)
		rc = search(answering, why);
	return rc;
}

int accesses_answer(const struct accesses_command *command,
		    struct options *options, int id)
{
	struct answering answering = { .command = command };
	struct failure why;
	const char *path;
	int status, rc;

	if (id == OPTIONS_END && !command->asked.addr && !command->reg)
		id = options_wrong(options, "an address is missing: --addr");
	path = options_recording(options, id);
	if (!path)
		return options->status;
	if (opened_begin_any(&answering.opened, path, &why))
		return say_failure(&why);
	rc = answer(&answering, &why);
	status = rc ? say_failure(&why) :
		 answering.count ? EXIT_ANSWERED : none(&answering);
	if (!rc)
		damage_say(answering.opened->recording);
	wanted_value_release(&answering.value);
	question_release(&answering.what);
	opened_end(answering.opened);
	return finish_output(status);
}

/* ------- options ------- */

static int take_what(struct accesses_command *command,
		     const struct options *options, int id)
{
	struct failure why;

	if (id == ACCESSES_SIZE) {
		command->asked.size = options->value;
		return question_may_be_size(options->value) ? 0 :
		       options_bad_value(options, id, QUESTION_SIZE_WANTED);
	}
	command->asked.addr = options->value;
	return question_check_address(options->value, &why) ?
		       options_wrong(options, "%s", why.text) : 0;
}

static int take_thread(struct accesses_command *command,
		       const struct options *options, int id)
{
	struct threads_text threads;

	if (!number_parse_threads(options->value, &threads) || threads.all)
		return options_bad_value(options, id,
					 "the number of a thread");
	command->asked.some_thread = true;
	command->asked.tid = threads.tid;
	return 0;
}

static int take_number(const struct options *options, int id, uint64_t *out)
{
	return number_parse(options->value, out) ? 0 :
	       options_bad_value(options, id, "a number");
}

int accesses_take(struct accesses_command *command,
		  const struct options *options, int id)
{
	switch (id) {
	case ACCESSES_ADDR:
	case ACCESSES_SIZE:
		return take_what(command, options, id);
	case ACCESSES_AT:
	case ACCESSES_TO:
		return options_take_time(options, id, &command->asked.at);
	case ACCESSES_FROM:
		return options_take_time(options, id, &command->from);
	case ACCESSES_ONLY_FIRST:
		command->which = ACCESSES_FIRST;
		return 0;
	case ACCESSES_ONLY_LAST:
		command->which = ACCESSES_LAST;
		return 0;
	case ACCESSES_LIMIT:
		return take_number(options, id, &command->limit);
	case ACCESSES_CHANGES:
		command->changes = true;
		return 0;
	case ACCESSES_WRITES:
		command->changes = false;
		return 0;
	case ACCESSES_VALUE:
		command->value = options->value;
		return *command->value ? 0 :
		       options_bad_value(options, id, "a value");
	case ACCESSES_REGISTER:
		command->reg = options->value;
		return 0;
	case ACCESSES_THREAD:
		return take_thread(command, options, id);
	case ACCESSES_FRAME:
		return take_number(options, id, &command->asked.frame);
	case ACCESSES_PHYSICAL:
		command->asked.is_physical = true;
		return 0;
	case ACCESSES_PROCESS:
		command->asked.process = options->value;
		return 0;
	case ACCESSES_SPACE:
		return request_take_space(&command->asked, options->value) ? 0 :
		       options_bad_value(options, id, REQUEST_SPACE_WANTED);
	case ACCESSES_ELEMENTS:
		return shown_values_take_elements(options, id);
	case ACCESSES_RAW:
		shown_values_take_raw();
		return 0;
	case ACCESSES_DEBUG_DIR:
		debug_folders_take(options->value);
		return 0;
	default:
		command->json = true;
		return 0;
	}
}
