/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strace_files.h - which file each descriptor of a process is
 *
 * As far as the calls of the process say it: what it had when it began is not
 * known.  Names are those that the program gave.
 *
 * Ownership:  files_release() frees; a zeroed structure has no names.
 * Errors:     without memory, names are missing.
 */
#ifndef CPREC_TOOLS_STRACE_FILES_H
#define CPREC_TOOLS_STRACE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/session/session.h"

struct replayer;

struct strace_files {
	struct strace_file {
		char *name;		/* NULL: not known */
		bool ends_at_exec;
	} *list;
	size_t count;
};

/* A call is over; the replayer stands there. */
void files_follow(struct strace_files *files, struct replayer *replayer,
		  const struct call_event *call);

const char *files_name(const struct strace_files *files, int descriptor);
void files_release(struct strace_files *files);

#endif
