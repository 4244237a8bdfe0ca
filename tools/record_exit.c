/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_exit.c - see record_exit.h */
#include "tools/record_exit.h"

#include <stdio.h>
#include <stdlib.h>

#include "replayer/recording/recording.h"
#include "tools/messages.h"
#include "tools/opened.h"
#include "tools/print.h"
#include "tools/print_words.h"

static void say_place(const json_t *words, const char *typed, int status)
{
	const struct position at = {
		(uint64_t)json_integer_value(json_object_get(words, "at")),
		(uint32_t)json_integer_value(json_object_get(words, "events")),
	};
	char position[POSITION_TEXT];
	char *where = NULL;
	size_t size;
	FILE *out = open_memstream(&where, &size);

	if (!out)
		return;
	print_words_place(out, words);
	if (!fclose(out) && *where)
		say_note("status %d: its message was written%s; 'cprec"
			 " backtrace %s --at=%s' tells more", status, where,
			 typed, position_text(position, &at));
	free(where);
}

void record_exit_say(const char *path, const char *typed, int status)
{
	struct opened *opened;
	struct position end = { .events = EVENTS_ALL };
	json_t *words;

	if (opened_begin(&opened, path, NULL))
		return;
	if (!opened_ask(opened, NULL)) {
		end.time = recording_end(opened->recording);
		words = words_describe(opened->recording, opened->query,
				       opened->lines, &end);
		if (words)
			say_place(words, typed, status);
		json_decref(words);
	}
	opened_end(opened);
}
