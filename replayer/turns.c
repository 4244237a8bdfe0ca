/* SPDX-License-Identifier: GPL-2.0-or-later */
/* turns.c - the threads of a replay: whose turn it is, and where they stand */
#include "replayer/replayer_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/error.h"

/* Frees what a thread has in the guest; the guest's first one stays. */
static void free_thread(struct replayer *rep, struct replay_thread *thread)
{
	if (thread->vm != rep->home)
		vm_thread_destroy(rep->vm, thread->vm);
	thread->vm = NULL;
}

/*
 * Frees all threads but the guest's first one, which becomes the present one.
 */
static void free_threads(struct replayer *rep)
{
	vm_thread_switch(rep->vm, rep->home);
	for (size_t i = 0; i < recording_threads(rep->recording); i++) {
		free_thread(rep, &rep->threads[i]);
		rep->threads[i] = (struct replay_thread) { 0 };
	}
}

void turns_start(struct replayer *rep, uint32_t stream)
{
	free_threads(rep);
	rep->stream = stream;
	rep->threads[stream].vm = rep->home;
	rep->threads[stream].pending = PENDING_UNKNOWN;
}

void turns_end(struct replayer *rep)
{
	if (rep->vm && rep->threads)
		free_threads(rep);
}

/* A thread that this replay has not seen stands as its key frame says. */
static int make_thread(struct replayer *rep, size_t segment, uint32_t stream,
		       struct vm_thread **out, struct failure *why)
{
	struct key_frame frame;
	struct vm_thread *present = vm_thread_current(rep->vm);
	int rc = recording_thread_frame(rep->recording, segment, stream,
					&frame, why);

	if (rc)
		return rc;
	if (frame.time > vm_steps(rep->vm))
		rc = failed(why, ERR_CORRUPT,
			    "'%s': thread %" PRIu32 " runs before it begins at"
			    " t=%" PRIu64,
			    trace_reader_path(recording_reader(rep->recording)),
			    frame.tid, frame.time);
	if (!rc)
		rc = vm_thread_create(rep->vm, out, why);
	if (!rc) {
		vm_thread_switch(rep->vm, *out);
		vm_set_registers(rep->vm, &frame.regs);
		vm_thread_switch(rep->vm, present);
	}
	key_frame_release(&frame);
	return rc;
}

int turns_switch(struct replayer *rep, size_t segment, uint32_t stream,
		 struct failure *why)
{
	struct replay_thread *before = &rep->threads[rep->stream];
	struct replay_thread *after = &rep->threads[stream];
	int rc;

	if (before == after)
		return 0;
	observers_turn(rep, false);
	if (!after->vm) {
		rc = make_thread(rep, segment, stream, &after->vm, why);
		if (rc)
			return rc;
		after->pending = PENDING_UNKNOWN;
	}
	vm_thread_switch(rep->vm, after->vm);
	rep->stream = stream;
	observers_turn(rep, true);
	if (before->has_ended)
		free_thread(rep, before);
	return 0;
}

/* ------- keeping them ------- */

static void save_registers(struct replayer *rep, struct vm_thread *thread,
			   struct reg_file *out)
{
	struct vm_thread *present = vm_thread_current(rep->vm);

	vm_thread_switch(rep->vm, thread);
	vm_registers(rep->vm, out);
	vm_thread_switch(rep->vm, present);
}

int turns_save(struct replayer *rep, struct saved_turns *saved)
{
	size_t count = recording_threads(rep->recording);

	*saved = (struct saved_turns) {
		.stream = rep->stream,
		.list = calloc(count, sizeof(*saved->list)),
	};
	if (!saved->list)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		const struct replay_thread *thread = &rep->threads[i];
		struct saved_thread *kept = &saved->list[saved->count];

		if (!thread->vm && !thread->has_ended)
			continue;
		kept->stream = i;
		kept->thread = *thread;
		kept->thread.vm = NULL;
		kept->has_regs = thread->vm != NULL;
		if (thread->vm)
			save_registers(rep, thread->vm, &kept->regs);
		saved->count++;
	}
	return 0;
}

static int restore_thread(struct replayer *rep, const struct saved_thread *kept,
			  struct failure *why)
{
	struct replay_thread *thread = &rep->threads[kept->stream];
	struct vm_thread *vm = thread->vm;	/* home's, or none yet */
	int rc = 0;

	if (kept->has_regs && !vm)
		rc = vm_thread_create(rep->vm, &vm, why);
	if (rc)
		return rc;
	*thread = kept->thread;
	thread->vm = vm;
	if (!kept->has_regs)
		return 0;
	vm_thread_switch(rep->vm, vm);
	vm_set_registers(rep->vm, &kept->regs);
	vm_thread_switch(rep->vm, rep->home);
	return 0;
}

int turns_restore(struct replayer *rep, const struct saved_turns *saved,
		  struct failure *why)
{
	int rc = 0;

	turns_start(rep, saved->stream);
	for (size_t i = 0; i < saved->count && !rc; i++)
		rc = restore_thread(rep, &saved->list[i], why);
	return rc;
}

/* ------- looking ------- */

uint32_t replayer_stream(const struct replayer *rep)
{
	return rep->stream;
}

bool replayer_in_call(const struct replayer *rep, unsigned *size)
{
	const struct replay_thread *thread = &rep->threads[rep->stream];

	*size = thread->pending_size;
	return thread->pending == PENDING_CALL;
}

bool replayer_last_fault(const struct replayer *rep, struct vm_stop *out)
{
	if (rep->has_fault)
		*out = rep->fault;
	return rep->has_fault;
}


static int tid_now(struct replayer *rep, uint32_t stream, uint32_t *tid,
		   struct failure *why)
{
	return recording_tid(rep->recording,
			     recording_thread_of(rep->recording, stream,
						 replayer_time(rep)),
			     tid, why);
}

static int is_no_more(struct replayer *rep, uint32_t stream,
		      struct failure *why)
{
	struct position at = replayer_position(rep);
	char text[POSITION_TEXT];
	uint32_t tid;
	int rc = tid_now(rep, stream, &tid, why);

	if (rc)
		return rc;
	return failed(why, ERR_NOT_FOUND,
		      "thread %" PRIu32 " has ended before t=%s", tid,
		      position_text(text, &at));
}

/* The registers of a thread that this replay has not seen. */
static int registers_as_recorded(struct replayer *rep, uint32_t stream,
				 struct reg_file *out, struct failure *why)
{
	uint64_t first = recording_first(rep->recording, stream);
	struct key_frame frame;
	bool has_ended;
	uint32_t tid;
	int rc = tid_now(rep, stream, &tid, why);

	if (rc)
		return rc;
	if (first > replayer_time(rep))
		return failed(why, ERR_NOT_FOUND,
			      "thread %" PRIu32 " begins at t=%" PRIu64
			      ", after t=%" PRIu64,
			      tid, first, replayer_time(rep));
	/* In what this replay has executed, the thread had no turn. */
	rc = recording_has_ended(rep->recording, stream, rep->base, &has_ended,
				 why);
	if (rc)
		return rc;
	if (has_ended)
		return is_no_more(rep, stream, why);
	rc = recording_thread_frame(rep->recording, rep->segment, stream,
				    &frame, why);
	if (rc)
		return rc;
	*out = frame.regs;
	key_frame_release(&frame);
	return 0;
}

bool replayer_has_ended(const struct replayer *rep)
{
	return rep->threads[rep->stream].has_ended;
}

/* A thread that ended is no more, but for the one that the process ended with. */
static bool is_last(const struct replayer *rep, uint32_t stream)
{
	return rep->stream == stream && !events_next(rep) &&
	       recording_summary(rep->recording) &&
	       replayer_time(rep) == recording_end(rep->recording);
}

int turns_registers(struct replayer *rep, uint32_t stream,
		    struct reg_file *out, struct failure *why)
{
	const struct replay_thread *thread = &rep->threads[stream];

	assert(stream < recording_threads(rep->recording));
	if ((thread->has_ended && !is_last(rep, stream)) ||
	    recording_was_replaced(rep->recording, stream, replayer_time(rep)))
		return is_no_more(rep, stream, why);
	if (!thread->vm)
		return registers_as_recorded(rep, stream, out, why);
	save_registers(rep, thread->vm, out);
	return 0;
}

const char *turns_name(struct replayer *rep, uint32_t stream, char *text,
		       size_t room)
{
	uint32_t tid;

	text[0] = '\0';
	if (recording_threads(rep->recording) > 1 &&
	    !tid_now(rep, stream, &tid, NULL))
		snprintf(text, room, ", thread %" PRIu32, tid);
	return text;
}
