/* SPDX-License-Identifier: GPL-2.0-or-later */
/* error.c - see error.h */
#include "formats/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int last_words = STDERR_FILENO;

int failed(struct failure *why, enum error code, const char *format, ...)
{
	va_list args;

	if (!why)
		return code;
	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	return code;
}

void give_up_to(int fd)
{
	last_words = fd;
}

/* May be called by a signal handler. */
_Noreturn void give_up(const char *why)
{
	const char before[] = "cprec: cannot go on: ";
	struct iovec parts[] = {
		{ (void *)before, sizeof(before) - 1 },
		{ (void *)why, strlen(why) },
		{ (void *)"\n", 1 },
	};

	ssize_t written = writev(last_words, parts, 3);

	(void)written;
	abort();
}
