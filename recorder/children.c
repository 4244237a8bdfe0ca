/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * children.c - processes that the program makes
 *
 * The host forks, and with it this recorder, the engine and guest memory.
 * The child drops the parent's trace and begins one of its own, whose first
 * snapshot names every page that the parent knew.  A process that becomes one
 * of another architecture does the same: a recording is of one.
 */
#include "recorder/recorder_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* What comes next is made by this process, as it is now. */
static void note_origin(struct recorder *rec)
{
	rec->trace.origin = (struct origin){
		.parent = (uint32_t)getpid(),
		.thread = linux_tid(rec->process),
		.time = vm_steps(rec->vm),
	};
}

static void prepare_another(struct recorder *rec)
{
	sharing_begin(rec);
	folder_make(&rec->trace.folder);
}

void children_before_fork(void *context)
{
	struct recorder *rec = context;

	if (rec->trace.unrecorded)
		return;
	if (!rec->error && !rec->options->no_children)
		rec->error = snapshot_prepare(rec, &rec->why);
	if (!rec->error)
		rec->error = segment_flush(rec, false, &rec->why);
	note_origin(rec);
	trace_writer_pause(rec->trace.writer);
	if (!rec->options->no_children)
		prepare_another(rec);
}

/* The process goes on unrecorded. */
static void leave(struct recorder *rec, const char *reason)
{
	char text[PATH_MAX + 200];

	rec->trace.unrecorded = true;
	snprintf(text, sizeof(text),
		 "process %d is not recorded: cannot create '%s': %s",
		 (int)getpid(), rec->trace.path, reason);
	if (rec->options->notice)
		rec->options->notice(NULL, NOTICE_LACK, text);
}

/* "trace.cpr.d/PID.cpr", if the first process's is "trace.cpr". */
static int name_trace(struct recorder *rec, const struct family_member *member)
{
	char *folder = family_folder(rec->options->path), *path = NULL;
	char name[FAMILY_NAME_ROOM];

	family_name(name, member);
	if (!folder || asprintf(&path, "%s/%s", folder, name) < 0)
		path = NULL;
	free(folder);
	if (!path)
		return ERR_NO_MEMORY;
	free(rec->trace.path);
	rec->trace.path = path;
	return 0;
}

/* Touches go on: they are what has changed since the parent's snapshot. */
static void begin_again(struct recorder *rec)
{
	/* What the parent could not store, nobody can name. */
	if (!trace_writer_is_sound(rec->trace.writer))
		rec->trace.table = NULL;
	trace_writer_close(rec->trace.writer);
	rec->trace.writer = NULL;
	rec->started = false;
	streams_begin_again(rec, (uint32_t)getpid());
	rec->segment.number = 0;
	rec->segment.flushed = 0;
	rec->flush.early = 0;
	rec->touched.resolved = 0;
	rec->touched.listed = 0;
	moments_begin_again(rec);
	rec->trace.module_count = 0;
	rec->trace.kept_files = 0;
	vm_set_steps(rec->vm, 0);
	pacing_begin_child(&rec->pacing);
}

static void go_on(struct recorder *rec, bool has_child)
{
	int rc = trace_writer_resume(rec->trace.writer, &rec->why);

	if (rc && !rec->error)
		rec->error = rc;
	if (!has_child)
		folder_drop_empty(&rec->trace.folder);
}

static void join(struct recorder *rec, const struct family_member *member)
{
	rec->trace.child_pending = true;
	sharing_inherit(rec, member);
}

/* A descriptor that the program's exec does not close. */
static int create_file(const struct recorder *rec, struct family_member *member)
{
	int fd = folder_create(&rec->trace.folder, member), hidden;

	if (fd < 0)
		return fd;
	hidden = linux_hide_descriptor(fd);
	if (hidden < 0)
		close(fd);
	return hidden < 0 ? -EMFILE : hidden;
}

/* A process like the one before, but for its recording. */
static void begin_another(struct recorder *rec)
{
	struct family_member member = { .pid = (uint32_t)getpid(), .turn = 1 };

	begin_again(rec);
	rec->trace.file = create_file(rec, &member);
	if (getrandom(rec->trace.run, sizeof(rec->trace.run), 0) < 0)
		leave(rec, "cannot get random bytes");
	else if (name_trace(rec, &member))
		effects_out_of_memory(rec);
	else if (rec->trace.file >= 0)
		join(rec, &member);
	else
		leave(rec, strerror(-rec->trace.file));
}

static void begin_child(struct recorder *rec)
{
	if (rec->options->no_children) {
		begin_again(rec);
		rec->trace.unrecorded = true;
	} else {
		begin_another(rec);
	}
}

void children_after_fork(void *context, int pid)
{
	struct recorder *rec = context;

	if (rec->trace.unrecorded)
		return;
	if (pid)
		go_on(rec, pid > 0);
	else
		begin_child(rec);
}

void children_before_rights(void *context)
{
	struct recorder *rec = context;

	if (!rec->trace.unrecorded && !rec->options->no_children)
		folder_keep_rights(&rec->trace.folder, rec->memory);
}

void children_go_on(struct recorder *rec)
{
	note_origin(rec);
	prepare_another(rec);
	begin_another(rec);
}
