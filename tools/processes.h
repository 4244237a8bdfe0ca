/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processes.h - the processes of a family, as their recordings tell of them
 *
 * A recording that cannot be read has an `error` in its object, a number if
 * its file's name says one, and no name.
 *
 * Ownership:  processes_release() frees what processes_load() fills in, which
 *             borrows the files.
 * Errors:     ERR_NO_MEMORY; what is wrong with one file is no failure.
 */
#ifndef CPREC_TOOLS_PROCESSES_H
#define CPREC_TOOLS_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "formats/family_files.h"
#include "formats/meta.h"

struct recording;

struct process {
	const struct family_file *file;
	uint32_t pid;		/* 0: not known */
	uint32_t turn;		/* how often its number had been given; 0: not
				   known */
	struct origin origin;
	int64_t started;	/* microseconds since 1970 */
	int64_t ended;		/* 0: it has not, or its recording does not say */
	char *name;		/* what its last program was called, or its file
				   if it was not; NULL: not known */
	char *file_name;	/* of that program's file: "dash", called "sh" */
	json_t *object;		/* all that is to be said of it */
};

struct processes {
	struct process *list;	/* as the files are */
	size_t count;
};

/* With `verbose`, objects have all the programs that a process was. */
int processes_load(struct processes *out, const struct family_files *files,
		   bool verbose, struct failure *why);
void processes_release(struct processes *processes);

/* The part of a path behind the last slash. */
const char *name_of(const char *path);

/*
 * The process that made this one: `pid`, `tid` (of the thread that did), `at`
 * (the time in its recording).  Null if it is not recorded, or not known.
 */
json_t *parent_describe(const struct recording *recording);

/*
 * "exit" of a recording: {"code"}, {"signal"}, or {"became"} if another recording
 * has the rest; null if it is not known.
 */
json_t *exit_describe(const struct recording *recording);

#endif
