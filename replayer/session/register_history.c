/* SPDX-License-Identifier: GPL-2.0-or-later */
/* register_history.c - see register_history.h */
#include "replayer/session/register_history.h"

#include <string.h>

#include "formats/error.h"
#include "replayer/replayer.h"
#include "vm/vm.h"

/* The first window, in instructions, and how much larger the next is. */
#define WINDOW_FIRST 1000u
#define WINDOW_GROWTH 16u

struct search {
	struct replayer *rep;
	const struct reg_table *regs;
	const struct reg_named *named;
	const struct reg_info *info;	/* of it */
	uint32_t stream;

	/* The thread's newest instruction, which may not have retired. */
	bool has_insn;
	bool writes;		/* by what it is */
	struct register_write insn;

	bool found;
	struct register_write last;
};

/* ------- one by one ------- */

static void value_now(struct search *search, uint8_t *out)
{
	const struct reg_info *whole = &search->regs->regs[search->named->reg];
	struct reg_file file;
	uint64_t value;

	if (whole->size <= sizeof(value) && search->named->count == 1) {
		value = replayer_reg(search->rep, search->named->reg);
		value >>= 8u * (search->info->offset - whole->offset);
		memcpy(out, &value, search->info->size);
		return;
	}
	replayer_registers(search->rep, &file);
	memcpy(out, file.bytes + search->info->offset, search->info->size);
}

static bool is_of_thread(const struct search *search)
{
	return replayer_stream(search->rep) == search->stream;
}

/* The newest instruction has retired, with this value behind it. */
static void settle(struct search *search, const uint8_t *value)
{
	struct register_write *insn = &search->insn;

	if (!search->has_insn)
		return;
	search->has_insn = false;
	memcpy(insn->new, value, search->info->size);
	if (!search->writes && !memcmp(insn->old, insn->new,
				       search->info->size))
		return;
	search->found = true;
	search->last = *insn;
}

/* Whether the bytes of the register that are asked for are among those. */
static bool writes_part(const struct search *search, const struct vm_flow *flow)
{
	unsigned reg = search->named->reg;
	unsigned low = flow->low >> reg & 1, high = flow->high >> reg & 1;
	unsigned first = search->info->offset - search->regs->regs[reg].offset;

	if (!low && !high)
		return true;
	return (low && first == 0) ||
	       (high && first < 2 && first + search->info->size > 1);
}

/*
 * Whether an instruction writes it, whatever value it had.  Of machines, only the
 * value tells.
 */
static bool writes(const struct search *search, guest_addr pc)
{
	struct vm *vm = replayer_vm(search->rep);
	unsigned reg = search->named->reg;
	struct vm_flow flow;

	if (!vm || reg >= VM_FLOW_VECTORS || reg == search->regs->sp)
		return false;
	flow = vm_flow(vm, pc);
	return (flow.writes >> reg & 1) && writes_part(search, &flow);
}

static void on_instruction(void *context, uint64_t steps, guest_addr pc)
{
	struct search *search = context;
	uint8_t value[16];

	if (!is_of_thread(search))
		return;
	value_now(search, value);
	/* A repeated one is told for each iteration; one that faults has not
	 * retired when the handler's first one is told. */
	if (search->has_insn && search->insn.before.time == steps) {
		if (search->insn.pc == pc)
			return;
		search->has_insn = false;
	}
	settle(search, value);
	search->has_insn = true;
	search->writes = writes(search, pc);
	search->insn = (struct register_write) {
		.before = { steps, EVENTS_ALL }, .stream = search->stream,
		.pc = pc,
	};
	memcpy(search->insn.old, value, search->info->size);
}

/* It changes registers between two instructions. */
static bool is_between(const struct replay_event *event)
{
	return event->packet->kind == PACKET_SIGNAL ||
	       event->packet->kind == PACKET_INTERRUPT;
}

static void on_event(void *context, const struct replay_event *event)
{
	struct search *search = context;
	uint8_t value[16];

	if (!is_of_thread(search))
		return;
	if (event->packet->kind == PACKET_FAULT)
		search->has_insn = false;
	if (!is_between(event))
		return;
	value_now(search, value);
	settle(search, value);
	search->has_insn = true;
	search->writes = false;
	search->insn = (struct register_write) {
		.before = replayer_now(search->rep), .stream = search->stream,
		.pc = replayer_reg(search->rep, search->regs->pc),
		.by_event = true, .event = event->packet->kind,
		.number = event->packet->number,
	};
	memcpy(search->insn.old, value, search->info->size);
}

static void on_event_done(void *context, const struct replay_event *event)
{
	struct search *search = context;
	uint8_t value[16];

	if (!is_of_thread(search) || !is_between(event))
		return;
	value_now(search, value);
	settle(search, value);
}

/* ------- windows ------- */

static int look_through(struct search *search, const struct position *from,
			const struct position *to, struct failure *why)
{
	const struct replay_observer observer = {
		.guest = { .instruction = on_instruction,
			   .code = VM_EVERYWHERE, .context = search },
		.event = on_event, .event_done = on_event_done,
		.context = search,
	};
	const struct replay_until until = { .to = *to };
	struct replay_stop stop;
	struct reg_file file;
	int rc = replayer_seek(search->rep, from, why);

	search->has_insn = search->found = false;
	if (!rc)
		rc = replayer_observe(search->rep, &observer, why);
	if (!rc)
		rc = replayer_run(search->rep, &until, &stop, why);
	replayer_unobserve(search->rep, &observer);
	if (rc || !search->has_insn)
		return rc;
	rc = replayer_thread_registers(search->rep, search->stream, &file,
				       why);
	if (!rc)
		settle(search, file.bytes + search->info->offset);
	return rc;
}

/* Backwards, until something is found or the recording begins. */
static int look_back(struct search *search, struct recording *recording,
		     const struct position *at, struct failure *why)
{
	const struct position start = { recording_start(recording), 0 };
	uint64_t window = WINDOW_FIRST;
	struct position to = *at, from = to;
	int rc = 0;

	while (!rc && !search->found &&
	       position_compare(&start, &from) < 0) {
		to = from;
		from = to.time - start.time > window ?
			       (struct position){ to.time - window, 0 } : start;
		window *= WINDOW_GROWTH;
		rc = look_through(search, &from, &to, why);
	}
	return rc;
}

int register_to_ask(const struct reg_table *table, const char *name,
		    struct reg_named *out, struct failure *why)
{
	if (!reg_find(table, name, out))
		return reg_not_found(table, name, ERR_INPUT, why);
	return out->reg != table->pc ? 0 : failed(why, ERR_INPUT,
		"every instruction writes the program counter");
}

static int find_stream(struct recording *recording, struct replayer *rep,
		       const struct register_question *question,
		       uint32_t *out, struct failure *why)
{
	int rc = replayer_seek(rep, &question->at, why);

	*out = replayer_stream(rep);
	if (rc || !question->some_thread)
		return rc;
	return recording_find_stream(recording, question->tid,
				     question->at.time, out, why);
}

int register_last_write(struct query *query,
			const struct register_question *question,
			struct register_write *out, bool *found,
			struct failure *why)
{
	struct recording *recording = query_recording(query);
	const struct reg_table *regs = recording_reg_table(recording);
	struct search search = {
		.regs = regs, .named = question->named,
		.info = &question->named->info,
	};
	uint32_t events = 0;
	int rc = query_replayer(query, &search.rep, why);

	if (!rc)
		rc = find_stream(recording, search.rep, question,
				 &search.stream, why);
	if (!rc)
		rc = look_back(&search, recording, &question->at, why);
	*found = !rc && search.found;
	if (!*found)
		return rc;
	*out = search.last;
	if (!out->by_event)
		rc = recording_events_at(recording, out->before.time, &events,
					 why);
	if (!out->by_event)
		out->before.events = events;
	return rc;
}
