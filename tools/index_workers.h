/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * index_workers.h - several processes that make the index of one recording
 *
 * Each opens the recording for itself and takes some segments in turn.
 *
 * Ownership:  all is the caller's.
 * Errors:     those of index_build.h, of the first worker that failed.
 */
#ifndef CPREC_TOOLS_INDEX_WORKERS_H
#define CPREC_TOOLS_INDEX_WORKERS_H

#include <stddef.h>

#include "replayer/session/session.h"

struct failure;

#define INDEX_WORKERS_MOST 256u

struct index_job {
	const char *path;	/* of the recording */
	const char *part;	/* as index_builder_create() takes it */
	struct index_wanted wanted;
	size_t first, end;	/* segments, the last one not included */
	unsigned workers;
};

/* How many there are if nothing else is said: the processors. */
unsigned index_workers_usual(void);

int index_workers_run(const struct index_job *job, struct failure *why);

#endif
