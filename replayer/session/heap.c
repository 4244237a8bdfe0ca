/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heap.c - see heap.h */
#include "replayer/session/heap.h"

#include <stdlib.h>

#include "formats/error.h"
#include "replayer/session/calls.h"
#include "replayer/session/heap_functions.h"

#define ARGUMENTS 3u

/* The call of the allocator that a thread is in. */
struct pending {
	bool is_in;
	enum heap_role role;
	uint64_t args[ARGUMENTS];
	struct heap_site site;
	bool has_old;		/* a block that is resized: */
	struct heap_block old;
};

struct following {
	struct heap *heap;
	const struct heap_question *question;
	struct recording *recording;
	const struct reg_table *table;
	struct replayer *replayer;
	struct replay_observer observer;
	struct pending *pending;	/* by stream */
	guest_addr event_pc;		/* of an event under way */
	int rc;				/* what went wrong while told */
	struct failure *why;
};

static int out_of_memory(struct failure *why)
{
	return failed(why, ERR_NO_MEMORY, "out of memory");
}

/* ------- errors ------- */

/* In an instruction, all events before it have taken effect. */
static struct position place(struct following *following, uint64_t time)
{
	struct position at = { time, 0 };

	recording_events_at(following->recording, time, &at.events, NULL);
	return at;
}

static void keep(struct following *following, struct heap_error *error)
{
	error->count = 1;
	if (!following->rc &&
	    heap_errors_add(&following->heap->errors, error))
		following->rc = ERR_NO_MEMORY;
}

static enum heap_error_kind kind_of_write(const struct heap_block *block,
					  guest_addr addr)
{
	if (addr < block->addr)
		return HEAP_WRITTEN_BEFORE;
	return addr - block->addr >= block->size ? HEAP_WRITTEN_BEHIND :
						   HEAP_WRITTEN_FREED;
}

static void take_write(struct following *following, struct heap_error *error,
		       guest_addr first, uint64_t count)
{
	const struct heap_block *block =
		heap_blocks_near(&following->heap->blocks, first);

	if (!block)
		return;
	error->stream = replayer_stream(following->replayer);
	error->kind = kind_of_write(block, first);
	error->addr = first;
	error->size = count;
	error->has_block = true;
	error->block = *block;
	recording_tid(following->recording,
		      recording_thread_of(following->recording, error->stream,
					  error->at.time),
		      &error->tid, NULL);
	keep(following, error);
}

static void take_free_error(struct following *following,
			    enum heap_error_kind kind,
			    const struct heap_site *site, guest_addr addr,
			    const struct heap_block *block)
{
	struct heap_error error = {
		.kind = kind, .at = site->at, .stream = site->stream,
		.tid = site->tid, .pc = site->pc, .function = site->function,
		.addr = addr, .has_block = block != NULL,
	};

	if (block)
		error.block = *block;
	keep(following, &error);
}

/* ------- what is told while it runs ------- */

static bool is_in_allocator(const struct following *following)
{
	return following->pending[replayer_stream(following->replayer)].is_in;
}

static void on_accessed(void *context, const struct vm_access_told *list,
			size_t count)
{
	struct following *following = context;
	struct heap_shadow *shadow = &following->heap->blocks.shadow;
	uint64_t forbidden;
	guest_addr first;

	if (is_in_allocator(following))
		return;
	for (size_t i = 0; i < count; i++) {
		const struct vm_access_told *told = &list[i];
		struct heap_error error;

		if (!told->writes ||
		    !heap_shadow_finds(shadow, told->addr, told->size, &first,
				       &forbidden))
			continue;
		error = (struct heap_error) {
			.at = place(following, told->steps), .pc = told->pc,
		};
		take_write(following, &error, first, forbidden);
	}
}

static bool is_call(enum packet_kind kind)
{
	return kind == PACKET_SYSCALL || kind == PACKET_RETURN ||
	       kind == PACKET_FIXED_CALL;
}

static void on_event(void *context, const struct replay_event *event)
{
	struct following *following = context;
	struct vm *vm = replayer_vm(following->replayer);

	following->event_pc = vm_reg(vm, following->table->pc);
	if (event->packet->kind != PACKET_FIXED_CALL)
		following->event_pc -= following->table->call_size;
}

/* What the kernel writes. */
static void take_output(struct following *following,
			const struct packet *call, const struct packet *effect)
{
	uint64_t time = replayer_now(following->replayer).time, forbidden;
	guest_addr first;
	struct heap_error error;

	if (is_in_allocator(following) ||
	    !heap_shadow_finds(&following->heap->blocks.shadow, effect->addr,
			       effect->size, &first, &forbidden))
		return;
	error = (struct heap_error) {
		.at = place(following, call->kind == PACKET_SYSCALL && time ?
			    time - 1 : time),
		.pc = following->event_pc, .by_kernel = true,
		.number = call->number,
	};
	take_write(following, &error, first, forbidden);
}

static int take_effect(struct following *following,
		       const struct packet *event, const struct packet *effect)
{
	struct heap_blocks *blocks = &following->heap->blocks;
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
		if (is_call(event->kind) && following->question->writes)
			take_output(following, event, effect);
		return 0;
	default:
		return 0;
	}
}

static void on_event_done(void *context, const struct replay_event *event)
{
	struct following *following = context;

	for (size_t i = 0; i < event->count && !following->rc; i++)
		following->rc = take_effect(following, event->packet,
					    replay_event_effect(event, i));
}

/* ------- calls ------- */

/* The block that begins there; what else it is, is an error. */
static struct heap_block *find_freed(struct following *following,
				     const struct heap_site *site,
				     guest_addr addr)
{
	struct heap *heap = following->heap;
	struct heap_block *block = heap_blocks_find(&heap->blocks, addr);
	enum heap_error_kind kind = HEAP_FREED_INSIDE;

	if (block && block->addr == addr && !block->freed.function)
		return block;
	if (number_map_find(&heap->blocks.lost, addr)) {
		number_map_remove(&heap->blocks.lost, addr);
		return NULL;
	}
	if (!block && heap->is_forked) {
		heap->unknown_frees++;
		return NULL;
	}
	if (!block)
		kind = HEAP_FREED_NOTHING;
	else if (block->addr == addr)
		kind = HEAP_FREED_TWICE;
	take_free_error(following, kind, site, addr, block);
	return NULL;
}

/* A block that is resized may come back. */
static int begin_free(struct following *following, struct pending *pending)
{
	struct heap *heap = following->heap;
	guest_addr addr = pending->args[0];
	struct heap_block *block;

	if (!addr)
		return 0;
	block = find_freed(following, &pending->site, addr);
	if (!block)
		return 0;
	pending->has_old = true;
	pending->old = *block;
	if (heap_blocks_free(&heap->blocks, block, &pending->site))
		return out_of_memory(following->why);
	if (pending->role == HEAP_FREES)
		heap->frees++;
	return 0;
}

static enum heap_role role_of(const struct call *call)
{
	const struct call_function *function = call->function;

	return heap_role_of(function->linkage_name ? function->linkage_name :
						     function->name);
}

static int on_begin(void *context, struct call *call, struct failure *why)
{
	struct following *following = context;
	struct pending *pending = &following->pending[call->stream];
	struct vm *vm = replayer_vm(following->replayer);

	if (following->rc)
		return out_of_memory(why);
	*pending = (struct pending) {
		.is_in = true, .role = role_of(call),
		.site = {
			.function = call->function->name, .at = call->at,
			.stream = call->stream, .tid = call->tid,
			.pc = call->back - 1,
		},
	};
	for (unsigned i = 0; i < ARGUMENTS; i++)
		pending->args[i] = vm_reg(vm, following->table->args[i]);
	if (pending->role == HEAP_FREES || pending->role == HEAP_RESIZES ||
	    pending->role == HEAP_RESIZES_MANY)
		return begin_free(following, pending);
	return 0;
}

static uint64_t size_asked(const struct pending *pending)
{
	const uint64_t *args = pending->args;

	switch (pending->role) {
	case HEAP_ALLOCATES:
		return args[0];
	case HEAP_ALLOCATES_SECOND:
	case HEAP_RESIZES:
		return args[1];
	case HEAP_ALLOCATES_AT:
		return args[2];
	case HEAP_ALLOCATES_MANY:
		return args[0] * args[1];
	case HEAP_RESIZES_MANY:
		return args[1] * args[2];
	case HEAP_ALLOCATES_PAGES:
		return (args[0] + GUEST_PAGE - 1) & -(uint64_t)GUEST_PAGE;
	default:
		return 0;
	}
}

static int add_block(struct following *following,
		     const struct pending *pending, guest_addr addr)
{
	const struct heap_block block = {
		.addr = addr, .size = size_asked(pending),
		.allocated = pending->site,
	};

	if (!addr || block.size > UINT64_MAX - addr)
		return 0;
	if (heap_blocks_add(&following->heap->blocks, &block))
		return out_of_memory(following->why);
	following->heap->allocations += !pending->has_old;
	return 0;
}

/* Where posix_memalign() stored the address, unless it failed. */
static int stored_address(struct following *following,
			  const struct pending *pending, uint64_t result,
			  guest_addr *out)
{
	uint8_t bytes[8] = { 0 }, known[8];
	int rc;

	*out = 0;
	if ((uint32_t)result)
		return 0;
	rc = replayer_read(following->replayer, pending->args[0], bytes, known,
			   sizeof(bytes), following->why);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		*out |= (uint64_t)bytes[i] << 8 * i;
	return rc;
}

/* It stays as it was, or is another one; what is resized to nothing is freed. */
static int end_resize(struct following *following,
		      const struct pending *pending, guest_addr addr)
{
	if (addr)
		return add_block(following, pending, addr);
	if (!pending->has_old)
		return 0;
	if (!size_asked(pending)) {
		following->heap->frees++;
		return 0;
	}
	return heap_blocks_add(&following->heap->blocks, &pending->old) ?
		       out_of_memory(following->why) : 0;
}

/* Who asks how much there is, uses it. */
static int end_size(struct following *following, const struct pending *pending,
		    uint64_t size)
{
	struct heap_blocks *blocks = &following->heap->blocks;
	guest_addr addr = pending->args[0];
	struct heap_block *block = heap_blocks_find(blocks, addr);

	if (!block || block->addr != addr || block->freed.function ||
	    size < block->size)
		return 0;
	return heap_blocks_resize(blocks, block, size) ?
		       out_of_memory(following->why) : 0;
}

static int end_call(struct following *following, const struct pending *pending)
{
	uint64_t result = vm_reg(replayer_vm(following->replayer),
				 following->table->results[0]);
	guest_addr addr = result;
	int rc = 0;

	switch (pending->role) {
	case HEAP_NONE:
	case HEAP_WORKS:
	case HEAP_FREES:
		return 0;
	case HEAP_TELLS_SIZE:
		return end_size(following, pending, result);
	case HEAP_RESIZES:
	case HEAP_RESIZES_MANY:
		return end_resize(following, pending, addr);
	case HEAP_ALLOCATES_AT:
		rc = stored_address(following, pending, result, &addr);
		break;
	default:
		break;
	}
	return rc ? rc : add_block(following, pending, addr);
}

static int on_end(void *context, struct call *call, struct failure *why)
{
	struct following *following = context;
	struct pending *pending = &following->pending[call->stream];

	pending->is_in = false;
	if (following->rc)
		return out_of_memory(why);
	if (call->end == CALL_RETURNED)
		return end_call(following, pending);
	/* Whether it will be freed is not decided. */
	if (call->end == CALL_RUNS && pending->has_old &&
	    pending->role != HEAP_FREES &&
	    heap_blocks_add(&following->heap->blocks, &pending->old))
		return out_of_memory(why);
	return 0;
}

/* Another program has another heap, all of which is its own. */
static int on_replaced(void *context, uint64_t t, struct failure *why)
{
	struct following *following = context;
	struct heap *heap = following->heap;

	(void)t;
	(void)why;
	heap_blocks_release(&heap->blocks);
	heap->blocks.no_zones = heap->is_forked = false;
	heap->allocations = heap->frees = heap->unknown_frees = 0;
	return 0;
}

/* ------- all of it ------- */

static int run(struct following *following)
{
	const struct heap_question *question = following->question;
	const struct calls_question calls = {
		.query = question->query,
		.from = { recording_start(following->recording), 0 },
		.to = question->to,
		.user = {
			.limit = UINT64_MAX, .depth_most = 1,
			.begins = on_begin, .ends = on_end,
			.replaced = on_replaced, .context = following,
		},
	};
	int rc;

	following->observer = (struct replay_observer) {
		.event = on_event, .event_done = on_event_done,
		.context = following,
	};
	if (question->writes)
		following->observer.guest = (struct vm_observer) {
			.accessed = on_accessed, .accesses = VM_WRITES,
			.data = VM_EVERYWHERE, .context = following,
		};
	rc = replayer_seek(following->replayer, &calls.from, following->why);
	if (!rc)
		rc = replayer_observe(following->replayer,
				      &following->observer, following->why);
	if (!rc)
		rc = calls_find(&calls, &following->heap->functions,
				following->why);
	replayer_unobserve(following->replayer, &following->observer);
	if (!rc && following->rc)
		rc = out_of_memory(following->why);
	return rc;
}

static int follow(struct following *following)
{
	struct heap *heap = following->heap;
	const struct heap_question *question = following->question;
	int rc = query_replayer(question->query, &following->replayer,
				following->why);

	if (!rc)
		rc = run(following);
	if (!rc && !heap->functions.count)
		rc = failed(following->why, ERR_NOT_FOUND, "the program has no"
			    " function that is called as those of allocators"
			    " are, as malloc()");
	if (!rc)
		rc = heap_errors_check(&heap->errors, question->query,
				       &heap->functions, following->why);
	return rc;
}

int heap_follow(struct heap *out, const struct heap_question *question,
		struct failure *why)
{
	struct recording *recording = query_recording(question->query);
	struct following following = {
		.heap = out, .question = question, .recording = recording,
		.table = recording_reg_table(recording), .why = why,
		.pending = calloc(recording_threads(recording),
				  sizeof(*following.pending)),
	};
	int rc;

	*out = (struct heap) {
		.functions = { .lines = question->lines,
			       .is_wanted = heap_has_role },
		.is_forked = recording_meta(recording)->origin.parent ||
			     recording_start(recording),
	};
	out->blocks.no_zones = out->is_forked;
	rc = following.pending ? follow(&following) : out_of_memory(why);
	free(following.pending);
	if (rc)
		heap_release(out);
	return rc;
}

void heap_release(struct heap *heap)
{
	heap_blocks_release(&heap->blocks);
	heap_errors_release(&heap->errors);
	call_functions_release(&heap->functions);
}
