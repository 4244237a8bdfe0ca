/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print_words.c - see print_words.h */
#include "tools/print_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replayer/session/session.h"
#include "tools/print.h"

json_t *words_describe(struct recording *recording, struct query *query,
		       const struct position *until)
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
