/* SPDX-License-Identifier: GPL-2.0-or-later */
/* messages.c - see messages.h */
#include "tools/messages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "tools/commands.h"
#include "tools/print.h"

static void write_stderr(const char *text, size_t size)
{
	fwrite(text, 1, size, stderr);
}

static void (*write_line)(const char *text, size_t size) = write_stderr;

void say_through(void (*write)(const char *text, size_t size))
{
	write_line = write;
}

static void print_line(const char *kind, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static void print_line(const char *kind, const char *format, va_list args)
{
	char text[1024];
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	vsnprintf(text, sizeof(text), format, args);
	fflush(stdout);
	if (!out)
		return;
	fprintf(out, "cprec: %s", kind);
	print_escaped(out, text, strlen(text));
	fputc('\n', out);
	/* In one piece: other processes say something too. */
	if (!fclose(out))
		write_line(line, size);
	free(line);
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line("", format, args);
	va_end(args);
}

void say_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line("note: ", format, args);
	va_end(args);
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
