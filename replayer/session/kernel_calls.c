/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_calls.c - see kernel_calls.h
 *
 * Source: Linux, arch/arm64/kernel/syscall.c and signal.c, start_thread() in
 * arch/arm64/include/asm/processor.h, kernel/exit.c and signal.c,
 * fs/coredump.c.
 */
#include "replayer/session/kernel_calls.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/session/kernel_internal.h"
#include "replayer/session/known_memory.h"
#include "vm/linux/abi/calls.h"

/* Functions of the kernel's, each with what its first arguments are. */
enum stop {
	STOP_CALL,		/* registers of the program */
	STOP_SIGNAL,		/* whether that failed; the signal */
	STOP_CORE,		/* what the signal is that ends the process */
	STOP_GROUP,		/* how the process ends */
	STOP_EXIT,		/* how the thread ends */
	STOPS
};

static const char *const functions[STOPS] = {
	[STOP_CALL] = "do_el0_svc",
	[STOP_SIGNAL] = "signal_setup_done",
	[STOP_CORE] = "do_coredump",
	[STOP_GROUP] = "do_group_exit",
	[STOP_EXIT] = "do_exit",
};

/* What a program has left in registers. */
enum frame_place { REGS_X, REGS_FIRST, REGS_SP, REGS_CALL, FRAME_PLACES };

static const struct kernel_place frame_places[FRAME_PLACES] = {
	[REGS_X] = { "pt_regs", "regs" },
	[REGS_FIRST] = { "pt_regs", "orig_x0" },
	[REGS_SP] = { "pt_regs", "sp" },
	[REGS_CALL] = { "pt_regs", "syscallno" },
};

enum place { TASK_SIGNALS, SIGNALS_FLAGS, SIGNAL_INFO_AT, PLACES };

static const struct kernel_place places[PLACES] = {
	[TASK_SIGNALS] = { "task_struct", "signal" },
	[SIGNALS_FLAGS] = { "signal_struct", "flags" },
	[SIGNAL_INFO_AT] = { "ksignal", "info" },
};

#define GROUP_EXITS 4u		/* SIGNAL_GROUP_EXIT */
#define STATUS_SIGNAL 0x7fu	/* of how something ends */
#define NUMBER_REG 8u		/* x8 */
#define REGISTERS 31u		/* x0 to x30 */
#define NO_CALL UINT32_MAX	/* of a number: the kernel has forgotten it */
#define NUMBER_SIGRETURN 139u	/* include/uapi/asm-generic/unistd.h */
#define NUMBER_EXECVE 221u
#define CALL_INSN UINT32_C(0x94000000)	/* BL */
#define CALL_RANGE 0x3ffffffu

/* A thread, by the address of its structure. */
struct kernel_thread {
	uint64_t task;
	bool in_call, was_told;	/* of the signal that ends it */
	struct call_event call;
};

struct visiting {
	const struct kernel_calls *asked;
	struct kernel *kernel;
	struct replayer *replayer;
	const struct reg_table *regs;
	uint64_t stops[STOPS];
	struct kernel_addresses returns;	/* where calls are over */
	uint32_t at[PLACES];
	uint64_t from;
	struct kernel_wanted wanted;
	struct kernel_thread *threads;
	size_t count, room;
	char name[KERNEL_NAME];
	bool is_over;
};

/* ------- what a program has left in registers ------- */

static bool find_frame(struct kernel *kernel)
{
	_Static_assert(FRAME_PLACES == KERNEL_CALL_PLACES, "places");
	if (!kernel->frame &&
	    kernel_places(kernel, frame_places, FRAME_PLACES, kernel->calls))
		btf_size(&kernel->btf, "pt_regs", &kernel->frame);
	return kernel->frame;
}

static uint64_t program_reg(struct kernel *kernel, uint64_t frame,
			    unsigned number)
{
	return kernel_number(kernel, frame + kernel->calls[REGS_X] +
				     8 * number, 8);
}

static bool read_memory(void *context, uint64_t addr, void *bytes, size_t size)
{
	return known_memory_read(context, addr, bytes, size);
}

static void take_call(struct kernel *kernel, uint64_t frame, uint64_t number,
		      uint64_t first, struct call_event *event)
{
	const struct linux_reader memory = { read_memory, kernel->replayer };

	event->number = number;
	event->args[0] = first;
	for (unsigned i = 1; i < KERNEL_ARGS; i++)
		event->args[i] = program_reg(kernel, frame, i);
	event->sp = kernel_number(kernel, frame + kernel->calls[REGS_SP], 8);
	event->call = linux_call_made(ARCH_AARCH64, event->number,
				      event->args, &memory);
}

/* A program begins with nothing in its registers. */
static bool has_begun(struct kernel *kernel, uint64_t frame)
{
	for (unsigned i = 0; i < REGISTERS; i++)
		if (program_reg(kernel, frame, i))
			return false;
	return true;
}

/*
 * The number of a call that has begun.  Two calls replace the program's
 * registers, x8 too: one that executes another program, and the one that
 * returns from a handler.  The kernel forgets the number of the latter, some
 * kernels that of both.
 */
static uint64_t call_number(struct kernel *kernel, uint64_t frame,
			    bool *is_replaced)
{
	uint64_t number = kernel_number(kernel, frame +
					kernel->calls[REGS_CALL], 4);

	*is_replaced = number == NO_CALL || has_begun(kernel, frame);
	if (number != NO_CALL)
		return number;
	return has_begun(kernel, frame) ? NUMBER_EXECVE : NUMBER_SIGRETURN;
}

/* Of one that has begun, the first argument is kept elsewhere. */
void kernel_call_made(struct kernel *kernel, uint64_t task,
		      struct call_event *out)
{
	uint64_t frame, number;
	bool is_replaced;

	*out = (struct call_event){ 0 };
	if (!find_frame(kernel))
		return;
	frame = kernel_stack_end(kernel, task) - kernel->frame;
	number = call_number(kernel, frame, &is_replaced);
	take_call(kernel, frame, number,
		  kernel_number(kernel, frame + kernel->calls[REGS_FIRST], 8),
		  out);
	out->lacks_args = is_replaced;
	out->result = (int64_t)program_reg(kernel, frame, 0);
}

/* ------- the present thread ------- */

static uint64_t argument(const struct visiting *visiting, unsigned number)
{
	return replayer_reg(visiting->replayer,
			    visiting->regs->args[number]);
}

/* Whether it is asked for; threads of the kernel's never are. */
static bool find_task(struct visiting *visiting, uint64_t *task,
		      struct kernel_process *out)
{
	struct machine_view view = { 0 };

	replayer_use_space(visiting->replayer, &(struct address_space){ 0 });
	replayer_machine(visiting->replayer,
			 replayer_stream(visiting->replayer), &view);
	*task = view.program_sp;
	kernel_describe(visiting->kernel, *task, out);
	if (!out->has_memory)
		return false;
	memcpy(visiting->name, out->name, sizeof(visiting->name));
	return kernel_is_wanted(visiting->kernel, &visiting->wanted, *task);
}

static struct kernel_thread *find_thread(struct visiting *visiting,
					 uint64_t task)
{
	struct kernel_thread *unused = NULL;

	for (size_t i = 0; i < visiting->count; i++)
		if (visiting->threads[i].task == task)
			return &visiting->threads[i];
		else if (!visiting->threads[i].task)
			unused = &visiting->threads[i];
	if (!unused) {
		if (array_room(visiting->threads, visiting->count,
			       visiting->room))
			return NULL;
		unused = &visiting->threads[visiting->count++];
	}
	*unused = (struct kernel_thread){ .task = task };
	return unused;
}

/* ------- events ------- */

static int tell(struct visiting *visiting, const struct call_event *event)
{
	const struct calls_list *list = visiting->asked->list;
	int rc = list->visit(list->context, event);

	if (!rc && list->is_enough &&
	    list->is_enough(list->context, event->at.time))
		visiting->is_over = true;
	return rc;
}

static struct call_event begin(const struct visiting *visiting,
			       const struct kernel_thread *thread,
			       const struct kernel_process *process,
			       enum call_visit visit)
{
	return (struct call_event){
		.visit = visit,
		.at = replayer_now(visiting->replayer),
		.stream = (uint32_t)(thread - visiting->threads),
		.tid = process->pid,
		.program = visiting->name, .task = thread->task,
	};
}

/* The program has given way a little before. */
static void set_begin(const struct visiting *visiting,
		      struct call_event *event)
{
	struct machine_view view = { 0 };

	replayer_machine(visiting->replayer,
			 replayer_stream(visiting->replayer), &view);
	if (view.left_at <= event->at.time)
		event->at = (struct position){
			view.left_at > visiting->from ? view.left_at :
							visiting->from, 0,
		};
}

static int enter(struct visiting *visiting, struct kernel_thread *thread,
		 const struct kernel_process *process)
{
	const uint64_t frame = argument(visiting, 0);
	struct call_event event = begin(visiting, thread, process,
					VISIT_ENTER);

	set_begin(visiting, &event);
	take_call(visiting->kernel, frame,
		  program_reg(visiting->kernel, frame, NUMBER_REG),
		  program_reg(visiting->kernel, frame, 0), &event);
	thread->in_call = true;
	thread->call = event;
	return tell(visiting, &event);
}

static int leave(struct visiting *visiting, struct kernel_thread *thread,
		 const struct kernel_process *process)
{
	const struct call_event now = begin(visiting, thread, process,
					    VISIT_LEAVE);
	struct call_event made, event;

	kernel_call_made(visiting->kernel, thread->task, &made);
	event = thread->in_call ? thread->call : made;
	event.visit = VISIT_LEAVE;
	event.at = now.at;
	event.stream = now.stream;
	event.tid = now.tid;
	event.program = now.program;
	event.task = now.task;
	event.was_entered = thread->in_call;
	event.result = made.result;
	thread->in_call = false;
	return tell(visiting, &event);
}

static int tell_signal(struct visiting *visiting, struct kernel_thread *thread,
		       const struct kernel_process *process, uint64_t info,
		       uint64_t number)
{
	struct call_event event = begin(visiting, thread, process,
					VISIT_SIGNAL);

	event.signal = info ? kernel_number(visiting->kernel, info, 4) : number;
	event.info = info;
	return tell(visiting, &event);
}

static bool group_exits(struct visiting *visiting, uint64_t task)
{
	uint64_t signals = kernel_pointer(visiting->kernel, task +
					  visiting->at[TASK_SIGNALS]);

	return kernel_number(visiting->kernel, signals +
			     visiting->at[SIGNALS_FLAGS], 4) & GROUP_EXITS;
}

/* A signal ends the process, of which nobody has been told. */
static int end_group(struct visiting *visiting, struct kernel_thread *thread,
		     const struct kernel_process *process)
{
	uint64_t signal = argument(visiting, 0) & STATUS_SIGNAL;

	return signal && !thread->was_told &&
	       !group_exits(visiting, thread->task) ?
		       tell_signal(visiting, thread, process, 0, signal) : 0;
}

static bool is_exit(const struct linux_call *call)
{
	return call && (linux_call_kind(call) == CALL_exit ||
			linux_call_kind(call) == CALL_exit_group);
}

static int end_thread(struct visiting *visiting, struct kernel_thread *thread,
		      const struct kernel_process *process)
{
	struct call_event event = begin(visiting, thread, process, VISIT_END);
	int64_t status = (int64_t)argument(visiting, 0);
	int rc = 0;

	event.result = status & STATUS_SIGNAL ? -(status & STATUS_SIGNAL) :
						status >> 8 & 255;
	if (thread->in_call && is_exit(thread->call.call)) {
		struct call_event call = thread->call;

		call.visit = VISIT_LEAVE;
		call.at = event.at;
		call.was_entered = true;
		rc = tell(visiting, &call);
	}
	if (!rc)
		rc = tell(visiting, &event);
	thread->task = 0;
	return rc;
}

static int tell_stop(struct visiting *visiting, enum stop stop,
		     struct kernel_thread *thread,
		     const struct kernel_process *process)
{
	uint64_t second = argument(visiting, 1);

	switch (stop) {
	case STOP_CALL:
		return enter(visiting, thread, process);
	case STOP_SIGNAL:
		return argument(visiting, 0) ? 0 :
			tell_signal(visiting, thread, process, second +
				    visiting->at[SIGNAL_INFO_AT], 0);
	case STOP_CORE:
		thread->was_told = true;
		return tell_signal(visiting, thread, process,
				   argument(visiting, 0), 0);
	case STOP_GROUP:
		return end_group(visiting, thread, process);
	case STOP_EXIT:
		return end_thread(visiting, thread, process);
	default:
		return leave(visiting, thread, process);
	}
}

static int on_break(void *context, const struct vm_stop *stop,
		    const struct position *at)
{
	struct visiting *visiting = context;
	struct kernel_process process;
	struct kernel_thread *thread;
	struct address_space space = { .has_table = true };
	unsigned which = 0;
	uint64_t task;

	(void)at;
	if (!find_task(visiting, &task, &process))
		return 0;
	thread = find_thread(visiting, task);
	if (!thread)
		return ERR_NO_MEMORY;
	space.table = process.table;
	query_use_space(visiting->asked->query, &space);
	while (which < STOPS && visiting->stops[which] != stop->pc)
		which++;
	return tell_stop(visiting, which, thread, &process);
}

/* ------- where the replay stops ------- */

static int add_address(struct kernel_addresses *addresses, uint64_t addr)
{
	if (array_room(addresses->list, addresses->count, addresses->room))
		return ERR_NO_MEMORY;
	addresses->list[addresses->count++] = addr;
	return 0;
}

/* Behind each instruction of the kernel's that calls the function. */
int kernel_find_returns(struct kernel *kernel, struct names *names, uint64_t t,
			struct kernel_addresses *out, struct failure *why)
{
	const struct kernel_image *image = &kernel->image;
	uint64_t function, size;
	int rc = names_find(names, t, functions[STOP_CALL], &function, &size,
			    why);

	if (rc)
		return rc;
	for (size_t i = 0; i + 4 <= image->size && !rc; i += 4) {
		uint64_t pc = image->base + i;
		uint32_t insn;

		memcpy(&insn, image->bytes + i, sizeof(insn));
		if (insn == (CALL_INSN | ((function - pc) / 4 & CALL_RANGE)))
			rc = add_address(out, pc + 4);
	}
	if (rc)
		return failed(why, rc, "out of memory");
	return out->count ? 0 :
		failed(why, ERR_NOT_FOUND, "nothing in the kernel calls %s():"
		       " its system calls cannot be found",
		       functions[STOP_CALL]);
}

static int find_stops(struct visiting *visiting, uint64_t t,
		      struct failure *why)
{
	uint64_t size;
	int rc = 0;

	for (unsigned i = 0; i < STOPS && !rc; i++)
		rc = names_find(visiting->asked->names, t, functions[i],
				&visiting->stops[i], &size, why);
	if (!rc)
		rc = kernel_find_returns(visiting->kernel,
					 visiting->asked->names, t,
					 &visiting->returns, why);
	return rc;
}

static int set_stops(struct visiting *visiting, struct failure *why)
{
	int rc = 0;

	for (unsigned i = 0; i < STOPS && !rc; i++)
		rc = replayer_break_set(visiting->replayer, visiting->stops[i],
					why);
	for (size_t i = 0; i < visiting->returns.count && !rc; i++)
		rc = replayer_break_set(visiting->replayer,
					visiting->returns.list[i], why);
	return rc;
}

static void clear_stops(struct visiting *visiting)
{
	for (unsigned i = 0; i < STOPS; i++)
		replayer_break_clear(visiting->replayer, visiting->stops[i]);
	for (size_t i = 0; i < visiting->returns.count; i++)
		replayer_break_clear(visiting->replayer, visiting->returns.list[i]);
}

static int prepare(struct visiting *visiting, const struct position *to,
		   struct failure *why)
{
	if (!kernel_places(visiting->kernel, places, PLACES, visiting->at) ||
	    !find_frame(visiting->kernel))
		return failed(why, ERR_NOT_FOUND, "the kernel's BTF does not"
			      " say where its system calls are");
	return find_stops(visiting, to->time, why);
}

/* By segments, to be able to stop. */
static int go_on(struct visiting *visiting, const struct position *to,
		 struct failure *why)
{
	struct recording *recording = visiting->asked->list->recording;
	struct replay_visits visits = { .visit = on_break,
					.context = visiting };
	size_t segments = recording_segments(recording);
	size_t i = recording_segment_at(recording, visiting->from) + 1;
	bool is_last = false;
	int rc = 0;

	for (; !is_last && !rc && !visiting->is_over; i++) {
		is_last = i >= segments ||
			  recording_time(recording, i) >= to->time;
		visits.to = is_last ? *to : (struct position){
				    recording_time(recording, i), 0 };
		rc = replayer_visit(visiting->replayer, &visits, why);
	}
	return rc;
}

int kernel_calls_visit(const struct kernel_calls *calls,
		       const struct position *from, const struct position *to,
		       struct failure *why)
{
	const struct address_space before = calls->query->space;
	struct visiting visiting = {
		.asked = calls, .kernel = calls->kernel,
		.replayer = calls->list->replayer,
		.regs = recording_reg_table(calls->list->recording),
		.from = from->time,
	};
	int rc = prepare(&visiting, to, why);

	kernel_want(&visiting.wanted, calls->process);
	visiting.kernel->replayer = visiting.replayer;
	if (!rc)
		rc = replayer_seek(visiting.replayer, from, why);
	if (!rc)
		rc = set_stops(&visiting, why);
	if (!rc)
		rc = go_on(&visiting, to, why);
	clear_stops(&visiting);
	query_use_space(calls->query, &before);
	free(visiting.returns.list);
	free(visiting.threads);
	return rc;
}
