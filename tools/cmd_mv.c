/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_mv.c - cprec mv: another name for a recording and all its processes */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/family_files.h"
#include "formats/trace_lock.h"
#include "tools/commands.h"
#include "tools/family_change.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/processes.h"

static int run(struct options *options);

const struct command command_mv = {
	.name = "mv",
	.run = run,
	.kind = COMMAND_TAKES_FILES,
	.arguments = "FILE NEW",
	.summary = "rename a recording, with all its processes",
	.usage = "mv [OPTION...] FILE NEW",
	.about = "Renames a recording, and the folder FILE.d of its other"
		 " processes, to NEW and\n"
		 "NEW.d; into NEW, if that is a folder, under the same name.",
	.options = (const struct option_info[]) {
		{ 'f', "force", NULL,
		  "replace a recording that is there; also move what\n"
		  "is still being written" },
		{ 0 }
	},
};

/* A recording that has to go is first set aside, so that it can come back. */
struct replaced {
	struct family_files files;
	char *aside;		/* NULL: nothing is replaced */
};

/* ------- what is there already ------- */

static int is_in_the_way(const char *to, bool *exists, struct failure *why)
{
	char *folder = family_folder(to);
	struct stat status;
	int rc = 0;

	if (!folder)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	*exists = !lstat(to, &status);
	if (!*exists && !lstat(folder, &status))
		rc = failed(why, ERR_INPUT, "'%s' exists", folder);
	free(folder);
	return rc;
}

static int set_aside(struct replaced *replaced, const char *to,
		     struct failure *why)
{
	int rc = family_files_find(&replaced->files, to, why);

	/* Whoever writes to it would lose that. */
	if (!rc)
		rc = family_may_change(&replaced->files, to, false, why);
	if (rc)
		return rc;
	if (replaced->files.foreign)
		return failed(why, ERR_INPUT,
			      "'%s' has other things than recordings in it",
			      replaced->files.folder);
	if (asprintf(&replaced->aside, "%s.%d~", to, (int)getpid()) < 0) {
		replaced->aside = NULL;
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	rc = family_move(&replaced->files, replaced->aside, why);
	if (rc) {
		free(replaced->aside);
		replaced->aside = NULL;
	}
	return rc;
}

/* Removes what was set aside; or puts it back if nothing replaced it. */
static int end_replaced(struct replaced *replaced, const char *to,
			bool has_moved, struct failure *why)
{
	struct family_files aside;
	int rc = 0;

	if (replaced->aside && !family_files_find(&aside, replaced->aside, why)) {
		rc = has_moved ? family_remove(&aside, why) :
				 family_move(&aside, to, NULL);
		family_files_release(&aside);
	}
	free(replaced->aside);
	family_files_release(&replaced->files);
	return rc;
}

/* ------- moving ------- */

static int replace(const struct family_files *files, const char *to, bool force,
		   struct failure *why)
{
	struct replaced replaced = { 0 };
	struct trace_glance there;
	bool exists;
	int rc = is_in_the_way(to, &exists, why);

	if (rc)
		return rc;
	if (exists && !trace_glance(&there, AT_FDCWD, to, true, NULL) &&
	    trace_is_same_file(&there, &files->list[0].glance))
		return failed(why, ERR_INPUT, "'%s' and '%s' are the same file",
			      files->first, to);
	if (exists && !force)
		return failed(why, ERR_INPUT,
			      "'%s' exists (--force: replace it)", to);
	if (exists)
		rc = set_aside(&replaced, to, why);
	if (!rc)
		rc = family_move(files, to, why);
	if (end_replaced(&replaced, to, !rc, rc ? NULL : why) && !rc)
		return ERR_SYSTEM;
	return rc;
}

static int move(const char *path, const char *to, bool force,
		struct failure *why)
{
	struct family_files files;
	int rc = family_files_find(&files, path, why);

	if (rc)
		return rc;
	rc = family_may_change(&files, path, force, why);
	if (!rc)
		rc = replace(&files, to, force, why);
	family_files_release(&files);
	return rc;
}

/* Names in two folders, or in one, are nobody else's meanwhile. */
struct locks {
	int to, from;
};

static bool is_same_folder(const char *a, const char *b)
{
	size_t a_size = (size_t)(name_of(a) - a);
	size_t b_size = (size_t)(name_of(b) - b);
	char *a_folder = a_size ? strndup(a, a_size) : strdup(".");
	char *b_folder = b_size ? strndup(b, b_size) : strdup(".");
	struct stat a_status, b_status;
	bool is_same = !a_folder || !b_folder || stat(a_folder, &a_status) ||
		       stat(b_folder, &b_status) ||
		       (a_status.st_dev == b_status.st_dev &&
			a_status.st_ino == b_status.st_ino);

	free(a_folder);
	free(b_folder);
	return is_same;
}

static struct locks lock_names(const char *from, const char *to)
{
	struct locks locks = { trace_lock_names(to), -1 };

	if (!is_same_folder(from, to))
		locks.from = trace_lock_names(from);
	return locks;
}

static void unlock_names(const struct locks *locks)
{
	if (locks->to >= 0)
		close(locks->to);
	if (locks->from >= 0)
		close(locks->from);
}

/* The new name of FILE: NEW, or a name in it if that is a folder. */
static char *new_name(const char *path, const char *to)
{
	size_t size = strlen(to);
	struct stat status;
	char *name;

	if (stat(to, &status) || !S_ISDIR(status.st_mode))
		return strdup(to);
	if (asprintf(&name, "%s%s%s", to,
		     size && to[size - 1] == '/' ? "" : "/", name_of(path)) < 0)
		return NULL;
	return name;
}

static int run(struct options *options)
{
	int id, rc;
	struct locks locks;
	bool force = false;
	struct failure why;
	size_t count;
	char **arguments, *to;

	while ((id = options_next(options)) >= 0)
		force = true;
	arguments = options_files(options, id, 2, 2, &count);
	if (!arguments)
		return options->status;
	to = new_name(arguments[0], arguments[1]);
	if (!to) {
		say("out of memory");
		return EXIT_FAILED;
	}
	locks = lock_names(arguments[0], to);
	rc = move(arguments[0], to, force, &why);
	unlock_names(&locks);
	free(to);
	return rc ? say_failure(&why) : EXIT_ANSWERED;
}
