/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heap_writes.c - see heap_writes.h */
#include "replayer/session/heap_writes.h"

#include <string.h>

#include "formats/error.h"
#include "vm/linux/abi/names.h"

static bool is_allocating(const struct heap_writes *writes)
{
	return writes->is_allocating[replayer_stream(writes->replayer)];
}

/* ------- errors ------- */

/* Of an instruction: all events before it have taken effect. */
static struct position place(const struct heap_writes *writes, uint64_t time)
{
	struct position at = { time, 0 };

	recording_events_at(writes->recording, time, &at.events, NULL);
	return at;
}

static enum heap_error_kind kind_of(const struct heap_block *block,
				    guest_addr addr)
{
	if (addr < block->addr)
		return HEAP_WRITTEN_BEFORE;
	return addr - block->addr >= block->size ? HEAP_WRITTEN_BEHIND :
						   HEAP_WRITTEN_FREED;
}

static void found(struct heap_writes *writes, struct heap_error *error)
{
	const struct heap_block *block = heap_blocks_near(writes->blocks,
							  error->addr);

	if (!block || writes->rc)
		return;
	error->stream = replayer_stream(writes->replayer);
	error->kind = kind_of(block, error->addr);
	error->has_block = true;
	error->block = *block;
	error->count = 1;
	recording_tid(writes->recording,
		      recording_thread_of(writes->recording, error->stream,
					  error->at.time),
		      &error->tid, NULL);
	writes->rc = heap_errors_add(writes->errors, error);
}

static void on_accessed(void *context, const struct vm_access_told *list,
			size_t count)
{
	struct heap_writes *writes = context;
	struct heap_shadow *shadow = &writes->blocks->shadow;

	if (is_allocating(writes))
		return;
	for (size_t i = 0; i < count; i++) {
		const struct vm_access_told *told = &list[i];
		struct heap_error error = { .pc = told->pc };

		if (!told->writes ||
		    !heap_shadow_finds(shadow, told->addr, told->size,
				       &error.addr, &error.size))
			continue;
		error.at = place(writes, told->steps);
		found(writes, &error);
	}
}

/* ------- what happens to memory ------- */

static bool is_call(enum packet_kind kind)
{
	return kind == PACKET_SYSCALL || kind == PACKET_RETURN ||
	       kind == PACKET_FIXED_CALL;
}

static void on_event(void *context, const struct replay_event *event)
{
	struct heap_writes *writes = context;
	struct vm *vm = replayer_vm(writes->replayer);

	writes->event_pc = vm_reg(vm, vm_reg_table(vm)->pc);
	if (event->packet->kind != PACKET_FIXED_CALL)
		writes->event_pc -= vm_call_size(vm);
}

/* Calls in which what is written may be a child's. */
static bool makes_process(const struct heap_writes *writes, uint64_t number)
{
	const char *name = linux_syscall_name(
		recording_reg_table(writes->recording)->arch, number);

	return name && (!strcmp(name, "vfork") || !strcmp(name, "clone") ||
			!strcmp(name, "clone3"));
}

static void take_output(struct heap_writes *writes, const struct packet *call,
			const struct packet *effect)
{
	uint64_t time = replayer_now(writes->replayer).time;
	struct heap_error error = {
		.pc = writes->event_pc, .by_kernel = true,
		.number = call->number,
	};

	if (!writes->wants_errors || is_allocating(writes) ||
	    !heap_shadow_finds(&writes->blocks->shadow, effect->addr,
			       effect->size, &error.addr, &error.size))
		return;
	error.at = place(writes, call->kind == PACKET_SYSCALL && time ?
				 time - 1 : time);
	found(writes, &error);
}

/* An allocator of a child may have freed and handed out whatever there was. */
static void take_write(struct heap_writes *writes, const struct packet *event,
		       const struct packet *effect)
{
	if (!is_call(event->kind))
		return;
	if (!makes_process(writes, event->number)) {
		take_output(writes, event, effect);
	} else if (heap_shadow_has(&writes->blocks->shadow, effect->addr,
				   effect->size)) {
		*writes->has_others = true;
		heap_blocks_doubt(writes->blocks);
	}
}

static int take_effect(struct heap_writes *writes, const struct packet *event,
		       const struct packet *effect)
{
	struct heap_blocks *blocks = writes->blocks;
	int rc;

	/* What others did was told when they did it. */
	if (packet_is_told(event->kind, effect->kind))
		return 0;
	switch (effect->kind) {
	case PACKET_MAP:
	case PACKET_UNMAP:
		return heap_blocks_unmap(blocks, effect->addr, effect->size);
	case PACKET_MOVE:
		rc = heap_blocks_unmap(blocks, effect->addr, effect->size);
		return rc ? rc : heap_blocks_unmap(blocks, effect->target,
						   effect->size);
	case PACKET_WRITE:
		take_write(writes, event, effect);
		return 0;
	default:
		return 0;
	}
}

static void on_event_done(void *context, const struct replay_event *event)
{
	struct heap_writes *writes = context;

	for (size_t i = 0; i < event->count && !writes->rc; i++)
		writes->rc = take_effect(writes, event->packet,
					 replay_event_effect(event, i));
}

/* ------- all of it ------- */

int heap_writes_begin(struct heap_writes *writes, struct failure *why)
{
	writes->observer = (struct replay_observer) {
		.event = on_event, .event_done = on_event_done,
		.context = writes,
	};
	if (writes->wants_errors)
		writes->observer.guest = (struct vm_observer) {
			.accessed = on_accessed, .accesses = VM_WRITES,
			.data = VM_EVERYWHERE, .context = writes,
		};
	return replayer_observe(writes->replayer, &writes->observer, why);
}

void heap_writes_end(struct heap_writes *writes)
{
	replayer_unobserve(writes->replayer, &writes->observer);
}
