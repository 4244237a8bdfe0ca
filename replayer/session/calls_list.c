/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calls_list.c - see calls_list.h */
#include "replayer/session/calls_list.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/replayer.h"
#include "replayer/session/known_memory.h"
#include "replayer/session/program_start.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/names.h"
#include "vm/vm.h"

/* What a stream was told last. */
struct told_stream {
	bool in_call;		/* a call was entered */
	bool has_left;		/* one was left, successful: */
	struct call_event left;
};

struct visiting {
	const struct calls_list *list;
	const struct reg_table *regs;
	struct linux_reader memory;
	struct told_stream *streams;
	bool has_uid;
	uint32_t uid;
	struct call_event event;	/* that is taking effect */
	uint64_t pc;		/* before it */
	bool has_event;
	int rc;			/* the first that is not 0 */
};

static bool read_memory(void *context, uint64_t addr, void *bytes, size_t size)
{
	return known_memory_read(context, addr, bytes, size);
}

static uint64_t reg(const struct visiting *visiting, unsigned number)
{
	return replayer_reg(visiting->list->replayer, number);
}

static void tell(struct visiting *visiting, const struct call_event *event)
{
	const struct calls_list *list = visiting->list;

	if (!visiting->rc)
		visiting->rc = list->visit(list->context, event);
}

/* An event of the thread whose turn it is. */
static struct call_event begin(struct visiting *visiting, enum call_visit visit)
{
	struct recording *recording = visiting->list->recording;
	struct call_event event = {
		.visit = visit,
		.at = replayer_now(visiting->list->replayer),
		.stream = replayer_stream(visiting->list->replayer),
	};
	uint32_t thread = recording_thread_of(recording, event.stream,
					      event.at.time);
	int rc = recording_tid(recording, thread, &event.tid, NULL);

	if (!visiting->rc)
		visiting->rc = rc;
	return event;
}

/* The kernel has the thread; its registers are as the program set them. */
static struct call_event begin_call(struct visiting *visiting,
				    uint64_t number)
{
	struct call_event event = begin(visiting, VISIT_ENTER);

	event.number = number;
	for (unsigned i = 0; i < KERNEL_ARGS; i++)
		event.args[i] = reg(visiting, visiting->regs->call_args[i]);
	event.call = linux_call_made(visiting->regs->arch, number, event.args,
				     &visiting->memory);
	event.sp = reg(visiting, visiting->regs->sp);
	return event;
}

static void enter(struct visiting *visiting, uint64_t number)
{
	struct call_event event = begin_call(visiting, number);

	visiting->streams[event.stream].in_call = true;
	tell(visiting, &event);
}

/* ------- what the replayer tells ------- */

static void begin_leaving(struct visiting *visiting,
			  const struct packet *packet)
{
	uint32_t stream = replayer_stream(visiting->list->replayer);
	struct call_event *event = &visiting->event;

	/* One that came back in its turn has not been told. */
	if (packet->kind != PACKET_RETURN)
		enter(visiting, packet->number);
	*event = begin_call(visiting, packet->number);
	event->visit = VISIT_LEAVE;
	event->was_entered = visiting->streams[stream].in_call;
	event->result = packet->result;
	visiting->pc = reg(visiting, visiting->regs->pc);
	visiting->streams[stream].in_call = false;
	visiting->has_event = true;
}

/* A call that the thread has just made may have sent it. */
static void look_behind(const struct visiting *visiting,
			struct call_event *event)
{
	const struct told_stream *stream = &visiting->streams[event->stream];

	if (recording_tid(visiting->list->recording, 0, &event->pid, NULL) ||
	    !stream->has_left || stream->left.at.time != event->at.time)
		return;
	event->is_behind_call = true;
	event->call = stream->left.call;
	memcpy(event->args, stream->left.args, sizeof(event->args));
	event->has_uid = visiting->has_uid;
	event->uid = visiting->uid;
}

static void begin_signal(struct visiting *visiting,
			 const struct replay_event *told)
{
	struct call_event *event = &visiting->event;

	/* Without a signal, the kernel had the instruction go on. */
	if (!told->packet->number)
		return;
	*event = begin(visiting, VISIT_SIGNAL);
	event->signal = told->packet->number;
	event->is_fault = told->packet->kind == PACKET_FAULT;
	for (size_t i = 0; i < told->count; i++)
		event->has_handler |=
			replay_event_effect(told, i)->kind == PACKET_REG;
	look_behind(visiting, event);
	visiting->has_event = true;
}

static void before_event(void *context, const struct replay_event *told)
{
	const struct packet *packet = told->packet;
	struct visiting *visiting = context;

	visiting->has_event = false;
	switch (packet->kind) {
	case PACKET_SYSCALL:
	case PACKET_RETURN:
	case PACKET_FIXED_CALL:
		begin_leaving(visiting, packet);
		break;
	case PACKET_SIGNAL:
	case PACKET_FAULT:
		begin_signal(visiting, told);
		break;
	case PACKET_EXIT:
		visiting->event = begin(visiting, VISIT_END);
		visiting->event.result = packet->result;
		visiting->has_event = true;
		break;
	default:
		break;
	}
}

static void take_user(struct visiting *visiting,
		      const struct program_start *start)
{
	visiting->has_uid = start->has_uid;
	visiting->uid = start->uid;
}

/* Whose the process is, may change. */
static void follow_user(struct visiting *visiting,
			const struct call_event *event)
{
	const char *name = event->call ? event->call->name : "";
	struct program_start start;

	if (event->result)
		return;
	if (!strncmp(name, "execve", strlen("execve")) &&
	    program_start_read(visiting->list->replayer, visiting->regs,
			       &start))
		take_user(visiting, &start);
	else if (!strncmp(name, "set", 3) && strstr(name, "uid"))
		visiting->has_uid = false;
}

static void remember(struct visiting *visiting, const struct call_event *event)
{
	struct told_stream *stream = &visiting->streams[event->stream];

	follow_user(visiting, event);
	stream->has_left = !event->result;
	stream->left = *event;
}

/*
 * A call's position is behind it, also one that positions count.  The kernel has
 * one made again by setting the thread back to its instruction.
 */
static void end_leaving(struct visiting *visiting)
{
	visiting->event.at = replayer_now(visiting->list->replayer);
	if (reg(visiting, visiting->regs->pc) ==
	    visiting->pc -
		    vm_call_size(replayer_vm(visiting->list->replayer)))
		visiting->event.result = CALL_RESTARTS;
	remember(visiting, &visiting->event);
}

static void after_event(void *context, const struct replay_event *told)
{
	struct visiting *visiting = context;

	(void)told;	/* the one that has begun */
	if (!visiting->has_event)
		return;
	if (visiting->event.visit == VISIT_LEAVE)
		end_leaving(visiting);
	else if (visiting->event.has_handler)
		visiting->event.info = reg(visiting,
					   visiting->regs->handler_info);
	tell(visiting, &visiting->event);
	visiting->has_event = false;
}

/* The thread gives its turn away; if the kernel has it, that is where. */
static void look_inside(struct visiting *visiting)
{
	struct replayer *replayer = visiting->list->replayer;
	uint32_t stream = replayer_stream(replayer);
	unsigned size;

	if (visiting->streams[stream].in_call || !replayer_in_call(replayer, &size))
		return;
	enter(visiting, reg(visiting, visiting->regs->result));
}

static void on_turn(void *context, bool after)
{
	if (!after)
		look_inside(context);
}

/* ------- going on ------- */

static bool is_over(struct visiting *visiting)
{
	const struct calls_list *list = visiting->list;

	return visiting->rc ||
	       (list->is_enough &&
		list->is_enough(list->context, replayer_time(list->replayer)));
}

/* By segments, to be able to stop. */
static int go_on(struct visiting *visiting, const struct position *from,
		 const struct position *to, struct failure *why)
{
	const struct calls_list *list = visiting->list;
	size_t segments = recording_segments(list->recording);
	size_t i = recording_segment_at(list->recording, from->time) + 1;
	int rc = 0;

	for (; i < segments && !rc && !is_over(visiting); i++) {
		if (recording_time(list->recording, i) >= to->time)
			break;
		rc = replayer_seek_frame(list->replayer, i, why);
	}
	if (!rc && !is_over(visiting))
		rc = replayer_seek(list->replayer, to, why);
	if (!rc && !is_over(visiting))
		look_inside(visiting);
	return rc ? rc : visiting->rc;
}

/* The first process was executed before its first instruction. */
static bool begins_with_exec(const struct calls_list *list,
			     const struct position *from)
{
	return !from->time && !from->events &&
	       !recording_start(list->recording) &&
	       !recording_meta(list->recording)->origin.parent;
}

/* Its arguments are still there, in the new program's memory. */
static void tell_exec(struct visiting *visiting)
{
	struct call_event event = begin(visiting, VISIT_ENTER);
	struct program_start start;

	if (!program_start_read(visiting->list->replayer, visiting->regs,
				&start) ||
	    !linux_syscall_find(visiting->regs->arch, "execve",
				&event.number))
		return;
	event.call = linux_call_of(visiting->regs->arch, event.number);
	take_user(visiting, &start);
	event.args[0] = start.name;
	event.args[1] = start.argv;
	event.args[2] = start.envp;
	tell(visiting, &event);
	event.visit = VISIT_LEAVE;
	event.was_entered = true;
	tell(visiting, &event);
}

int calls_list_visit(const struct calls_list *list, const struct position *from,
		     const struct position *to, struct failure *why)
{
	struct visiting visiting = {
		.list = list,
		.regs = recording_reg_table(list->recording),
		.memory = { read_memory, list->replayer },
	};
	const struct replay_observer observer = {
		.event = before_event, .event_done = after_event,
		.turn = on_turn, .context = &visiting,
	};
	int rc;

	visiting.streams = calloc(recording_threads(list->recording),
				  sizeof(*visiting.streams));
	if (!visiting.streams)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = replayer_seek(list->replayer, from, why);
	if (!rc)
		rc = replayer_observe(list->replayer, &observer, why);
	if (!rc) {
		replayer_in_order(list->replayer, true);
		if (begins_with_exec(list, from))
			tell_exec(&visiting);
		rc = go_on(&visiting, from, to, why);
		replayer_in_order(list->replayer, false);
		replayer_unobserve(list->replayer, &observer);
	}
	free(visiting.streams);
	return rc;
}
