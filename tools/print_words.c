/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print_words.c - see print_words.h */
#include "tools/print_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replayer/session/session.h"
#include "tools/print.h"

/* ------- who wrote them ------- */

struct place {
	const char *program;	/* path */
	json_t *object;
	unsigned count;
};

/* What languages have in each program, to end it with a message. */
static bool is_runtime(const struct source_line *line)
{
	static const char *const prefixes[] = {
		"std::", "core::", "alloc::", "rust_", "__rust", "runtime.",
	};
	static const char *const folders[] = {
		"/rustc/", "library/std/", "library/core/", "library/alloc/",
	};
	const char *function = line->function;

	/* "<std::io::Stderr as std::io::Write>::write" */
	function += strspn(function, "<&");
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(function, prefixes[i], strlen(prefixes[i])))
			return true;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (line->file && !strncmp(line->file, folders[i],
					   strlen(folders[i])))
			return true;
	return false;
}

#define FRAMES_LOOKED_AT 64u

/* The first one of the program's own. */
static int on_frame(void *context, const struct frame *frame)
{
	struct place *place = context;

	if (++place->count > FRAMES_LOOKED_AT)
		return 1;
	if (!frame->module || strcmp(frame->module, place->program) ||
	    !*frame->line.function || is_runtime(&frame->line))
		return 0;
	json_set_text(place->object, "function", frame->line.function);
	if (frame->line.file) {
		json_set_text(place->object, "file", frame->line.file);
		json_set_count(place->object, "line", frame->line.line);
	}
	return 1;
}

static void set_place(json_t *object, const struct last_words *words,
		      struct recording *recording, struct query *query,
		      struct lines *lines)
{
	const struct recording_program *list;
	size_t count;
	struct place place = { .object = object };
	struct backtrace backtrace = {
		.lines = lines, .stream = words->stream,
		.visit = on_frame, .context = &place,
	};
	enum frames_end end;

	if (recording_programs(recording, &list, &count, NULL))
		return;
	while (count > 1 && list[count - 1].time > words->at.time)
		count--;
	place.program = list[count - 1].image.path;
	if (!query_replayer(query, &backtrace.replayer, NULL) &&
	    !replayer_seek(backtrace.replayer, &words->at, NULL))
		backtrace_walk(&backtrace, &end, NULL);
}

void print_words_place(FILE *out, const json_t *words)
{
	const char *function =
		json_string_value(json_object_get(words, "function"));
	const char *file = json_string_value(json_object_get(words, "file"));

	if (function) {
		fputs(" in ", out);
		print_escaped(out, function, strlen(function));
	}
	if (function && file) {
		fputs(" at ", out);
		print_escaped(out, file, strlen(file));
		fprintf(out, ":%" JSON_INTEGER_FORMAT,
			json_integer_value(json_object_get(words, "line")));
	}
}

/* ------- what they are ------- */

json_t *words_describe(struct recording *recording, struct query *query,
		       struct lines *lines, const struct position *until)
{
	struct last_words words;
	json_t *object;
	char *text;

	if (last_words_find(&words, recording, query, until, NULL) ||
	    !words.size)
		return NULL;
	text = strndup(words.text, words.size);
	if (!text)
		return NULL;
	object = json_object();
	json_set_position(object, &words.at);
	json_set_text(object, "text", text);
	free(text);
	if (lines)
		set_place(object, &words, recording, query, lines);
	return object;
}

/* A line, in which a tab stays one. */
static void print_line(const char *text, size_t size)
{
	const char *tab;

	while ((tab = memchr(text, '\t', size))) {
		print_escaped(stdout, text, (size_t)(tab - text));
		putchar('\t');
		size -= (size_t)(tab + 1 - text);
		text = tab + 1;
	}
	print_escaped(stdout, text, size);
}

void print_words(const json_t *words)
{
	const char *text = json_string_value(json_object_get(words, "text"));
	const char *label = "  stderr:";

	while (text && *text) {
		size_t size = strcspn(text, "\n");

		printf("%-14s ", label);
		print_line(text, size);
		putchar('\n');
		text += size + (text[size] == '\n');
		label = "";
	}
}
