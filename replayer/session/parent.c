/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parent.c - see parent.h */
#include "replayer/session/parent.h"

#include "formats/error.h"
#include "formats/family_files.h"
#include "replayer/recording/recording.h"

/* Whether a process with the parent's number was there at the fork. */
static bool may_be(struct recording *recording, struct recording *child)
{
	const struct origin *origin = &recording_meta(child)->origin;
	uint32_t pid;

	return !recording_tid(recording, 0, &pid, NULL) &&
	       pid == origin->parent &&
	       recording_meta(recording)->started <=
		       recording_meta(child)->started &&
	       recording_end(recording) >= origin->time;
}

/* Of several with the number, the last one: it was given again. */
static void choose(struct recording **out, struct recording *child,
		   const struct family_file *file)
{
	struct recording *found;

	if (recording_open(&found, file->path, NULL))
		return;
	if (may_be(found, child) &&
	    (!*out || recording_meta(*out)->started <=
			      recording_meta(found)->started)) {
		recording_close(*out);
		*out = found;
		return;
	}
	recording_close(found);
}

int parent_open(struct recording **out, struct recording *child,
		struct failure *why)
{
	const struct origin *origin = &recording_meta(child)->origin;
	struct family_files files;
	int rc;

	*out = NULL;
	if (!origin->parent)
		return failed(why, ERR_NOT_FOUND,
			      "no recorded process has forked it");
	rc = family_files_find(&files, recording_file_path(child), why);
	if (rc)
		return rc == ERR_NO_MEMORY ? rc : ERR_NOT_FOUND;
	for (size_t i = 0; i < files.count; i++) {
		const struct family_file *file = &files.list[i];

		if (!file->is_this && !file->is_empty &&
		    (!file->member.pid || file->member.pid == origin->parent))
			choose(out, child, file);
	}
	family_files_release(&files);
	return *out ? 0 : failed(why, ERR_NOT_FOUND, "the recording of the"
				 " process that has forked it is not there");
}
