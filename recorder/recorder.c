/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recorder.c - the recorder, from its beginning to its end */
#include "recorder/recorder_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_output(void *context, int stream, guest_addr addr,
		      uint64_t size)
{
	struct packet packet = { .kind = PACKET_OUTPUT,
				 .number = (uint64_t)stream,
				 .addr = addr, .size = size };

	effect(context, &packet);
}

static void on_notice(void *context, enum linux_notice kind,
		      const char *text)
{
	struct recorder *rec = context;

	if (rec->options->notice)
		rec->options->notice(NULL, kind, text);
}

static int create(struct recorder *rec, struct failure *why)
{
	struct memory_observer observer = effects_observer(rec);
	int rc;

	if (page_store_init(&rec->pages))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = vm_create(&rec->vm, linux_arch_of(&rec->options->program), true,
		       &observer, why);
	if (rc)
		return rc;
	rec->memory = vm_memory(rec->vm);
	rec->stream = stream_add(rec, (uint32_t)getpid(),
				 vm_thread_current(rec->vm));
	if (!rec->stream)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = linux_create(&rec->process, rec->vm, &rec->options->program, why);
	if (rc)
		return rc;
	rec->watch = (struct linux_observer){
		.context = rec,
		.output = on_output,
		.notice = on_notice,
		.before_fork = children_before_fork,
		.after_fork = children_after_fork,
		.before_rights = children_before_rights,
		.executed = programs_executed,
		.becomes = events_before_change,
		.thread_begins = streams_thread_begins,
		.thread_runs = streams_thread_runs,
		.thread_ends = streams_thread_ends,
		.idle = events_before_idle,
		.stops = events_before_stop,
	};
	linux_set_schedule(rec->process, &rec->options->schedule);
	linux_observe(rec->process, &rec->watch);
	pacing_init(&rec->pacing, rec->options->segment_steps,
		    memory_fault_cost());
	rc = trace_make_header(rec, why);
	if (!rc)
		rc = trace_open(rec, why);
	if (!rc && folder_open(&rec->trace.folder, rec->options->path))
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	return rc;
}

static void destroy(struct recorder *rec)
{
	trace_writer_close(rec->trace.writer);
	folder_close(&rec->trace.folder);
	if (linux_is_threaded(rec->process)) {
		linux_end(rec->process);
		return;		/* cprec is about to end, too */
	}
	linux_destroy(rec->process);
	vm_destroy(rec->vm);
	streams_release(rec);
	page_store_release(&rec->pages);
	moments_release(rec);
	programs_release(rec);
	free(rec->touched.list);
	free(rec->touched.fresh);
	free(rec->trace.path);
	free(rec);
}

static int end(struct recorder *rec, int rc, const struct linux_result *result,
	       struct failure *why)
{
	if (!rc && !rec->trace.unrecorded)
		rc = trace_finish(rec, result, why);
	destroy(rec);
	return rc;
}

/* An attribute, because clang does not take _Noreturn as part of the type. */
static void ended(void *context, int rc, const struct linux_result *result,
		  const struct failure *why) __attribute__((noreturn));

static void ended(void *context, int rc, const struct linux_result *result,
		  const struct failure *why)
{
	struct recorder *rec = context;
	const struct recorder_options *options = rec->options;
	struct failure own = { 0 };

	if (rc)
		own = *why;
	rc = end(rec, rc, result, &own);
	options->ended(options, rc, result, &own);
}

int recorder_run(const struct recorder_options *options,
		 struct linux_result *result, struct failure *why)
{
	struct recorder *rec = calloc(1, sizeof(*rec));
	const struct linux_driver driver = { rec, events_advance, ended };
	int rc;

	if (!rec)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rec->options = options;
	rec->trace.file = -1;
	rec->trace.folder = FOLDER_NONE;
	memset(result, 0, sizeof(*result));
	rc = create(rec, why);
	if (!rc)
		rc = trace_write_symbols(rec, why);
	if (!rc)
		rc = segment_start(rec, why);
	if (!rc)
		rc = linux_run(rec->process, &driver, result, why);
	return end(rec, rc, result, why);
}
