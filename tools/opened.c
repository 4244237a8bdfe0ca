/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opened.c - see opened.h */
#include "tools/opened.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/error.h"
#include "formats/file_status.h"
#include "formats/packed.h"
#include "replayer/recording/recording.h"
#include "tools/messages.h"
#include "tools/shown_values.h"

/* One of a list, in which those that were used last come first. */
struct kept {
	struct opened opened;
	struct kept *next;
	char *path, *folders;	/* as it was opened: with debugging
				   information from these */
	struct stat file;	/* as it was then */
	bool in_use;
};

static struct kept *list;
static size_t keep;
static const atomic_bool *cancelled;

/* ------- one of them ------- */

/* All but the recording. */
static void forget(struct opened *opened)
{
	kernel_programs_destroy(opened->programs);
	kernel_destroy(opened->kernel);
	opened->programs = NULL;
	opened->kernel = NULL;
	expressions_destroy(opened->expressions);
	query_destroy(opened->query);
	lines_destroy(opened->lines);
	opened->expressions = NULL;
	opened->query = NULL;
	opened->lines = NULL;
}

static void end(struct kept *kept)
{
	forget(&kept->opened);
	recording_close(kept->opened.recording);
	free(kept->path);
	free(kept->folders);
	free(kept);
}

/* A path like "x.cpr/12.cpr" may lead into a packed file. */
static int look_at(const char *path, struct stat *out)
{
	const char *name;
	char *packed;
	int rc = stat(path, out);

	if (!rc || errno != ENOTDIR)
		return rc;
	packed = packed_of(path, &name);
	rc = packed ? stat(packed, out) : -1;
	free(packed);
	return rc;
}

/* One that is being written may have grown, by whatever the clock says. */
static bool is_stale(const struct kept *kept)
{
	struct stat file;

	return look_at(kept->path, &file) ||
	       !is_unchanged_file(&file, &kept->file) ||
	       trace_reader_is_growing(
		       recording_reader(kept->opened.recording));
}

static bool is_asked(const struct kept *kept, const char *path)
{
	return !kept->in_use && !strcmp(kept->path, path) &&
	       !strcmp(kept->folders, debug_search_named());
}

static int make(struct kept **out, const char *path, struct failure *why)
{
	struct kept *kept = calloc(1, sizeof(*kept));
	int rc = 0;

	if (!kept)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	kept->path = strdup(path);
	kept->folders = strdup(debug_search_named());
	if (!kept->path || !kept->folders)
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	/* Before it is read: what changes from now on is a change. */
	if (!rc && look_at(path, &kept->file))
		rc = failed(why, ERR_SYSTEM, "cannot open '%s': %s", path,
			    strerror(errno));
	if (!rc)
		rc = recording_open(&kept->opened.recording, path, why);
	if (rc) {
		end(kept);
		return rc;
	}
	recording_cancel_by(kept->opened.recording, cancelled);
	*out = kept;
	return 0;
}

/* ------- all of them ------- */

/* Ends all that are not in use but the first `most`. */
static void limit(size_t most)
{
	struct kept **link = &list;

	while (*link) {
		struct kept *kept = *link;

		if (kept->in_use || (most > 0 && most--)) {
			link = &kept->next;
			continue;
		}
		*link = kept->next;
		end(kept);
	}
}

/* Takes the one that is asked for off the list, unless it is stale. */
static struct kept *find(const char *path)
{
	for (struct kept **link = &list; *link; link = &(*link)->next) {
		struct kept *kept = *link;

		if (!is_asked(kept, path))
			continue;
		*link = kept->next;
		if (!is_stale(kept))
			return kept;
		end(kept);
		return NULL;
	}
	return NULL;
}

int opened_begin_any(struct opened **out, const char *path,
		     struct failure *why)
{
	struct kept *kept = find(path);
	int rc = 0;

	if (!kept) {
		/* First room, then one more. */
		limit(keep ? keep - 1 : 0);
		rc = make(&kept, path, why);
	}
	if (rc)
		return rc;
	kept->in_use = true;
	kept->next = list;
	list = kept;
	*out = &kept->opened;
	return 0;
}

int opened_begin(struct opened **out, const char *path, struct failure *why)
{
	int rc = opened_begin_any(out, path, why);

	if (rc)
		return rc;
	rc = recording_check_program((*out)->recording, why);
	if (rc) {
		opened_end(*out);
		*out = NULL;
	}
	return rc;
}

int opened_ask(struct opened *opened, struct failure *why)
{
	int rc;

	if (opened->expressions) {
		shown_values_apply(opened->expressions);
		return 0;
	}
	rc = lines_create(&opened->lines, opened->recording, why);
	if (!rc)
		rc = query_create(&opened->query, opened->recording, why);
	if (!rc)
		rc = expressions_create(&opened->expressions, opened->lines,
					opened->query, why);
	if (!rc)
		rc = kernel_programs_create(&opened->programs, opened->query,
					    lines_names(opened->lines), why);
	if (rc)
		forget(opened);
	else
		shown_values_apply(opened->expressions);
	return rc;
}

int opened_kernel(struct opened *opened, struct failure *why)
{
	if (opened->kernel)
		return 0;
	if (!recording_is_machine(opened->recording))
		return failed(why, ERR_INPUT, "'%s' is the recording of a"
			      " program: only machines have a kernel of their"
			      " own", trace_reader_path(recording_reader(
						opened->recording)));
	return kernel_create(&opened->kernel, opened->query, why);
}

static void rest(struct query *query)
{
	const char *note = query_note(query);

	if (note)
		say_note("%s", note);
	query_rest(query);
}

void opened_end(struct opened *opened)
{
	if (opened && opened->query)
		rest(opened->query);
	for (struct kept *kept = list; kept && opened; kept = kept->next)
		if (&kept->opened == opened)
			kept->in_use = false;
	limit(keep);
}

void opened_keep(size_t most)
{
	keep = most;
	limit(keep);
}

void opened_cancel_by(const atomic_bool *flag)
{
	cancelled = flag;
}
