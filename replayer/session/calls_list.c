/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calls_list.c - see calls_list.h */
#include "replayer/session/calls_list.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/replayer.h"
#include "vm/vm.h"

struct visiting {
	const struct calls_list *list;
	const struct reg_table *regs;
	bool *in_call;		/* by stream: a call was entered */
	struct call_event event;	/* that is taking effect */
	uint64_t pc;		/* before it */
	bool has_event;
	int rc;			/* the first that is not 0 */
};

static uint64_t reg(const struct visiting *visiting, unsigned number)
{
	return vm_reg(replayer_vm(visiting->list->replayer), number);
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
	event.sp = reg(visiting, visiting->regs->sp);
	return event;
}

static void enter(struct visiting *visiting, uint64_t number)
{
	struct call_event event = begin_call(visiting, number);

	visiting->in_call[event.stream] = true;
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
	event->was_entered = visiting->in_call[stream];
	event->result = packet->result;
	visiting->pc = reg(visiting, visiting->regs->pc);
	visiting->in_call[stream] = false;
	visiting->has_event = true;
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
}

static void after_event(void *context, const struct replay_event *told)
{
	struct visiting *visiting = context;

	(void)told;	/* the one that has begun */
	if (!visiting->has_event)
		return;
	if (visiting->event.visit == VISIT_LEAVE)
		end_leaving(visiting);
	tell(visiting, &visiting->event);
	visiting->has_event = false;
}

/* The thread gives its turn away; if the kernel has it, that is where. */
static void look_inside(struct visiting *visiting)
{
	struct replayer *replayer = visiting->list->replayer;
	uint32_t stream = replayer_stream(replayer);
	unsigned size;

	if (visiting->in_call[stream] || !replayer_in_call(replayer, &size))
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

int calls_list_visit(const struct calls_list *list, const struct position *from,
		     const struct position *to, struct failure *why)
{
	struct visiting visiting = {
		.list = list,
		.regs = recording_reg_table(list->recording),
	};
	const struct replay_observer observer = {
		.event = before_event, .event_done = after_event,
		.turn = on_turn, .context = &visiting,
	};
	int rc;

	visiting.in_call = calloc(recording_threads(list->recording),
				  sizeof(*visiting.in_call));
	if (!visiting.in_call)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = replayer_seek(list->replayer, from, why);
	if (!rc)
		rc = replayer_observe(list->replayer, &observer, why);
	if (!rc) {
		replayer_in_order(list->replayer, true);
		rc = go_on(&visiting, from, to, why);
		replayer_in_order(list->replayer, false);
		replayer_unobserve(list->replayer, &observer);
	}
	free(visiting.in_call);
	return rc;
}

/* ------- memory ------- */

bool calls_list_read(struct replayer *replayer, uint64_t addr, void *bytes,
		     size_t size)
{
	uint8_t known[256];
	uint8_t *to = bytes;

	while (size) {
		size_t part = size < sizeof(known) ? size : sizeof(known);

		if (replayer_read(replayer, addr, to, known, part, NULL) ||
		    memchr(known, 0, part))
			return false;
		addr += part;
		to += part;
		size -= part;
	}
	return true;
}
