/* SPDX-License-Identifier: GPL-2.0-or-later */
/* messages.c - see messages.h */
#include "tools/messages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "tools/commands.h"

void say(const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	fflush(stdout);
	fprintf(stderr, "cprec: %s\n", text);
}

int say_failure(const struct failure *why)
{
	say("%s", why->text);
	return EXIT_FAILED;
}

int finish_output(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	say("cannot write the answer: %s", strerror(errno));
	return EXIT_FAILED;
}
