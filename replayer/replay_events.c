/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replay_events.c - running from event to event, within a segment */
#include "replayer/replayer_internal.h"

#include <inttypes.h>
#include <stdio.h>

#include "formats/error.h"
#include "replayer/guests.h"

static const char *stop_name(const struct vm_stop *stop)
{
	switch (stop->kind) {
	case VM_STOP_SYSCALL:
		return "a system call";
	case VM_STOP_FAULT:
		return "a fault";
	case VM_STOP_VALUE:
		return "an instruction whose result is captured";
	default:
		return "no event";
	}
}

/* The execution is not the recorded one: says where, and what differs. */
static int diverged(struct replayer *rep, const struct script_event *event,
		    const struct vm_stop *stop, struct failure *why)
{
	guest_addr pc = vm_reg(rep->vm, rep->regs->pc);
	uint64_t t = vm_steps(rep->vm);
	char text[96], expected[80] = "no event", thread[32];
	unsigned size;

	if (event)
		snprintf(expected, sizeof(expected), "%s at t=%" PRIu64,
			 packet_name(event->packet.kind),
			 rep->start + event->time);
	turns_name(rep, rep->stream, thread, sizeof(thread));
	if (stop->kind == VM_STOP_SYSCALL) {
		/* It has retired. */
		t--;
		pc -= stop->size;
	}
	vm_disassemble(rep->vm, pc, text, sizeof(text), &size);
	return failed(why, ERR_DIVERGED,
		      "the replay diverged at t=%" PRIu64 "%s, 0x%" PRIx64
		      " (%s): expected %s, found %s",
		      t, thread, pc, text, expected, stop_name(stop));
}

static int run_guest(struct replayer *rep, uint64_t steps,
		     struct vm_stop *stop, struct failure *why)
{
	int rc;

	if (rep->passes)
		vm_break_pass(rep->vm);
	rep->passes = false;
	rep->running = true;
	rc = vm_run(rep->vm, steps, true, stop, why);
	rep->running = false;
	if (!rc && rep->error) {
		rc = rep->error;
		if (why)
			*why = rep->why;
	}
	return rc;
}

/*
 * How far it runs before it asks whether it is still wanted: some 5 ms, or a
 * tenth of a second while much is told.
 */
#define STEPS_AT_ONCE (2u << 20)

/* At most to `end`; less far only if that may be cancelled. */
static int run_on(struct replayer *rep, uint64_t end, struct vm_stop *stop,
		  struct failure *why)
{
	uint64_t left = end - vm_steps(rep->vm);

	if (!rep->cancelled)
		return run_guest(rep, left, stop, why);
	if (atomic_load_explicit(rep->cancelled, memory_order_relaxed))
		return failed(why, ERR_CANCELLED, "cancelled");
	return run_guest(rep, left < STEPS_AT_ONCE ? left : STEPS_AT_ONCE,
			 stop, why);
}

static bool is_wanted(const struct wanted_breaks *breaks, guest_addr pc)
{
	for (size_t i = 0; i < breaks->count && !breaks->all; i++)
		if (breaks->list[i] == pc)
			return true;
	return breaks->all;
}

static bool goes_on(struct replayer *rep, const struct vm_stop *stop,
		    uint64_t end)
{
	switch (stop->kind) {
	case VM_STOP_ASKED:
		return !rep->halts;
	case VM_STOP_BUDGET:
		return vm_steps(rep->vm) < end;
	case VM_STOP_BREAK:
		rep->passes = !is_wanted(&rep->breaks, stop->pc);
		return rep->passes;
	default:
		return false;
	}
}

/* REPLAYER_STOPPED if it was to stop, or at a breakpoint. */
static int run(struct replayer *rep, uint64_t steps, struct vm_stop *stop,
	       struct failure *why)
{
	struct replay_thread *thread = &rep->threads[rep->stream];
	uint64_t end = vm_steps(rep->vm) + steps;
	int rc;

	/* What has not taken effect has stopped the thread before. */
	if (thread->pending == PENDING_CALL ||
	    thread->pending == PENDING_TRAP) {
		*stop = (struct vm_stop) {
			.kind = thread->pending == PENDING_CALL ?
					VM_STOP_SYSCALL : VM_STOP_FAULT,
			.size = thread->pending_size,
		};
		return 0;
	}
	thread->pending = PENDING_NONE;
	doubtful_forget_peeks(rep);
	rep->at_break = false;
	do {
		rc = run_on(rep, end, stop, why);
	} while (!rc && goes_on(rep, stop, end));
	if (!rc && stop->kind == VM_STOP_ASKED) {
		rep->halts = false;
		return REPLAYER_STOPPED;
	}
	rep->at_break = !rc && stop->kind == VM_STOP_BREAK;
	if (rep->at_break)
		rep->met = *stop;
	return rep->at_break ? REPLAYER_STOPPED : rc;
}

void replayer_halt(struct replayer *rep)
{
	rep->halts = true;
	if (rep->running)
		rep->guest->interrupt(rep);
}

const struct script_event *events_next(const struct replayer *rep)
{
	return rep->next < rep->script.event_count ?
		       &rep->script.events[rep->next] : NULL;
}

/*
 * The thread gives the processor away, perhaps during a system call: then its
 * instruction has retired, but what it does comes later.
 */
static bool may_end_slice(struct replayer *rep, const struct vm_stop *stop,
			  uint64_t t)
{
	struct replay_thread *thread = &rep->threads[rep->stream];

	if (stop->kind != VM_STOP_SYSCALL || vm_steps(rep->vm) != t)
		return stop->kind == VM_STOP_BUDGET;
	thread->pending = PENDING_CALL;
	thread->pending_size = stop->size;
	return true;
}

/* One behind a trap has been noted when the trap was met. */
static void note_fault(struct replayer *rep, const struct vm_stop *stop)
{
	if (rep->threads[rep->stream].pending == PENDING_TRAP ||
	    (stop->kind != VM_STOP_FAULT && stop->kind != VM_STOP_VALUE))
		return;
	rep->fault = *stop;
	rep->has_fault = true;
	/* One that the guest's kernel forbids. */
	if (stop->kind == VM_STOP_VALUE)
		rep->fault.fault = FAULT_PRIVILEGE;
}

/* Retires an instruction that is captured, which may also trap. */
static void skip(struct replayer *rep, const struct vm_stop *stop)
{
	struct vm_stop trap;

	vm_skip(rep->vm, stop);
	if (!vm_trap(rep->vm, &trap))
		return;
	note_fault(rep, &trap);
	rep->threads[rep->stream].pending = PENDING_TRAP;
}

/*
 * Brings the guest to the event, whose time it has reached or is about to:
 * an event that is an instruction is executed up to its stop.
 */
static int meet(struct replayer *rep, const struct script_event *event,
		struct failure *why)
{
	uint64_t at = rep->start + event->time;
	uint64_t now = vm_steps(rep->vm);
	struct vm_stop stop = { 0 };
	bool as_expected = true;
	int rc = 0;

	switch (event->packet.kind) {
	case PACKET_SYSCALL:
		rc = run(rep, at - now, &stop, why);
		as_expected = stop.kind == VM_STOP_SYSCALL;
		break;
	case PACKET_RETURN:
		as_expected = rep->threads[rep->stream].pending != PENDING_NONE;
		break;
	case PACKET_VALUE:
		rc = run(rep, at - now, &stop, why);
		as_expected = stop.kind == VM_STOP_VALUE &&
			      vm_steps(rep->vm) == at - 1;
		if (!rc && as_expected)
			skip(rep, &stop);
		break;
	case PACKET_FAULT:
		rc = run(rep, at - now + 1, &stop, why);
		/* The guest's kernel may forbid programs to ask a clock. */
		as_expected = stop.kind == VM_STOP_FAULT ||
			      (stop.kind == VM_STOP_VALUE && stop.is_clock);
		note_fault(rep, &stop);
		break;
	case PACKET_FIXED_CALL:
		rc = run(rep, at - now + 1, &stop, why);
		as_expected = stop.kind == VM_STOP_FAULT;
		break;
	case PACKET_GIVE_WAY:
	case PACKET_SLICE:
		if (at > now)
			rc = run(rep, at - now, &stop, why);
		as_expected = !rc && may_end_slice(rep, &stop, at);
		break;
	default:
		if (at > now)
			rc = run(rep, at - now, &stop, why);
		as_expected = stop.kind == VM_STOP_BUDGET;
	}
	if (rc)
		return rc;
	if (!as_expected || vm_steps(rep->vm) != at)
		return diverged(rep, event, &stop, why);
	return effects_apply(rep, event, why);
}

/*
 * Whether a thread may stand at `t` inside a system call that does not come
 * back in its slice: the slice ends there, or the segment, or a thread that is
 * alone.
 */
static bool may_be_inside(const struct replayer *rep, uint64_t t)
{
	const struct script_event *next = events_next(rep);

	if (next)
		return next->packet.kind == PACKET_SLICE &&
		       rep->start + next->time == t;
	return rep->alone ||
	       t == recording_time(rep->recording, rep->segment + 1);
}

/* The guest has stopped behind a trap, which is the event that comes next. */
static bool may_be_trapped(struct replayer *rep, const struct vm_stop *stop,
			   uint64_t t)
{
	const struct script_event *next = events_next(rep);

	if (stop->kind != VM_STOP_FAULT || !next ||
	    next->packet.kind != PACKET_FAULT || rep->start + next->time != t)
		return false;
	note_fault(rep, stop);
	rep->threads[rep->stream].pending = PENDING_TRAP;
	return true;
}

/* Runs on between events, or from the last one to the segment's end. */
static int run_plain(struct replayer *rep, uint64_t t, struct failure *why)
{
	struct vm_stop stop;
	int rc = run(rep, t - vm_steps(rep->vm), &stop, why);
	bool as_expected = stop.kind == VM_STOP_BUDGET;

	if (rc)
		return rc;
	if (may_be_inside(rep, t))
		as_expected = may_end_slice(rep, &stop, t);
	as_expected |= may_be_trapped(rep, &stop, t);
	if (!as_expected || vm_steps(rep->vm) != t)
		return diverged(rep, events_next(rep), &stop, why);
	return 0;
}

uint32_t events_done(const struct replayer *rep)
{
	uint64_t now = vm_steps(rep->vm);
	uint32_t done = 0;

	for (size_t i = rep->next; i-- > 0;) {
		const struct script_event *event = &rep->script.events[i];

		if (rep->start + event->time < now)
			break;
		done += position_counts(event->packet.kind);
	}
	return done;
}

/* Whether an event comes before the place where `events` at `t` are done. */
static bool is_before(const struct replayer *rep,
		      const struct script_event *event, uint64_t t,
		      uint32_t events)
{
	uint64_t time = rep->start + event->time;

	if (time != t || events == EVENTS_ALL ||
	    !position_counts(event->packet.kind))
		return time <= t;
	return vm_steps(rep->vm) < t ? events : events_done(rep) < events;
}

int events_run(struct replayer *rep, uint64_t t, uint32_t events,
	       struct failure *why)
{
	int rc = 0;

	while (!rc) {
		const struct script_event *event = events_next(rep);

		if (event && is_before(rep, event, t, events)) {
			rc = meet(rep, event, why);
			if (!rc && rep->halts)
				rc = REPLAYER_STOPPED;
			continue;
		}
		if (vm_steps(rep->vm) >= t)
			break;
		rc = run_plain(rep, t, why);
	}
	return rc;
}

int events_never_came(struct replayer *rep, struct failure *why)
{
	const struct vm_stop none = { .kind = VM_STOP_BUDGET };

	return diverged(rep, events_next(rep), &none, why);
}
