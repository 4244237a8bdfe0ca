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

static void (*take_text)(void *context, bool is_note, const char *text);
static void *take_context;

void say_to(void (*take)(void *context, bool is_note, const char *text),
	    void *context)
{
	take_text = take;
	take_context = context;
}

static void print_line(bool is_note, const char *text)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	fflush(stdout);
	if (!out)
		return;
	fprintf(out, "cprec: %s", is_note ? "note: " : "");
	print_escaped(out, text, strlen(text));
	fputc('\n', out);
	/* In one piece: other processes say something too. */
	if (!fclose(out))
		write_line(line, size);
	free(line);
}

static void say_line(bool is_note, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static void say_line(bool is_note, const char *format, va_list args)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, args);
	if (take_text)
		take_text(take_context, is_note, text);
	else
		print_line(is_note, text);
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(false, format, args);
	va_end(args);
}

void say_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(true, format, args);
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
