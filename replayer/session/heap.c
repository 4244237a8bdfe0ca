/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heap.c - see heap.h */
#include "replayer/session/heap.h"

#include <stdlib.h>

#include "formats/error.h"
#include "replayer/session/calls.h"
#include "replayer/session/heap_functions.h"
#include "replayer/session/heap_writes.h"

#define ARGUMENTS 3u

/* The call of the allocator that a thread is in. */
struct pending {
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
	struct heap_writes writes;
	struct pending *pending;	/* by stream, ... */
	bool *is_allocating;		/* ... if it is in one */
	struct failure *why;
};

static int out_of_memory(struct failure *why)
{
	return failed(why, ERR_NO_MEMORY, "out of memory");
}

static int add_error(struct following *following, enum heap_error_kind kind,
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
	error.count = 1;
	return heap_errors_add(&following->heap->errors, &error) ?
		       out_of_memory(following->why) : 0;
}

/* ------- calls ------- */

/* The block that begins there, or NULL; then that may be an error. */
static int find_freed(struct following *following,
		      const struct heap_site *site, guest_addr addr,
		      struct heap_block **out)
{
	struct heap *heap = following->heap;
	struct heap_block *block = heap_blocks_find(&heap->blocks, addr);
	enum heap_error_kind kind = HEAP_FREED_INSIDE;

	*out = NULL;
	if (block && block->addr == addr && !block->freed.function) {
		*out = block;
		return 0;
	}
	if (number_map_find(&heap->blocks.lost, addr)) {
		number_map_remove(&heap->blocks.lost, addr);
		return 0;
	}
	if (!block && heap->has_others)
		return 0;
	if (!block)
		kind = HEAP_FREED_NOTHING;
	else if (block->addr == addr)
		kind = HEAP_FREED_TWICE;
	return add_error(following, kind, site, addr, block);
}

/* A block that is resized may come back. */
static int begin_free(struct following *following, struct pending *pending)
{
	struct heap *heap = following->heap;
	guest_addr addr = pending->args[0];
	struct heap_block *block;
	int rc;

	if (!addr)
		return 0;
	rc = find_freed(following, &pending->site, addr, &block);
	if (rc || !block)
		return rc;
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

/* What a function gets, as a number: on the stack, behind where it returns to,
 * or in a register. */
static uint64_t argument(const struct following *following, unsigned index)
{
	const struct reg_table *table = following->table;
	struct vm *vm = replayer_vm(following->replayer);
	unsigned word = reg_word(table);
	uint64_t value = 0;

	if (!reg_has_stack_args(table))
		return vm_reg(vm, table->args[index]);
	/* Its caller has just written it. */
	memory_read(vm_memory(vm), vm_reg(vm, table->sp) + (index + 1) * word,
		    &value, word);
	return value;
}

static int on_begin(void *context, struct call *call, struct failure *why)
{
	struct following *following = context;
	struct pending *pending = &following->pending[call->stream];

	if (following->writes.rc)
		return out_of_memory(why);
	*pending = (struct pending) {
		.role = role_of(call),
		.site = {
			.function = call->function->name, .at = call->at,
			.stream = call->stream, .tid = call->tid,
			.pc = call->back - 1,
		},
	};
	following->is_allocating[call->stream] = true;
	for (unsigned i = 0; i < ARGUMENTS; i++)
		pending->args[i] = argument(following, i);
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
	following->heap->allocations++;
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
			   reg_word(following->table), following->why);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		*out |= (uint64_t)bytes[i] << 8 * i;
	return rc;
}

/* It stays, or is another one; what is resized to nothing is freed. */
static int end_resize(struct following *following,
		      const struct pending *pending, guest_addr addr)
{
	if (pending->has_old && (addr || !size_asked(pending)))
		following->heap->frees++;
	if (addr)
		return add_block(following, pending, addr);
	if (!pending->has_old || !size_asked(pending))
		return 0;
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
	uint64_t result = replayer_reg(following->replayer,
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

	following->is_allocating[call->stream] = false;
	if (following->writes.rc)
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
	heap->blocks.no_zones = heap->has_others = false;
	heap->allocations = heap->frees = 0;
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
	int rc = replayer_seek(following->replayer, &calls.from,
			       following->why);

	if (!rc)
		rc = heap_writes_begin(&following->writes, following->why);
	if (!rc)
		rc = calls_find(&calls, &following->heap->functions,
				following->why);
	heap_writes_end(&following->writes);
	if (!rc && following->writes.rc)
		rc = out_of_memory(following->why);
	return rc;
}

static int follow(struct following *following)
{
	struct heap *heap = following->heap;
	const struct heap_question *question = following->question;
	int rc = query_replayer(question->query, &following->replayer,
				following->why);

	following->writes = (struct heap_writes) {
		.blocks = &heap->blocks, .errors = &heap->errors,
		.recording = following->recording,
		.replayer = following->replayer,
		.is_allocating = following->is_allocating,
		.wants_errors = question->writes,
		.has_others = &heap->has_others,
	};
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
	size_t threads = recording_threads(recording);
	struct following following = {
		.heap = out, .question = question, .recording = recording,
		.table = recording_reg_table(recording), .why = why,
		.pending = calloc(threads, sizeof(*following.pending)),
		.is_allocating = calloc(threads, sizeof(bool)),
	};
	int rc = following.pending && following.is_allocating ?
			 recording_check_program(recording, why) :
			 out_of_memory(why);

	*out = (struct heap) {
		.functions = { .lines = question->lines,
			       .is_wanted = heap_has_role },
		.has_others = recording_meta(recording)->origin.parent ||
			      recording_start(recording),
	};
	out->blocks.no_zones = out->has_others;
	if (!rc)
		rc = follow(&following);
	free(following.pending);
	free(following.is_allocating);
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
