/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_pack.c - cprec pack, cprec unpack: a family in one file, and back */
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
#include "tools/pack.h"

#define PACKED_SUFFIX ".packed" TRACE_SUFFIX

static int run_pack(struct options *options);
static int run_unpack(struct options *options);

const struct command command_pack = {
	.name = "pack",
	.run = run_pack,
	.kind = COMMAND_TAKES_FILES,
	.arguments = "FILE",
	.summary = "one file of a recording and its processes",
	.usage = "pack [OPTION...] FILE",
	.about = "Makes one file of a recording and those of its other"
		 " processes, for sending\n"
		 "it to others.  All commands read it like any recording, with"
		 " --pid for the\n"
		 "other processes.  FILE stays.",
	.options = (const struct option_info[]) {
		{ 'o', "output", "FILE",
		  "without this, trace" PACKED_SUFFIX " for trace.cpr; it\n"
		  "must not exist" },
		{ 0 }
	},
};

const struct command command_unpack = {
	.name = "unpack",
	.run = run_unpack,
	.kind = COMMAND_TAKES_FILES,
	.arguments = "FILE",
	.summary = "the recording that was packed, as it was",
	.usage = "unpack [OPTION...] FILE",
	.about = "Makes a recording, and the folder of its other processes, of a"
		 " packed file.\n"
		 "FILE stays.",
	.options = (const struct option_info[]) {
		{ 'o', "output", "FILE",
		  "without this, trace.cpr for trace" PACKED_SUFFIX "; it\n"
		  "must not exist" },
		{ 0 }
	},
};

/* "trace.packed.cpr" for "trace.cpr"; with other suffixes, the other way. */
static char *other_name(const char *path, const char *suffix, const char *other)
{
	size_t size = strlen(path), cut = strlen(suffix);
	char *name;

	if (size > cut && !strcmp(path + size - cut, suffix))
		size -= cut;
	return asprintf(&name, "%.*s%s", (int)size, path, other) < 0 ? NULL :
								     name;
}

static int pack(const char *path, const char *to, struct failure *why)
{
	struct family_files files;
	int rc = family_files_find(&files, path, why);

	if (rc)
		return rc;
	if (files.is_packed)
		rc = failed(why, ERR_INPUT, "'%s' is packed already", path);
	else
		rc = family_may_be_copied(&files, path, why);
	if (!rc)
		rc = pack_family(&files, to, why);
	family_files_release(&files);
	return rc;
}

static int unpack(const char *path, const char *to, struct failure *why)
{
	struct family_files files;
	int rc = family_files_find(&files, path, why);

	if (rc)
		return rc;
	if (!files.is_packed || !files.list[0].is_this)
		rc = failed(why, ERR_INPUT, "'%s' is not a packed recording",
			    path);
	else
		rc = unpack_family(&files, to, why);
	family_files_release(&files);
	return rc;
}

/* `output` is where to, or NULL for `usual`, which is freed. */
static int write_to(const char *path, const char *output, char *usual,
		    int (*write)(const char *path, const char *to,
				 struct failure *why))
{
	const char *to = output ? output : usual;
	int names = to ? trace_lock_names(to) : -1;
	struct failure why;
	struct stat status;
	int rc;

	if (!to)
		rc = failed(&why, ERR_NO_MEMORY, "out of memory");
	else if (!lstat(to, &status))
		rc = failed(&why, ERR_INPUT, "'%s' exists", to);
	else
		rc = write(path, to, &why);
	if (names >= 0)
		close(names);
	free(usual);
	return rc ? say_failure(&why) : EXIT_ANSWERED;
}

/* The one FILE; NULL if there is nothing to do. */
static const char *take_options(struct options *options, const char **output)
{
	char **files;
	size_t count;
	int id;

	*output = NULL;
	while ((id = options_next(options)) >= 0) {
		*output = options->value;
		if (!**output)
			id = options_bad_value(options, id, "a file name");
		if (id < 0)
			break;
	}
	files = options_files(options, id, 1, 1, &count);
	return files ? files[0] : NULL;
}

static int run_pack(struct options *options)
{
	const char *output, *path = take_options(options, &output);

	if (!path)
		return options->status;
	return write_to(path, output,
			other_name(path, TRACE_SUFFIX, PACKED_SUFFIX), pack);
}

static int run_unpack(struct options *options)
{
	const char *output, *path = take_options(options, &output);

	if (!path)
		return options->status;
	return write_to(path, output,
			other_name(path, PACKED_SUFFIX, TRACE_SUFFIX), unpack);
}
