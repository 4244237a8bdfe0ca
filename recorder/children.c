/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * children.c - processes that the program makes
 *
 * The host forks, and with it this recorder, the engine and guest memory.
 * The child drops the parent's trace and begins one of its own, whose first
 * snapshot holds every page that the parent knew.
 */
#include "recorder/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".cpr"

void children_before_fork(void *context)
{
	struct recorder *rec = context;

	if (rec->unrecorded)
		return;
	if (!rec->error)
		rec->error = segment_flush(rec, false, &rec->why);
	rec->origin = (struct origin){
		.parent = (uint32_t)getpid(),
		.thread = linux_tid(rec->process),
		.time = vm_steps(rec->vm),
	};
	trace_writer_pause(rec->writer);
}

/* "trace.PID.cpr" beside "trace.cpr"; an older file of that name is kept. */
static int name_trace(struct recorder *rec)
{
	const char *first = rec->options->path;
	size_t stem = strlen(first);
	char *path = NULL, *old = NULL;

	if (stem > strlen(SUFFIX) &&
	    !strcmp(first + stem - strlen(SUFFIX), SUFFIX))
		stem -= strlen(SUFFIX);
	if (asprintf(&path, "%.*s.%d%s", (int)stem, first, (int)getpid(),
		     SUFFIX) < 0 ||
	    asprintf(&old, "%s.old", path) < 0) {
		free(path);
		return ERR_NO_MEMORY;
	}
	rename(path, old);
	free(old);
	free(rec->path);
	rec->path = path;
	return 0;
}

/* Everything that the parent's snapshots knew is new to this trace. */
static void know_pages_anew(struct recorder *rec)
{
	struct page_store parent = rec->pages;

	if (page_store_init(&rec->pages)) {
		rec->pages = parent;
		bases_release(&rec->pages.bases);
		if (!rec->error)
			rec->error = failed(&rec->why, ERR_NO_MEMORY,
					    "out of memory");
		return;
	}
	page_store_each(&parent, 0, UINT64_MAX, effects_mark_page, rec);
	page_store_release(&parent);
}

static void begin_again(struct recorder *rec)
{
	trace_writer_close(rec->writer);
	rec->writer = NULL;
	rec->started = false;
	streams_begin_again(rec, (uint32_t)getpid());
	rec->segment = 0;
	rec->streamed = 0;
	rec->resolved = 0;
	rec->fresh_count = 0;
	rec->module_count = 0;
	vm_set_steps(rec->vm, 0);
	know_pages_anew(rec);
}

void children_after_fork(void *context, int pid)
{
	struct recorder *rec = context;
	int rc;

	if (rec->unrecorded)
		return;
	if (pid) {
		rc = trace_writer_resume(rec->writer, &rec->why);
		if (rc && !rec->error)
			rec->error = rc;
		return;
	}
	begin_again(rec);
	if (rec->options->no_children) {
		rec->unrecorded = true;
		return;
	}
	rec->reborn = true;
	if (name_trace(rec) && !rec->error)
		rec->error = failed(&rec->why, ERR_NO_MEMORY, "out of memory");
}
