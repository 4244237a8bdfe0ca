/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recordings.c - recordings: opened, cancelled, described */
#include "library/handles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/family_files.h"
#include "vm/linux/abi/names.h"

/* Callers see the numbers. */
_Static_assert((int)CPREC_TRUNCATED == ERR_TRUNCATED &&
	       (int)CPREC_CORRUPT == ERR_CORRUPT &&
	       (int)CPREC_CHECKSUM == ERR_CHECKSUM &&
	       (int)CPREC_VERSION == ERR_VERSION &&
	       (int)CPREC_DIVERGED == ERR_DIVERGED &&
	       (int)CPREC_SYSTEM == ERR_SYSTEM &&
	       (int)CPREC_NO_MEMORY == ERR_NO_MEMORY &&
	       (int)CPREC_NOT_FOUND == ERR_NOT_FOUND &&
	       (int)CPREC_INPUT == ERR_INPUT &&
	       (int)CPREC_CANCELLED == ERR_CANCELLED, "errors are the same");

PUBLIC const char *cprec_version(void)
{
	return CPREC_RELEASE;
}

/* ------- which file ------- */

static int open_process(struct recording **out, const char *path,
			const char *process, struct failure *why)
{
	char *chosen;
	int rc;

	if (!process)
		return recording_open(out, path, why);
	rc = family_find(&chosen, path, process, why);
	if (!rc) {
		rc = recording_open(out, chosen, why);
		free(chosen);
	}
	return rc;
}

/* ------- opening ------- */

static int open_all(struct cprec_recording *handle, const char *path,
		    const char *process, struct failure *why)
{
	int rc = open_process(&handle->recording, path, process, why);

	if (!rc) {
		recording_cancel_by(handle->recording, &handle->cancelled);
		rc = lines_create(&handle->lines, handle->recording, why);
	}
	if (!rc)
		rc = query_create(&handle->query, handle->recording, why);
	if (!rc)
		rc = expressions_create(&handle->expressions, handle->lines,
					handle->query, why);
	if (!rc)
		rc = kernel_programs_create(&handle->programs, handle->query,
					    lines_names(handle->lines), why);
	if (!rc)
		expressions_frame_option(handle->expressions, "frame ");
	return rc;
}

PUBLIC int cprec_open(struct cprec_recording **out, const char *path,
		      const char *process, struct cprec_failure *why)
{
	struct cprec_recording *handle = calloc(1, sizeof(*handle));
	int rc;

	if (!handle)
		return failed(inner(why), ERR_NO_MEMORY, "out of memory");
	rc = open_all(handle, path, process, inner(why));
	if (rc) {
		cprec_close(handle);
		return rc;
	}
	*out = handle;
	return 0;
}

PUBLIC void cprec_close(struct cprec_recording *handle)
{
	if (!handle)
		return;
	while (handle->cursors)
		cprec_cursor_destroy(handle->cursors);
	close_files(handle);
	source_close(&handle->source);
	trail_destroy(handle->trail);
	free(handle->threads);
	thread_names_destroy(handle->thread_names);
	kernel_programs_destroy(handle->programs);
	kernel_destroy(handle->kernel);
	free(handle->followed);
	expressions_destroy(handle->expressions);
	query_destroy(handle->query);
	lines_destroy(handle->lines);
	recording_close(handle->recording);
	free(handle);
}

PUBLIC void cprec_cancel(struct cprec_recording *handle)
{
	atomic_store_explicit(&handle->cancelled, true, memory_order_relaxed);
}

PUBLIC void cprec_resume(struct cprec_recording *handle)
{
	atomic_store_explicit(&handle->cancelled, false, memory_order_relaxed);
}

PUBLIC const char *cprec_note(struct cprec_recording *handle)
{
	return query_note(handle->query);
}

PUBLIC void cprec_debug_folders(const char *folders)
{
	debug_search_folders(folders);
}

/* ------- what it is of ------- */

static int last_program(struct recording *recording,
			const struct program_image **out, struct failure *why)
{
	const struct recording_program *list;
	size_t count;
	int rc = recording_programs(recording, &list, &count, why);

	if (!rc)
		*out = &list[count - 1].image;
	return rc;
}

PUBLIC int cprec_describe(struct cprec_recording *handle,
			  const struct cprec_info **out,
			  struct cprec_failure *why)
{
	struct recording *recording = handle->recording;
	const struct trace_reader *reader = recording_reader(recording);
	const struct summary *summary = recording_summary(recording);
	const struct meta *meta = recording_meta(recording);
	struct cprec_info *info = &handle->info;
	const struct program_image *image;
	int rc = question_begin(handle, false, why);

	if (!rc)
		rc = last_program(recording, &image, inner(why));
	if (!rc)
		rc = recording_tid(recording, 0, &info->pid, inner(why));
	if (rc)
		return rc;
	info->path = trace_reader_path(reader);
	info->start = (struct cprec_position){ recording_start(recording) };
	info->end = (struct cprec_position){ recording_end(recording),
					     CPREC_EVENTS_ALL };
	info->arch = recording_reg_table(recording)->name;
	info->address_size = reg_word(recording_reg_table(recording));
	info->program = image->path;
	info->argv = (const char *const *)image->argv;
	info->directory = image->directory;
	info->host = meta->host;
	info->made_by = meta->made_by;
	info->started = (int64_t)meta->started;
	info->threads = recording_threads(recording);
	info->key_frames = recording_segments(recording);
	info->file_size = trace_reader_size(reader);
	info->is_complete = summary && trace_reader_is_complete(reader);
	info->exit_signal = summary ? summary->exit_signal : 0;
	info->is_machine = recording_is_machine(recording);
	info->has_become = summary && !info->is_machine &&
			   summary->exit_code == SUMMARY_BECAME;
	info->exit_code = summary && !info->has_become ? summary->exit_code : 0;
	*out = info;
	return 0;
}

/* What its recording says; texts last as long as that is open. */
static int describe_process(struct cprec_process *out,
			    struct recording *recording, struct failure *why)
{
	const struct recording_program *list;
	const struct program_image *last;
	size_t count;
	int rc = recording_tid(recording, 0, &out->pid, why);

	if (!rc)
		rc = recording_programs(recording, &list, &count, why);
	if (rc)
		return rc;
	last = &list[count - 1].image;
	out->program = last->path;
	out->called = last->argc ? last->argv[0] : last->path;
	return 0;
}

/* One that cannot be read has the number that its file's name says. */
static int tell_process(struct visits *visits, const struct family_file *file,
			int (*visit)(void *context,
				     const struct cprec_process *process))
{
	struct cprec_process process = {
		.path = file->path, .is_this = file->is_this,
		.pid = file->member.pid,
	};
	struct recording *recording = NULL;
	char name[40];
	int rc = recording_open(&recording, file->path, visits->why);

	if (!rc)
		rc = describe_process(&process, recording, visits->why);
	if (!rc || process.pid) {
		snprintf(name, sizeof(name), file->member.turn > 1 ? "%u-%u" :
			 "%u", process.pid, file->member.turn);
		process.name = name;
		rc = visits_told(visits, visit(visits->context, &process));
	}
	recording_close(recording);
	return rc;
}

PUBLIC int cprec_each_process(struct cprec_recording *handle,
			      int (*visit)(void *context,
					   const struct cprec_process *process),
			      void *context, struct cprec_failure *why)
{
	struct visits visits = { .of = handle, .why = inner(why),
				 .context = context };
	struct family_files files;
	int rc = question_begin(handle, false, why);

	if (!rc)
		rc = family_files_find(&files, trace_reader_path(
			recording_reader(handle->recording)), inner(why));
	if (rc)
		return rc;
	for (size_t i = 0; i < files.count && !rc; i++)
		if (!files.list[i].is_empty)
			rc = tell_process(&visits, &files.list[i], visit);
	family_files_release(&files);
	return visits_result(&visits, rc);
}

PUBLIC int cprec_each_program(struct cprec_recording *handle,
			      int (*visit)(void *context,
					   const struct cprec_program *program),
			      void *context, struct cprec_failure *why)
{
	const struct recording_program *list = NULL;
	size_t count = 0;
	int rc = question_begin(handle, false, why);

	if (!rc)
		rc = recording_programs(handle->recording, &list, &count,
					inner(why));
	for (size_t i = 0; i < count && !rc; i++) {
		const struct program_image *image = &list[i].image;
		const struct cprec_program program = {
			.at = { list[i].time }, .path = image->path,
			.argv = (const char *const *)image->argv,
			.directory = image->directory,
		};

		rc = visit(context, &program);
	}
	return rc;
}

/* What it did is lost, of a recording that was cut short. */
static bool is_lost(const struct recording *recording,
		    const struct recording_thread *thread)
{
	return thread->first > recording_end(recording);
}

static int list_threads(struct recording *recording, struct cprec_thread *list,
			size_t *count, struct failure *why)
{
	*count = 0;
	for (uint32_t i = 0; i < recording_threads(recording); i++) {
		struct recording_thread one;
		int rc = recording_thread(recording, i, &one, why);

		if (rc)
			return rc;
		if (is_lost(recording, &one))
			continue;
		list[(*count)++] = (struct cprec_thread) {
			.tid = one.tid, .first = one.first, .last = one.last,
			.instructions = one.steps - one.steps_before,
			.has_ended = one.has_ended,
		};
	}
	return 0;
}

/* A debugger asks whenever it stops, and streams are read to answer. */
static int find_threads(struct cprec_recording *handle, struct failure *why)
{
	struct cprec_thread *list;
	int rc;

	if (handle->threads)
		return 0;
	list = calloc(recording_threads(handle->recording) + 1, sizeof(*list));
	if (!list)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = list_threads(handle->recording, list, &handle->thread_count, why);
	if (rc)
		free(list);
	else
		handle->threads = list;
	return rc;
}

PUBLIC int cprec_each_thread(struct cprec_recording *handle,
			     int (*visit)(void *context,
					  const struct cprec_thread *thread),
			     void *context, struct cprec_failure *why)
{
	int rc = question_begin(handle, false, why);

	if (!rc)
		rc = find_threads(handle, inner(why));
	for (size_t i = 0; i < handle->thread_count && !rc; i++)
		rc = visit(context, &handle->threads[i]);
	return rc;
}

/* ------- how it ended ------- */

static int explain(struct cprec_recording *handle, const struct crash *crash,
		   struct failure *why)
{
	struct cprec_crash *out = &handle->crash;
	struct replayer *replayer;
	struct vm_stop fault;
	int rc = query_replayer(handle->query, &replayer, why);

	if (!rc)
		rc = replayer_seek(replayer, &crash->at, why);
	if (!rc)
		rc = crash_explain(crash, replayer, &fault, why);
	if (rc)
		return rc;
	out->has_addr = fault.fault == FAULT_MEMORY;
	out->is_write = out->has_addr && fault.access == ACCESS_WRITE;
	out->is_fetch = out->has_addr && fault.access == ACCESS_FETCH;
	out->is_mapped = out->has_addr && fault.mapped;
	out->addr = out->has_addr ? fault.addr : 0;
	return 0;
}

PUBLIC int cprec_find_crash(struct cprec_recording *handle,
			    const struct cprec_crash **out,
			    struct cprec_failure *why)
{
	struct crash crash;
	const char *name;
	int rc = question_begin(handle, true, why);

	if (!rc)
		rc = crash_find(&crash, handle->recording, inner(why));
	if (rc)
		return rc;
	name = linux_signal_name(crash.signal);
	snprintf(handle->crash_name, sizeof(handle->crash_name), "%s",
		 name ? name : "");
	handle->crash = (struct cprec_crash) {
		.signal = (uint32_t)crash.signal,
		.signal_name = name ? handle->crash_name : NULL,
		.at = from_position(crash.at), .tid = crash.tid,
		.is_fault = crash.is_fault,
	};
	if (crash.is_fault)
		rc = explain(handle, &crash, inner(why));
	if (!rc)
		*out = &handle->crash;
	return rc;
}
