/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_last.c - cprec last: who wrote memory last */
#include "tools/accesses.h"
#include "tools/commands.h"

static int run(struct options *options);

const struct command command_last = {
	.name = "last",
	.run = run,
	.arguments = "[FILE] --addr=A [--at=T]",
	.summary = "who changed an address last, before a time",
	.usage = "last [OPTION...] [FILE] --addr=A [--at=T]\n"
		 "       cprec last [OPTION...] [FILE] --register=NAME"
		 " [--at=T]",
	.about = "Tells who changed memory last before a time: the"
		 " instruction, with its source\n"
		 "line, or the system call; when; and what was there before"
		 " and after.",
	.options = (const struct option_info[]) {
		ACCESSES_OPTION_ADDR,
		ACCESSES_OPTION_SIZE,
		{ ACCESSES_REGISTER, "register", "NAME",
		  "a register instead: which instruction wrote it",
		  .without = "addr size writes frame" },
		{ ACCESSES_AT, "at", "T",
		  "before this time, in instructions: as 'cprec query\n"
		  "--help' says; without this: the end.  Variables are\n"
		  "those of this time" },
		{ ACCESSES_WRITES, "writes", NULL,
		  "who wrote it last: the same value written again\n"
		  "counts, too" },
		{ ACCESSES_THREAD, "thread", "TID",
		  "whose variables are meant; without this those of the\n"
		  "thread whose turn it is" },
		ACCESSES_OPTIONS_COMMON,
		{ 0 }
	},
	.notes = "The time is that before the instruction that writes: ask"
		 " 'cprec backtrace --at=T'\n"
		 "how it came there.  Exits with 1 if nothing was changed.",
};

static int run(struct options *options)
{
	struct accesses_command command = {
		.asked.at = "end", .writes = true, .changes = true,
		.which = ACCESSES_LAST,
	};
	int id = 0, rc = 0;

	while (!rc && (id = options_next(options)) >= 0)
		rc = accesses_take(&command, options, id);
	return accesses_answer(&command, options, rc ? rc : id);
}
