/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_heap.c - cprec heap: blocks that were allocated, and what went wrong */
#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"
#include "tools/asking.h"
#include "tools/commands.h"
#include "tools/debug_notes.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/print_heap.h"

static int run(struct options *options);

enum { OPTION_AT = 256, OPTION_ERRORS, OPTION_NO_ERRORS, OPTION_BY_SITE,
       OPTION_STACK, OPTION_DEBUG_DIR, OPTION_JSON };

const struct command command_heap = {
	.name = "heap",
	.run = run,
	.arguments = "[FILE]",
	.summary = "blocks of the heap; writes outside of them",
	.usage = "heap [OPTION...] [FILE]",
	.about = "Lists the errors that a program made with its heap, from its"
		 " start to a time:\n"
		 "writes behind, before and into freed blocks, frees of what"
		 " is no block or freed\n"
		 "already; and then the blocks that are alive: address, size,"
		 " when and by whom they\n"
		 "were allocated.",
	.options = (const struct option_info[]) {
		{ OPTION_AT, "at", "T",
		  "the time; without this, the end" },
		{ OPTION_ERRORS, "errors", NULL, "only errors",
		  .without = "no-errors by-site" },
		{ OPTION_NO_ERRORS, "no-errors", NULL,
		  "only blocks: quicker" },
		{ OPTION_BY_SITE, "by-site", NULL,
		  "one line for all blocks that the same code has\n"
		  "allocated, the most bytes first" },
		{ OPTION_STACK, "stack", "N",
		  "for each call of the allocator so many callers;\n"
		  "without this 1, and of errors 8" },
		{ OPTION_DEBUG_DIR, "debug-dir", "DIR",
		  "where debugging information is looked for, too" },
		{ OPTION_JSON, "json", NULL,
		  "one JSON object per line: kind, addr, size,\n"
		  "allocated, freed, ..." },
		{ 0 }
	},
	.notes = "An allocator is known by the names of its functions: malloc,"
		 " operator new, and\n"
		 "those that others have.",
};

struct heap_command {
	struct asking asking;
	bool errors, no_errors, by_site;
	struct heap_printing printing;
};

/* ------- answers ------- */

static int print(const struct heap_command *command, struct failure *why)
{
	const struct heap_printing *printing = &command->printing;
	int rc = 0;

	if (!command->no_errors)
		rc = print_heap_errors(printing, why);
	if (!rc && !command->errors)
		rc = command->by_site ? print_heap_sites(printing, why) :
					print_heap_blocks(printing, why);
	if (!rc)
		print_heap_summary(printing);
	return rc;
}

/* Functions of the program are called without it. */
static const char *program_of(const struct asking *asking)
{
	const struct symbols *program;
	int rc = names_program(lines_names(asking->lines), asking->last.time,
			       &program, NULL);

	return rc || !program ? NULL : program->path;
}

static int answer(void *context, struct failure *why)
{
	struct heap_command *command = context;
	const struct heap_question question = {
		.query = command->asking.query, .lines = command->asking.lines,
		.to = command->asking.last, .writes = !command->no_errors,
	};
	struct heap heap;
	int rc = heap_follow(&heap, &question, why);

	if (rc)
		return rc;
	command->printing.asking = &command->asking;
	command->printing.heap = &heap;
	command->printing.errors = !command->no_errors;
	command->printing.program = program_of(&command->asking);
	command->printing.callers = json_object();
	rc = print(command, why);
	if (!rc && heap.has_others)
		say_note("blocks that another process has allocated here, as"
			 " before a fork, are not known, nor what was written"
			 " next to blocks");
	json_decref(command->printing.callers);
	heap_release(&heap);
	return rc;
}

/* ------- the command line ------- */

static int take_option(const struct options *options, int id,
		       struct heap_command *command)
{
	switch (id) {
	case OPTION_AT:
		return options_take_time(options, id, &command->asking.to);
	case OPTION_ERRORS:
		command->errors = true;
		break;
	case OPTION_NO_ERRORS:
		command->no_errors = true;
		break;
	case OPTION_BY_SITE:
		command->by_site = true;
		break;
	case OPTION_STACK:
		return number_parse(options->value,
				    &command->printing.stack) &&
				       command->printing.stack ? 0 :
		       options_bad_value(options, id, "a number above 0");
	case OPTION_DEBUG_DIR:
		debug_folders_take(options->value);
		break;
	case OPTION_JSON:
		command->printing.json = true;
		break;
	}
	return 0;
}

static int run(struct options *options)
{
	struct heap_command command = {
		.asking = { .from = "start", .to = "end" },
	};
	int id;

	while ((id = options_next(options)) >= 0)
		if (take_option(options, id, &command))
			return EXIT_USAGE;
	command.asking.path = options_recording(options, id);
	if (!command.asking.path)
		return options->status;
	return asking_run(&command.asking, answer, &command);
}
