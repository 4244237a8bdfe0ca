/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_events.c - runs the guest from event to event, and records each */
#include "recorder/recorder_internal.h"

#include <time.h>

/*
 * A run that need not be exact stops before the block that exceeds its budget.
 * Blocks have up to 512 steps, so a smaller budget might execute nothing.
 */
#define EXACT_BELOW 1024

/*
 * A segment ends when its streams have this many bytes: a replay unpacks them
 * all before it starts.  A choice.
 */
#define STREAM_MOST (16u << 20)

/*
 * How much is lost at most when the recorder is killed, in ns: of a process that
 * began just now, less.
 */
#define FLUSH_FIRST INT64_C(100000000)
#define FLUSH_MOST INT64_C(1000000000)

/*
 * Streams are also flushed before the program waits, because it may wait for
 * ever: 16 times in a row, and on average once in 20 ms.  Each flush ends
 * chunks, and small chunks compress badly.  A choice.
 */
#define FLUSH_IDLE_TIMES 16
#define FLUSH_IDLE_TIME 20000000

/*
 * How much must wait, in bytes or events, before the clock is looked at.  A
 * choice: looking at it takes as long as recording an event.
 */
#define FLUSH_BYTES (1u << 20)
#define FLUSH_EVENTS 64

/* ------- between events ------- */

/* Writes all that has happened, and behind it the time until which that is. */
static int flush(struct recorder *rec, struct failure *why)
{
	rec->segment.flushed += streams_waiting(rec);
	moments_look(rec, true);
	return segment_flush(rec, false, why);
}

static int64_t ns_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - then->tv_sec) * INT64_C(1000000000) +
	       now.tv_nsec - then->tv_nsec;
}

static bool may_lose_no_more(struct recorder *rec)
{
	int64_t since = ns_since(&rec->flush.time);

	if (since >= FLUSH_MOST)
		return true;
	if (since < FLUSH_FIRST << rec->flush.early)
		return false;
	rec->flush.early++;
	return true;
}

static int after_event(struct recorder *rec, bool looks, struct failure *why)
{
	if (rec->error) {
		if (why)
			*why = rec->why;
		return rec->error;
	}
	moments_look(rec, false);
	if (rec->trace.mapped_code) {
		rec->trace.mapped_code = false;
		if (trace_write_symbols(rec, why))
			return ERR_SYSTEM;
	}
	if (!looks && rec->flush.events < FLUSH_EVENTS &&
	    rec->stream->events.size < FLUSH_BYTES &&
	    prediction_waiting(&rec->stream->reads) < FLUSH_BYTES)
		return 0;
	rec->flush.events = 0;
	if (streams_waiting(rec) < FLUSH_BYTES && !may_lose_no_more(rec))
		return 0;
	return flush(rec, why);
}

static bool may_flush_idle(struct recorder *rec)
{
	struct timespec now;
	int64_t time, least;

	clock_gettime(CLOCK_MONOTONIC, &now);
	time = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
	least = time - (int64_t)FLUSH_IDLE_TIMES * FLUSH_IDLE_TIME;
	if (rec->flush.paid < least)
		rec->flush.paid = least;
	if (rec->flush.paid + FLUSH_IDLE_TIME > time)
		return false;
	rec->flush.paid += FLUSH_IDLE_TIME;
	return true;
}

void events_before_idle(void *context)
{
	struct recorder *rec = context;

	if (rec->error || rec->trace.unrecorded)
		return;
	moments_look(rec, true);
	if ((streams_waiting(rec) || rec->moments.count) &&
	    may_flush_idle(rec))
		rec->error = flush(rec, &rec->why);
}

void events_before_stop(void *context)
{
	struct recorder *rec = context;

	if (rec->error || rec->trace.unrecorded || rec->trace.child_pending)
		return;
	rec->error = flush(rec, &rec->why);
	if (!rec->error)
		rec->error = trace_writer_wait(rec->trace.writer, &rec->why);
}

/* ------- events ------- */

static int64_t exit_value(const struct linux_result *result)
{
	return result->outcome == LINUX_KILLED ? -(int64_t)result->status :
						 result->status & 0xff;
}

static void tell_death(struct recorder *rec, const struct vm_stop *stop,
		       const struct linux_result *result)
{
	const struct recorder_death death = {
		.path = rec->trace.path,
		.signal = (uint64_t)result->status,
		.vm = rec->vm,
		.stop = stop,
	};

	if (result->outcome == LINUX_KILLED && rec->options->died)
		rec->options->died(rec->options, &death);
}

/* What the thread has done is its last event, if it does not go on. */
static void end_thread(struct recorder *rec, const struct linux_result *result)
{
	struct packet last = { .kind = PACKET_EXIT,
			       .result = exit_value(result) };

	if (result->outcome == LINUX_GOES_ON)
		return;
	event_begin(rec);
	event_end(rec, &last);
}

static void end_with(struct recorder *rec, enum packet_kind kind,
		     const struct linux_result *result)
{
	struct packet packet = { .kind = kind, .number = result->number,
				 .result = result->value };

	if (kind == PACKET_SYSCALL && rec->stream->has_left)
		packet.kind = PACKET_RETURN;
	event_end(rec, &packet);
	end_thread(rec, result);
}

void events_before_change(void *context, const struct linux_result *last)
{
	struct recorder *rec = context;

	if (rec->trace.unrecorded)
		return;
	end_with(rec, PACKET_SYSCALL, last);
	if (!rec->error)
		rec->error = trace_finish(rec, last, &rec->why);
	if (!rec->error)
		children_go_on(rec);
}

/* A recording that begins behind the call that made it necessary. */
static int start_child(struct recorder *rec, const struct linux_result *result,
		       struct failure *why)
{
	int rc = trace_open(rec, why);

	rec->trace.child_pending = false;
	rec->stream->in_event = false;
	if (!rc)
		rc = trace_write_symbols(rec, why);
	if (!rc)
		rc = segment_start(rec, why);
	end_thread(rec, result);
	return rc;
}

static int do_syscall(struct recorder *rec, struct linux_result *result,
		      struct failure *why)
{
	int rc;

	event_begin(rec);
	rc = linux_syscall(rec->process, result, why);
	if (rc || rec->trace.unrecorded)
		return rc;
	if (rec->trace.child_pending)
		return start_child(rec, result, why);
	memory_doubt_shared(rec->memory);
	rec->stream->tid = linux_tid(rec->process);	/* exec changes it */
	if (result->all_registers)
		effect_registers(rec, NULL);
	end_with(rec, PACKET_SYSCALL, result);
	tell_death(rec, NULL, result);
	return programs_write(rec, why);
}

static int do_fault(struct recorder *rec, const struct vm_stop *stop,
		    struct linux_result *result, struct failure *why)
{
	struct reg_file before;
	int rc;

	vm_registers(rec->vm, &before);
	event_begin(rec);
	rc = linux_fault(rec->process, stop, result, why);
	if (rc)
		return rc;
	effect_registers(rec, &before);
	end_with(rec, result->is_fixed_call ? PACKET_FIXED_CALL : PACKET_FAULT,
		 result);
	tell_death(rec, stop, result);
	return 0;
}

static int do_signals(struct recorder *rec, struct linux_result *result,
		      struct failure *why)
{
	while (result->outcome == LINUX_GOES_ON &&
	       linux_has_signal(rec->process)) {
		struct reg_file before;
		int rc;

		vm_registers(rec->vm, &before);
		event_begin(rec);
		rc = linux_deliver(rec->process, result, why);
		if (rc)
			return rc;
		effect_registers(rec, &before);
		end_with(rec, PACKET_SIGNAL, result);
		tell_death(rec, NULL, result);
	}
	return 0;
}

static void do_value(struct recorder *rec, const struct vm_stop *stop)
{
	struct packet packet = { .kind = PACKET_VALUE };
	struct reg_file before;

	vm_registers(rec->vm, &before);
	event_begin(rec);
	vm_emulate(rec->vm, stop);
	effect_registers(rec, &before);
	event_end(rec, &packet);
}

/* A value that the program may not have is a fault, and it may also trap. */
static int do_value_or_fault(struct recorder *rec, struct vm_stop *stop,
			     struct linux_result *result, struct failure *why)
{
	if (!linux_allows(rec->process, stop))
		return do_fault(rec, stop, result, why);
	do_value(rec, stop);
	return vm_trap(rec->vm, stop) ? do_fault(rec, stop, result, why) : 0;
}

static bool is_key_frame_due(const struct recorder *rec)
{
	struct segment_costs costs = segment_costs(rec);

	return rec->segment.flushed + rec->stream->events.size +
			       prediction_waiting(&rec->stream->reads) >
		       STREAM_MOST ||
	       pacing_is_due(&rec->pacing, &costs);
}

/* Other processes wait for memory that they share with this one. */
static void give_way(struct recorder *rec)
{
	struct packet packet = { .kind = PACKET_GIVE_WAY };

	event_begin(rec);
	memory_doubt_shared(rec->memory);
	vm_thread_resumes(rec->vm);
	event_end(rec, &packet);
}

int events_advance(void *context, uint64_t budget, bool exact,
		   struct linux_result *result, struct failure *why)
{
	struct recorder *rec = context;
	uint64_t most = memory_turn(rec->memory);
	uint64_t look = pacing_look_steps(&rec->pacing);
	struct vm_stop stop;
	int rc;

	if (most > look)
		most = look;
	if (budget > most) {
		budget = most;
		exact = most < EXACT_BELOW;
	}
	rc = vm_run(rec->vm, budget, exact, &stop, why);
	if (rc)
		return rc;
	switch (stop.kind) {
	case VM_STOP_SYSCALL:
		rc = do_syscall(rec, result, why);
		break;
	case VM_STOP_FAULT:
		rc = do_fault(rec, &stop, result, why);
		break;
	case VM_STOP_VALUE:
		rc = do_value_or_fault(rec, &stop, result, why);
		break;
	case VM_STOP_BUDGET:
	case VM_STOP_ASKED:
	case VM_STOP_BREAK:
		break;
	}
	if (!rc)
		rc = do_signals(rec, result, why);
	if (!rc && memory_is_wanted(rec->memory))
		give_way(rec);
	if (rec->trace.unrecorded)
		return rc;
	if (!rc)
		rc = after_event(rec, stop.kind == VM_STOP_BUDGET, why);
	if (!rc && result->outcome == LINUX_GOES_ON && is_key_frame_due(rec)) {
		rc = segment_start(rec, why);
		rec->segment.flushed = 0;
	}
	return rc;
}
