/* SPDX-License-Identifier: GPL-2.0-or-later */
/* damage.c - see damage.h */
#include "tools/damage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "replayer/recording/recording.h"
#include "tools/messages.h"

char *damage_describe(const struct recording *recording)
{
	const struct trace_reader *reader = recording_reader(recording);
	const char *path = trace_reader_path(reader);
	const char *note = trace_reader_note(reader);
	char *text;
	int size;

	if (trace_reader_is_growing(reader))
		size = asprintf(&text, "'%s' is still being written: now it"
				" ends at t=%" PRIu64,
				path, recording_end(recording));
	else if (!recording_summary(recording))
		size = asprintf(&text, "'%s' was cut short: it ends at t=%"
				PRIu64, path, recording_end(recording));
	else if (note)
		size = asprintf(&text, "%s", note);
	else if (!trace_reader_is_complete(reader))
		/* Only the table of chunks comes behind the summary. */
		size = asprintf(&text, "'%s': the end of the file is missing,"
				" but nothing that was recorded", path);
	else
		return NULL;
	return size < 0 ? NULL : text;
}

void damage_say(const struct recording *recording)
{
	char *text = damage_describe(recording);

	if (text)
		say_note("%s", text);
	free(text);
}
