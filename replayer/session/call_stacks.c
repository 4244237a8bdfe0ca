/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call_stacks.c - see call_stacks.h */
#include "replayer/session/call_stacks.h"

#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/stacks.h"
#include "replayer/replayer.h"
#include "replayer/session/goroutines.h"
#include "replayer/session/kernel.h"
#include "replayer/session/marks.h"
#include "vm/memory/memory.h"

static int out_of_memory(struct call_stacks *stacks)
{
	return failed(stacks->why, ERR_NO_MEMORY, "out of memory");
}

static struct call *top(const struct call_stack *stack)
{
	return stack->count ? stack->list[stack->count - 1] : NULL;
}

/* ------- where a thread stands ------- */

struct standing {
	guest_addr pc, sp;
	guest_addr back;	/* at a function's entry */
	unsigned frame;		/* the same */
	guest_addr stack, stack_end;	/* the memory that the stack is in */
	enum vm_way way;
	guest_addr from;
	struct position at;
	uint64_t goroutine;	/* 0: a thread */
};

/* Of a machine nobody says where a stack ends, but that of the kernel and of a
 * program are two. */
static void find_stack(struct replayer *replayer, struct standing *now)
{
	const uint64_t half = UINT64_C(1) << 63;
	struct vm *vm = replayer_vm(replayer);
	const struct region *region =
		vm ? memory_region_at(vm_memory(vm), now->sp) : NULL;

	if (!vm)
		now->stack = now->sp & half;
	else if (region)
		now->stack = region->start;
	now->stack_end = region ? region->end : vm ? 0 : now->stack + half;
}

/* Whether a thread stands on the stack of a call, as memory is now: what was
 * mapped beside it then may be mapped no more. */
static bool is_same_stack(const struct call *call, const struct standing *now)
{
	return call->sp - now->stack < now->stack_end - now->stack;
}

/* A goroutine's stack pointer is as if its stack ended here. */
#define STACK_END (UINT64_C(1) << 63)

static void find_goroutine(const struct call_stacks *stacks,
			   struct replayer *replayer, struct standing *now)
{
	struct goroutine found;

	if (!stacks->is_go ||
	    !goroutine_find(replayer, stacks->table, now->sp, &found))
		return;
	now->goroutine = found.number;
	now->sp += STACK_END - found.stack_end;
	now->stack = 0;
	now->stack_end = UINT64_MAX;
}

static bool peek(void *context, uint64_t addr, void *bytes, size_t size)
{
	return replayer_peek(context, addr, bytes, size);
}

/* A handler of a Cortex-M returns to what was interrupted; what that has kept
 * on this stack.  Of another one, somebody else may go on. */
static unsigned find_interrupted(struct replayer *replayer, uint64_t sp,
				 uint64_t back, uint64_t *out)
{
	const struct guest_reader memory = { .read = peek,
					     .context = replayer };
	uint64_t at = exception_frame_at(back, sp,
					 replayer_reg(replayer, CM_PSP));

	return at == sp ? exception_frame_size(&memory, back, at, out) : 0;
}

/* What a function's entry returns to: on the stack, or in a register. */
static int find_back(const struct call_stacks *stacks,
		     struct replayer *replayer, uint64_t sp, uint64_t *out,
		     unsigned *frame)
{
	const struct stack_table *table = stack_table(stacks->table->arch);
	uint8_t bytes[8] = { 0 }, known[8];
	int rc;

	*out = 0;
	*frame = 0;
	if (table->has_link_register) {
		uint64_t back = replayer_reg(replayer, table->link_register);

		*out = reg_code(stacks->table, back);
		if (stacks->table->arch == ARCH_CORTEX_M &&
		    exception_frame_is(back))
			*frame = find_interrupted(replayer, sp, back, out);
		return 0;
	}
	rc = replayer_read(replayer, sp, bytes, known, table->call_size,
			   stacks->why);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		*out |= (uint64_t)bytes[i] << 8 * i;
	return rc;
}

/* What a return takes off the stack; `from` is where it is. */
static unsigned popped(const struct call_stacks *stacks,
		       struct replayer *replayer, guest_addr from)
{
	const struct stack_table *table = stack_table(stacks->table->arch);
	unsigned size = table->has_link_register ? 0 : table->call_size;
	uint8_t code[3];

	if (!table->popping_return ||
	    !replayer_peek(replayer, from, code, sizeof(code)) ||
	    code[0] != table->popping_return)
		return size;
	return size + code[1] + ((unsigned)code[2] << 8);
}

static int stand(struct call_stacks *stacks, struct marks *marks,
		 const struct vm_stop *stop, const struct position *at,
		 struct standing *out)
{
	struct replayer *replayer = marks_replayer(marks);
	uint64_t sp = replayer_reg(replayer, stacks->table->sp);

	*out = (struct standing) {
		.pc = stop->pc, .sp = sp, .at = *at, .way = stop->way,
		.from = stop->from,
	};
	find_stack(replayer, out);
	find_goroutine(stacks, replayer, out);
	return find_back(stacks, replayer, sp, &out->back, &out->frame);
}

/* ------- a call is over ------- */

static int set_steps(struct call_stacks *stacks, struct call *call)
{
	struct recording *recording = stacks->recording;
	uint32_t thread;
	uint64_t before, after;
	int rc;

	call->has_steps = !call->has_moved;
	if (call->has_moved)
		return 0;
	if (recording_threads(recording) == 1) {
		call->steps = call->ended.time - call->at.time;
		return 0;
	}
	thread = recording_thread_of(recording, call->stream, call->at.time);
	rc = recording_steps(recording, thread, call->at.time, &before,
			     stacks->why);
	if (!rc)
		rc = recording_steps(recording, thread, call->ended.time,
				     &after, stacks->why);
	call->steps = rc ? 0 : after - before;
	return rc;
}

static void count(const struct call *call)
{
	call->function->calls++;
	if (!call->is_inner)
		call->function->steps += call->steps;
}

static int tell_end(struct call_stacks *stacks, struct call *call)
{
	const struct call_user *user = stacks->user;
	int rc = call->end == CALL_LEFT ? 0 : set_steps(stacks, call);

	if (rc || call->function->is_resolver)
		return rc;
	count(call);
	return user->ends(user->context, call, stacks->why);
}

static int end_top(struct call_stacks *stacks, struct call_stack *stack,
		   enum call_end how, const struct position *at)
{
	struct call *call = stack->list[--stack->count];
	int rc;

	stacks->open--;
	call->end = how;
	call->ended = *at;
	rc = tell_end(stacks, call);
	free(call);
	return rc;
}

/* Those whose stack ends before `sp` are no more. */
static int leave(struct call_stacks *stacks, struct call_stack *stack,
		 const struct standing *now, guest_addr sp)
{
	const struct call *call;
	int rc = 0;

	while (!rc && (call = top(stack)) &&
	       is_same_stack(call, now) && call->sp + call->frame < sp)
		rc = end_top(stacks, stack, CALL_LEFT, &now->at);
	return rc;
}

/* ------- of a thread ------- */

/* Its memory is another program's: it is another thread, that has its number
 * now, or has become that. */
static int end_others(struct call_stacks *stacks, struct call_stack *stack,
		      struct replayer *replayer, const struct position *at)
{
	struct machine_view view = { 0 };
	int rc = 0;

	replayer_machine(replayer, replayer_stream(replayer), &view);
	if (!view.is_program)
		return 0;
	while (stack->table != view.low && stack->count && !rc)
		rc = end_top(stacks, stack, CALL_THREAD_ENDED, at);
	stack->table = view.low;
	return rc;
}

static int find_of_thread(struct call_stacks *stacks, uint64_t thread,
			  struct call_stack **out)
{
	const uint64_t *found = number_map_find(&stacks->threads, thread);

	if (found) {
		*out = &stacks->stacks[*found];
		return 0;
	}
	if (array_room(stacks->stacks, stacks->count, stacks->room) ||
	    number_map_set(&stacks->threads, thread, stacks->count))
		return out_of_memory(stacks);
	*out = &stacks->stacks[stacks->count++];
	**out = (struct call_stack) { 0 };
	return 0;
}

/* The stack of the thread that executes. */
static int find_calls(struct call_stacks *stacks, struct marks *marks,
		      const struct standing *now, struct call_stack **out)
{
	struct replayer *replayer = marks_replayer(marks);
	int rc;

	if (now->goroutine)
		return find_of_thread(stacks, now->goroutine, out);
	if (!stacks->kernel) {
		*out = &stacks->stacks[replayer_stream(replayer)];
		return 0;
	}
	rc = find_of_thread(stacks, kernel_present_thread(stacks->kernel),
			    out);
	return rc ? rc : end_others(stacks, *out, replayer, &now->at);
}

/* ------- a call begins ------- */

/* The outermost of those that jumped to each other. */
static const struct call *first_of_jumps(const struct call_stack *stack)
{
	size_t i = stack->count - 1;

	while (i && stack->list[i]->from && stack->list[i - 1]->sp ==
						    stack->list[i]->sp)
		i--;
	return stack->list[i];
}

/* Whether the instruction jumps to a place that it names, as no stub does. */
static bool jumps_directly(struct replayer *replayer, guest_addr from)
{
	uint8_t code[VM_INSTRUCTION_MOST];
	size_t size = sizeof(code);
	struct vm_instruction instruction;

	/* Less may be there: it can be the last one before unknown memory. */
	while (size && !replayer_peek(replayer, from, code, size))
		size--;
	replayer_instruction(replayer, from, code, size, VM_INTEL,
			     &instruction);
	return instruction.way == VM_WAY_OTHER && instruction.jumps;
}

/*
 * Whether the function of the last call has jumped to the one that is entered
 * with the same stack, directly or through functions that are not listed.  Else
 * it has been left, and its caller makes another call from there.  By way of a
 * stub, that call can only be of the same function.
 */
static bool is_jumped_to(const struct call_stack *stack,
			 struct replayer *replayer, const struct standing *now)
{
	const struct call *last = top(stack);

	if (last->back != now->back || now->way == VM_WAY_CALL)
		return false;
	if (now->way == VM_WAY_OTHER && now->from >= last->pc &&
	    now->from - last->pc < last->function->size)
		return true;
	return first_of_jumps(stack)->pc != now->pc ||
	       (now->way == VM_WAY_OTHER && jumps_directly(replayer, now->from));
}

/* Ends what is no more there when a function is entered. */
static int leave_for_entry(struct call_stacks *stacks, struct call_stack *stack,
			   struct replayer *replayer,
			   const struct standing *now, bool *jumped)
{
	int rc = leave(stacks, stack, now, now->sp);
	const struct call *last = top(stack);

	*jumped = false;
	if (rc || !last || last->sp != now->sp)
		return rc;
	*jumped = is_jumped_to(stack, replayer, now);
	return *jumped ? 0 : leave(stacks, stack, now, now->sp + 1);
}

/* A function of Go has found its stack too small, and has got a larger one. */
static bool begins_again(const struct call_stack *stack,
			 const struct standing *now)
{
	return now->goroutine && top(stack)->pc == now->pc;
}

static bool is_inner(const struct call_stack *stack,
		     const struct call_function *function)
{
	for (size_t i = stack->count; i-- > 0;)
		if (stack->list[i]->function == function)
			return true;
	return false;
}

static bool is_wanted(const struct call_stacks *stacks,
		      const struct call_stack *stack,
		      const struct call_function *function, uint32_t tid)
{
	const struct call_user *user = stacks->user;

	return function->is_resolver ||
	       (stacks->begun < user->limit &&
		stack->count < user->depth_most &&
		(!user->some_thread || tid == user->tid));
}

static int push(struct call_stacks *stacks, struct call_stack *stack,
		const struct call *what, struct call **out)
{
	struct call *call = malloc(sizeof(*call));

	if (!call || array_room(stack->list, stack->count, stack->room)) {
		free(call);
		return out_of_memory(stacks);
	}
	*call = *what;
	stack->list[stack->count++] = call;
	stacks->open++;
	*out = call;
	return 0;
}

static int tell_begin(struct call_stacks *stacks, struct marks *marks,
		      struct call *call)
{
	const struct call_user *user = stacks->user;
	int rc;

	if (call->function->is_resolver)
		return 0;
	stacks->begun++;
	rc = user->begins(user->context, call, stacks->why);
	/* The rest of the run is to see how they end. */
	if (!rc && stacks->begun == user->limit)
		rc = marks_forget(marks);
	return rc;
}

static int begin_call(struct call_stacks *stacks, struct marks *marks,
		      struct call_function *function,
		      const struct standing *now)
{
	struct replayer *replayer = marks_replayer(marks);
	uint32_t stream = replayer_stream(replayer), tid;
	struct call_stack *stack;
	struct call *call = NULL;
	bool jumped;
	int rc = recording_tid(stacks->recording,
			       recording_thread_of(stacks->recording, stream,
						   now->at.time),
			       &tid, stacks->why);

	if (!rc)
		rc = find_calls(stacks, marks, now, &stack);
	if (!rc)
		rc = leave_for_entry(stacks, stack, replayer, now, &jumped);
	if (rc || (jumped && begins_again(stack, now)))
		return rc;
	function->is_called |= !stacks->user->some_thread ||
			       tid == stacks->user->tid;
	if (!is_wanted(stacks, stack, function, tid))
		return 0;
	rc = push(stacks, stack, &(struct call) {
		.function = function, .at = now->at, .stream = stream,
		.tid = tid, .pc = now->pc, .sp = now->sp, .back = now->back,
		.frame = now->frame,
		.from = jumped ? now->from ? now->from : now->back : 0,
		.depth = (unsigned)stack->count,
		.is_inner = is_inner(stack, function),
	}, &call);
	if (!rc)
		rc = now->frame ? marks_watch_for(marks, now->back) :
				  marks_watch(marks, now->back);
	return rc ? rc : tell_begin(stacks, marks, call);
}

static int look_for_go(struct call_stacks *stacks,
		       const struct symbols *symbols)
{
	uint64_t module = (uint64_t)(uintptr_t)symbols;

	if (number_map_find(&stacks->modules, module))
		return 0;
	stacks->is_go |= goroutines_are_in(symbols);
	return number_map_set(&stacks->modules, module, 0) ?
		       out_of_memory(stacks) : 0;
}

int call_stacks_enter(struct call_stacks *stacks, struct marks *marks,
		      struct call_function *function,
		      const struct vm_stop *stop, const struct position *at)
{
	struct standing now;
	int rc = look_for_go(stacks, function->symbols);

	if (!rc)
		rc = stand(stacks, marks, stop, at, &now);
	return rc ? rc : begin_call(stacks, marks, function, &now);
}

/* ------- calls that are over ------- */

int call_stacks_back(const struct call_stacks *stacks, struct marks *marks,
		     guest_addr *out)
{
	struct replayer *replayer = marks_replayer(marks);
	unsigned frame;

	return find_back(stacks, replayer,
			 replayer_reg(replayer, stacks->table->sp), out,
			 &frame);
}

/* Those that return to where the thread stands: several, if they jumped. */
static int return_from(struct call_stacks *stacks, struct marks *marks,
		       struct call_stack *stack, const struct standing *now)
{
	struct replayer *replayer = marks_replayer(marks);
	const unsigned size = popped(stacks, replayer, now->from);
	const guest_addr result = replayer_reg(replayer,
					       stacks->table->result);
	struct call *call;
	int rc = 0;

	while (!rc && (call = top(stack)) &&
	       call->sp + call->frame + size == now->sp &&
	       call->back == now->pc) {
		if (call->function->is_resolver)
			rc = stacks->resolved(stacks->context, marks,
					      call->function, call->pc,
					      result);
		if (call->frame)
			marks_unwatch(marks, call->back);
		call->has_moved = replayer_stream(replayer) != call->stream;
		if (!rc)
			rc = end_top(stacks, stack, CALL_RETURNED, &now->at);
	}
	return rc;
}

/* What is behind a call may be jumped to, too. */
int call_stacks_return(struct call_stacks *stacks, struct marks *marks,
		       const struct vm_stop *stop, const struct position *at)
{
	struct replayer *replayer = marks_replayer(marks);
	struct call_stack *stack;
	struct standing now = { .at = *at };
	int rc = 0;

	if (stacks->is_go)
		rc = stand(stacks, marks, stop, at, &now);
	if (!rc)
		rc = find_calls(stacks, marks, &now, &stack);
	if (rc || !stack->count)
		return rc;
	if (!stacks->is_go)
		rc = stand(stacks, marks, stop, at, &now);
	if (!rc)
		rc = leave(stacks, stack, &now,
			   now.sp - popped(stacks, replayer, now.from));
	if (!rc && (now.way == VM_WAY_RETURN || now.way == VM_WAY_UNKNOWN))
		rc = return_from(stacks, marks, stack, &now);
	if (!rc)
		rc = leave(stacks, stack, &now, now.sp);
	if (!rc && !stacks->open && stacks->begun == stacks->user->limit)
		rc = CALLS_ENOUGH;
	return rc;
}

/* ------- calls that are not over ------- */

static int end_stack(struct call_stacks *stacks, struct call_stack *stack,
		     const struct position *to)
{
	struct recording *recording = stacks->recording;
	uint32_t stream = top(stack)->stream;
	struct position at = *to;
	enum call_end how = CALL_RUNS;
	bool exits;
	uint64_t time;
	int rc = recording_exit(recording, stream, &exits, &time, stacks->why);

	if (rc)
		return rc;
	if (exits && time <= to->time) {
		how = CALL_THREAD_ENDED;
		at = (struct position) { time, 0 };
	}
	if (recording_summary(recording) &&
	    at.time == recording_end(recording))
		how = CALL_PROCESS_ENDED;
	while (!rc && stack->count)
		rc = end_top(stacks, stack, how, &at);
	return rc;
}

int call_stacks_end(struct call_stacks *stacks, const struct position *to)
{
	int rc = 0;

	for (size_t i = 0; i < stacks->count && !rc; i++)
		if (stacks->stacks[i].count)
			rc = end_stack(stacks, &stacks->stacks[i], to);
	return rc;
}

/* ------- making and ending ------- */

static int end_all(struct call_stacks *stacks, enum call_end how,
		   const struct position *at)
{
	int rc = 0;

	for (size_t i = 0; i < stacks->count && !rc; i++)
		while (!rc && stacks->stacks[i].count)
			rc = end_top(stacks, &stacks->stacks[i], how, at);
	return rc;
}

int call_stacks_replace(struct call_stacks *stacks, uint64_t t)
{
	const struct call_user *user = stacks->user;
	const struct position at = { t, 0 };
	int rc = end_all(stacks, CALL_REPLACED, &at);

	if (rc || !user->replaced)
		return rc;
	return user->replaced(user->context, t, stacks->why);
}

int call_stacks_init(struct call_stacks *stacks, struct recording *recording)
{
	stacks->recording = recording;
	stacks->table = recording_reg_table(recording);
	stacks->count = stacks->room = recording_threads(recording);
	stacks->stacks = calloc(stacks->count, sizeof(*stacks->stacks));
	return stacks->stacks ? 0 : out_of_memory(stacks);
}

void call_stacks_forget(struct call_stacks *stacks)
{
	for (size_t i = 0; i < stacks->count && stacks->stacks; i++) {
		struct call_stack *stack = &stacks->stacks[i];

		while (stack->count)
			free(stack->list[--stack->count]);
	}
	stacks->open = 0;
}

void call_stacks_release(struct call_stacks *stacks)
{
	call_stacks_forget(stacks);
	for (size_t i = 0; i < stacks->count && stacks->stacks; i++)
		free(stacks->stacks[i].list);
	free(stacks->stacks);
	stacks->stacks = NULL;
	number_map_release(&stacks->threads);
	number_map_release(&stacks->modules);
}
