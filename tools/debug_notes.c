/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debug_notes.c - see debug_notes.h */
#include "tools/debug_notes.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "replayer/symbols/symbols.h"
#include "tools/messages.h"

static char **told;
static size_t told_count, told_room;

/* Several parts of a command may look for the same file. */
void debug_note(const char *text)
{
	char *copy;

	for (size_t i = 0; i < told_count; i++)
		if (!strcmp(told[i], text))
			return;
	copy = strdup(text);
	if (copy && !array_room(told, told_count, told_room))
		told[told_count++] = copy;
	else
		free(copy);
	say_note("%s", text);
}

void debug_notes_begin(void)
{
	while (told_count)
		free(told[--told_count]);
	debug_search_notes(debug_note);
}
