/* SPDX-License-Identifier: GPL-2.0-or-later */
/* programs.c - see programs.h */
#include "tools/programs.h"

#include <string.h>

#include "formats/error.h"
#include "tools/commands.h"
#include "tools/messages.h"

void program_notice(void *context, const char *text)
{
	(void)context;
	say_note("%s", text);
}

/*
 * Notices have no kinds.  Of an instruction that killed is the only one that
 * ends like this; nothing else explains such an end.
 */
void program_last_notice(void *context, const char *text)
{
	static const char ending[] = ": SIGILL";
	size_t size = strlen(text), tail = strlen(ending);

	if (size >= tail && !strcmp(text + size - tail, ending))
		program_notice(context, text);
}

int program_not_run(int rc, const struct failure *why)
{
	say_failure(why);
	if (rc == ERR_NOT_FOUND)
		return EXIT_NO_PROGRAM;
	return rc == ERR_INPUT ? EXIT_UNUSABLE : EXIT_CPREC;
}
