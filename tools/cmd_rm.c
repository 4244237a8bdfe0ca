/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_rm.c - cprec rm: removes recordings, with all their processes */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/family_files.h"
#include "formats/family_path.h"
#include "formats/trace_glance.h"
#include "formats/trace_lock.h"
#include "tools/commands.h"
#include "tools/family_change.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/side_files.h"

static int run(struct options *options);

const struct command command_rm = {
	.name = "rm",
	.run = run,
	.kind = COMMAND_TAKES_FILES,
	.arguments = "FILE...",
	.summary = "remove recordings, with all their processes",
	.usage = "rm [OPTION...] FILE...",
	.about = "Removes recordings, and with each the folder FILE.d of its"
		 " other processes.\n"
		 "What is no recording of the same family stays, and the folder"
		 " with it.",
	.options = (const struct option_info[]) {
		{ 'f', "force", NULL,
		  "also what is still being written; a FILE that is\n"
		  "not there is no error" },
		{ 0 }
	},
	.notes = "FILE.old, which an earlier recording may have left, is a"
		 " recording of its own.",
};

/* Others that make or move recordings in the folder wait. */
static int remove_locked(const char *path, bool force,
			 struct family_files *files, struct failure *why)
{
	int names = trace_lock_names(path);
	int rc = family_files_find(files, path, why);

	if (!rc) {
		rc = family_may_change(files, path, force, why);
		if (!rc)
			rc = family_remove(files, why);
		if (rc)
			family_files_release(files);
	}
	if (names >= 0)
		close(names);
	return rc;
}

/* What was to be a recording, and has no header yet: an empty file by its name. */
static bool is_unbegun(const char *path, struct trace_glance *glance)
{
	const size_t suffix = strlen(TRACE_SUFFIX), length = strlen(path);

	if (trace_glance(glance, AT_FDCWD, path, false, NULL) != ERR_TRUNCATED)
		return false;
	return glance->size || (length > suffix &&
				!strcmp(path + length - suffix, TRACE_SUFFIX));
}

static int remove_unbegun(const char *path, const struct trace_glance *glance,
			  bool force, struct failure *why)
{
	if (glance->is_locked && !force)
		return failed(why, ERR_INPUT, "'%s' is still being written"
			      " (--force: all the same)", path);
	if (unlink(path) && errno != ENOENT)
		return failed(why, ERR_SYSTEM, "cannot remove '%s': %s", path,
			      strerror(errno));
	side_file_remove(path);
	return 0;
}

static int remove_one(const char *path, bool force)
{
	struct family_files files;
	struct trace_glance glance;
	struct failure why;
	struct stat status;

	if (force && lstat(path, &status) && errno == ENOENT)
		return EXIT_ANSWERED;
	if (is_unbegun(path, &glance))
		return remove_unbegun(path, &glance, force, &why) ?
			       say_failure(&why) : EXIT_ANSWERED;
	if (remove_locked(path, force, &files, &why))
		return say_failure(&why);
	if (files.foreign)
		say_note("'%s' is left: other things are in it", files.folder);
	family_files_release(&files);
	return EXIT_ANSWERED;
}

static int run(struct options *options)
{
	int id, status = EXIT_ANSWERED;
	bool force = false;
	size_t count;
	char **names;

	while ((id = options_next(options)) >= 0)
		force = true;
	names = options_files(options, id, 1, SIZE_MAX, &count);
	if (!names)
		return options->status;
	for (size_t i = 0; i < count; i++)
		if (remove_one(names[i], force))
			status = EXIT_FAILED;
	return status;
}
