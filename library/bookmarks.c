/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bookmarks.c - positions with names */
#include "library/handles.h"

#include <stdio.h>
#include <unistd.h>

#include "formats/bookmarks.h"
#include "formats/trace_lock.h"

static const char *path_of(const struct cprec_recording *handle)
{
	return trace_reader_path(recording_reader(handle->recording));
}

static int read_all(struct cprec_recording *handle, struct bookmarks *out,
		    struct cprec_failure *why)
{
	return bookmarks_read(out, path_of(handle),
			      recording_meta(handle->recording), inner(why));
}

PUBLIC int
cprec_each_bookmark(struct cprec_recording *handle,
		    int (*visit)(void *context,
				 const struct cprec_bookmark *bookmark),
		    void *context, struct cprec_failure *why)
{
	struct bookmarks bookmarks = { 0 };
	int rc = question_begin(handle, false, why);

	if (!rc)
		rc = read_all(handle, &bookmarks, why);
	for (size_t i = 0; i < bookmarks.count && !rc; i++) {
		const struct bookmark *one = &bookmarks.list[i];
		const struct cprec_bookmark told = {
			.name = one->name, .at = { one->time, one->events },
			.text = one->text,
		};

		rc = visit(context, &told);
	}
	bookmarks_release(&bookmarks);
	return rc;
}

/* Others wait meanwhile. */
static int change(struct cprec_recording *handle,
		  int (*how)(struct bookmarks *bookmarks,
			     const struct bookmark *bookmark,
			     struct failure *why),
		  const struct bookmark *bookmark, struct cprec_failure *why)
{
	struct bookmarks bookmarks = { 0 };
	int names = trace_lock_names(path_of(handle));
	int rc = read_all(handle, &bookmarks, why);

	if (!rc)
		rc = how(&bookmarks, bookmark, inner(why));
	if (!rc)
		rc = bookmarks_write(&bookmarks, path_of(handle),
				     recording_meta(handle->recording),
				     inner(why));
	bookmarks_release(&bookmarks);
	if (names >= 0)
		close(names);
	return rc;
}

PUBLIC int cprec_set_bookmark(struct cprec_recording *handle, const char *name,
			      struct cprec_position at, const char *text,
			      struct cprec_failure *why)
{
	struct bookmark bookmark = { 0 };
	struct position place, last;
	int rc = question_begin(handle, false, why);

	if (!rc)
		rc = question_range(handle, &at, NULL, &place, &last, why);
	if (rc)
		return rc;
	if (!bookmark_name_is_good(name))
		return failed(inner(why), ERR_INPUT,
			      "'%.80s' cannot be the name of a bookmark: letters,"
			      " digits and '_' are needed, and no word like"
			      " 'end'", name);
	if (text && !bookmark_text_is_good(text))
		return failed(inner(why), ERR_INPUT, "the text of a bookmark"
			      " has at most %u bytes, and no control characters",
			      BOOKMARK_TEXT_MAX);
	snprintf(bookmark.name, sizeof(bookmark.name), "%s", name);
	bookmark.time = place.time;
	bookmark.events = place.events;
	bookmark.text = (char *)(uintptr_t)(text ? text : "");
	return change(handle, bookmarks_set, &bookmark, why);
}

static int remove_one(struct bookmarks *bookmarks,
		      const struct bookmark *bookmark, struct failure *why)
{
	struct bookmark *found = bookmarks_find(bookmarks, bookmark->name);

	if (!found)
		return failed(why, ERR_NOT_FOUND,
			      "there is no bookmark '%s'", bookmark->name);
	bookmarks_remove(bookmarks, found);
	return 0;
}

PUBLIC int cprec_delete_bookmark(struct cprec_recording *handle,
				 const char *name, struct cprec_failure *why)
{
	struct bookmark bookmark = { 0 };
	int rc = question_begin(handle, false, why);

	snprintf(bookmark.name, sizeof(bookmark.name), "%s", name);
	return rc ? rc : change(handle, remove_one, &bookmark, why);
}
