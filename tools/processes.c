/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processes.c - see processes.h */
#include "tools/machines.h"
#include "tools/processes.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "tools/damage.h"
#include "tools/print.h"

const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

json_t *parent_describe(const struct recording *recording)
{
	const struct origin *origin = &recording_meta(recording)->origin;
	json_t *parent;

	if (!origin->parent)
		return json_null();
	parent = json_object();
	json_set_count(parent, "pid", origin->parent);
	json_set_count(parent, "thread", origin->thread);
	json_set_count(parent, "at", origin->time);
	return parent;
}

json_t *exit_describe(const struct recording *recording)
{
	const struct summary *summary = recording_summary(recording);
	json_t *exit;

	if (!summary)
		return json_null();
	exit = json_object();
	if (summary->exit_signal)
		json_set_count(exit, "signal", summary->exit_signal);
	else if (summary->exit_code == SUMMARY_BECAME)
		json_object_set_new(exit, "became", json_true());
	else
		json_set_count(exit, "code", summary->exit_code);
	if (recording_is_machine(recording))
		json_set_text(exit, "machine",
			      machine_end_text(summary->exit_code));
	return exit;
}

/* ------- what was executed ------- */

static json_t *describe_image(const struct recording_program *program)
{
	json_t *object = json_object();

	json_set_count(object, "at", program->time);
	json_set_text(object, "path", program->image.path);
	json_object_set_new(object, "program",
			    json_arguments(program->image.argv,
					   program->image.argc));
	return object;
}

/* A process is what it was in the end. */
static int describe_programs(struct process *process,
			     struct recording *recording, bool verbose,
			     struct failure *why)
{
	const struct recording_program *list;
	const struct program_image *last;
	const char *called;
	json_t *images;
	size_t count;
	int rc = recording_programs(recording, &list, &count, why);

	if (rc)
		return rc;
	last = &list[count - 1].image;
	called = name_of(last->argc ? last->argv[0] : "");
	if (!*called)
		called = name_of(last->path);
	process->name = strdup(called);
	process->file_name = strdup(name_of(last->path));
	if (!process->name || !process->file_name)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	json_set_text(process->object, "name", process->name);
	json_object_set_new(process->object, "program",
			    json_arguments(last->argv, last->argc));
	json_set_text(process->object, "path", last->path);
	if (!verbose)
		return 0;
	images = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(images, describe_image(&list[i]));
	json_object_set_new(process->object, "images", images);
	return 0;
}

/* ------- the process ------- */

/* The process's number, which is that of its first thread. */
static int find_number(struct process *process, struct recording *recording,
		       struct failure *why)
{
	struct key_frame frame;
	int rc = recording_key_frame(recording, 0, &frame, why);

	if (rc)
		return rc;
	process->pid = frame.tid;
	key_frame_release(&frame);
	return 0;
}

/* Seconds since 1970, of microseconds. */
static json_t *json_clock(int64_t clock)
{
	return json_real((double)clock / 1e6);
}

/* All that was recorded is there. */
static bool is_whole(const struct recording *recording)
{
	return recording_summary(recording) &&
	       trace_reader_is_complete(recording_reader(recording));
}

/*
 * If a recording does not say what the clock was: the last thing that happens
 * to its file is that its end is written.  Without one, it may have been copied
 * at any time.
 */
static int describe_times(struct process *process, struct recording *recording,
			  struct failure *why)
{
	const struct trace_glance *glance = &process->file->glance;
	struct failure reason;
	bool is_known = !glance->is_locked;
	int64_t ended;
	int rc = recording_clock_range(recording, &process->started, &ended,
				       &reason);

	if (rc == ERR_NOT_FOUND) {
		process->started = (int64_t)recording_meta(recording)->started *
				   1000000;
		ended = glance->changed.tv_sec * INT64_C(1000000) +
			glance->changed.tv_nsec / 1000;
		is_known &= is_whole(recording);
	} else if (rc) {
		return failed(why, (enum error)rc, "%s", reason.text);
	}
	if (!rc && !glance->is_locked)
		process->ended = ended;
	json_object_set_new(process->object, "started",
			    json_clock(process->started));
	json_object_set_new(process->object, "ended",
			    is_known ? json_clock(ended) : json_null());
	return 0;
}

static void describe_end(const struct process *process,
			 const struct recording *recording)
{
	char *damage = damage_describe(recording);

	json_set_count(process->object, "instructions",
		       recording_end(recording) - recording_start(recording));
	json_set_count(process->object, "thread_count",
		       recording_threads(recording));
	json_object_set_new(process->object, "complete",
			    json_boolean(is_whole(recording)));
	json_object_set_new(process->object, "exit", exit_describe(recording));
	if (damage && !process->file->glance.is_locked)
		json_set_text(process->object, "note", damage);
	free(damage);
}

static int describe(struct process *process, struct recording *recording,
		    bool verbose, struct failure *why)
{
	const struct meta *meta = recording_meta(recording);
	int rc = find_number(process, recording, why);

	if (rc)
		return rc;
	process->origin = meta->origin;
	json_set_count(process->object, "pid", process->pid);
	json_object_set_new(process->object, "parent",
			    parent_describe(recording));
	rc = describe_programs(process, recording, verbose, why);
	if (!rc)
		rc = describe_times(process, recording, why);
	if (rc)
		return rc;
	describe_end(process, recording);
	return 0;
}

/* ------- all of them ------- */

static int load_one(struct process *process, const struct family_file *file,
		    bool verbose, struct failure *why)
{
	struct recording *recording = NULL;
	struct failure wrong;
	int rc;

	*process = (struct process){
		.file = file,
		.pid = file->member.pid,
		.turn = file->member.turn,
		.object = json_object(),
	};
	json_set_text(process->object, "recording", file->path);
	json_object_set_new(process->object, "this",
			    json_boolean(file->is_this));
	json_set_count(process->object, "size", file->glance.size);
	json_object_set_new(process->object, "writing",
			    json_boolean(file->glance.is_locked));
	rc = recording_open(&recording, file->path, &wrong);
	if (!rc)
		rc = describe(process, recording, verbose, &wrong);
	recording_close(recording);
	if (rc == ERR_NO_MEMORY)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (rc) {
		json_set_count(process->object, "pid", process->pid);
		json_set_text(process->object, "error", wrong.text);
	}
	return 0;
}

int processes_load(struct processes *out, const struct family_files *files,
		   bool verbose, struct failure *why)
{
	int rc = 0;

	*out = (struct processes){
		.list = calloc(files->count + 1, sizeof(*out->list)),
	};
	if (!out->list)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (; out->count < files->count && !rc; out->count++)
		rc = load_one(&out->list[out->count],
			      &files->list[out->count], verbose, why);
	if (rc)
		processes_release(out);
	return rc;
}

void processes_release(struct processes *processes)
{
	for (size_t i = 0; i < processes->count; i++) {
		free(processes->list[i].name);
		free(processes->list[i].file_name);
		json_decref(processes->list[i].object);
	}
	free(processes->list);
	*processes = (struct processes){ 0 };
}
