/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debug_notes.c - see debug_notes.h */
#include "tools/debug_notes.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static void look_at_folder(const char *path)
{
	char text[PATH_MAX + 40];
	struct stat status;

	if (!stat(path, &status) &&
	    (S_ISDIR(status.st_mode) || S_ISREG(status.st_mode)))
		return;
	snprintf(text, sizeof(text), "--debug-dir: there is no folder '%s'",
		 path);
	debug_note(text);
}

void debug_folders_take(const char *folders)
{
	for (const char *at = folders; *at; at += strspn(at, ":")) {
		size_t size = strcspn(at, ":");
		char *path = strndup(at, size);

		if (path && *path)
			look_at_folder(path);
		free(path);
		at += size;
	}
	debug_search_folders(folders);
}

void debug_notes_begin(void)
{
	while (told_count)
		free(told[--told_count]);
	debug_search_notes(debug_note);
}
