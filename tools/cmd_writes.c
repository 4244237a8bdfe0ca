/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_writes.c - cprec writes, reads, accesses: who accessed memory, and when */
#include "tools/accesses.h"
#include "tools/commands.h"

static int run_writes(struct options *options);
static int run_reads(struct options *options);
static int run_accesses(struct options *options);

static const struct option_info options_of_all[] = {
	ACCESSES_OPTION_ADDR,
	ACCESSES_OPTION_SIZE,
	{ ACCESSES_FROM, "from", "T",
	  "from this time on, in instructions: as 'cprec query\n"
	  "--help' says; without this: the start" },
	{ ACCESSES_TO, "to", "T",
	  "up to this time; without this: the end.  Variables\n"
	  "are those of this time" },
	{ ACCESSES_ONLY_FIRST, "first", NULL, "only the first",
	  .without = "last limit" },
	{ ACCESSES_ONLY_LAST, "last", NULL, "only the last",
	  .without = "first limit" },
	{ ACCESSES_LIMIT, "limit", "N", "at most the first so many" },
	{ ACCESSES_CHANGES, "changes", NULL,
	  "only those that leave another value" },
	{ ACCESSES_VALUE, "value", "V",
	  "only those that leave, or find, this value: -1, 'a',\n"
	  "RED, 2.5" },
	{ ACCESSES_THREAD, "thread", "TID",
	  "only what this thread does; its variables are meant" },
	ACCESSES_OPTIONS_COMMON,
	{ 0 }
};

#define NOTES                                                                 \
	"The time is that before the instruction: ask 'cprec backtrace"       \
	" --at=T' how it came\n"                                              \
	"there.  Exits with 1 if there is none."

const struct command command_writes = {
	.name = "writes",
	.run = run_writes,
	.arguments = "[FILE] --addr=A",
	.summary = "who wrote an address, and when",
	.usage = "writes [OPTION...] [FILE] --addr=A",
	.about = "Lists who wrote memory, oldest first: instructions with"
		 " their source lines, system\n"
		 "calls; when; and what was there before and after.",
	.options = options_of_all,
	.notes = NOTES,
};

const struct command command_reads = {
	.name = "reads",
	.run = run_reads,
	.arguments = "[FILE] --addr=A",
	.summary = "who read an address, and when",
	.usage = "reads [OPTION...] [FILE] --addr=A",
	.about = "Lists which instructions read memory, oldest first, with"
		 " their source lines, and\n"
		 "what they found.  What system calls read is not listed.",
	.options = options_of_all,
	.notes = NOTES,
};

const struct command command_accesses = {
	.name = "accesses",
	.run = run_accesses,
	.arguments = "[FILE] --addr=A",
	.summary = "who read or wrote an address, and when",
	.usage = "accesses [OPTION...] [FILE] --addr=A",
	.about = "Lists who read or wrote memory, oldest first, as 'cprec"
		 " reads' and 'cprec writes'\n"
		 "do.",
	.options = options_of_all,
	.notes = NOTES,
};

static int run(struct options *options, bool reads, bool writes)
{
	struct accesses_command command = {
		.asked.at = "end", .reads = reads, .writes = writes,
		.only_thread = true,
	};
	int id = 0, rc = 0;

	while (!rc && (id = options_next(options)) >= 0)
		rc = accesses_take(&command, options, id);
	return accesses_answer(&command, options, rc ? rc : id);
}

static int run_writes(struct options *options)
{
	return run(options, false, true);
}

static int run_reads(struct options *options)
{
	return run(options, true, false);
}

static int run_accesses(struct options *options)
{
	return run(options, true, true);
}
