/* SPDX-License-Identifier: GPL-2.0-or-later */
/* programs.c - see programs.h */
#include "tools/programs.h"

#include "formats/error.h"
#include "tools/commands.h"
#include "tools/messages.h"

void program_share_stderr(void)
{
	linux_keep_stderr();
	say_through(linux_write_stderr);
}

void program_notice(void *context, enum linux_notice kind, const char *text)
{
	(void)context;
	(void)kind;
	say_note("%s", text);
}

void program_quiet_notice(void *context, enum linux_notice kind,
			  const char *text)
{
	if (kind == NOTICE_INSTRUCTION)
		program_notice(context, kind, text);
}

int program_not_run(int rc, const struct failure *why)
{
	say_failure(why);
	if (rc == ERR_NOT_FOUND)
		return EXIT_NO_PROGRAM;
	return rc == ERR_INPUT ? EXIT_UNUSABLE : EXIT_CPREC;
}
