/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel.c - see kernel.h */
#include "replayer/session/kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/replayer.h"
#include "replayer/session/kernel_internal.h"
#include "replayer/session/numbers.h"

#define PROCESSES_MOST 100000u

/* Where members are; one that a kernel does not have is MEMBER_NONE. */
static const struct kernel_place members[KERNEL_MEMBERS] = {
	[TASK_TASKS] = { "task_struct", "tasks" },
	[TASK_PID] = { "task_struct", "pid" },
	[TASK_NAME] = { "task_struct", "comm" },
	[TASK_MEMORY] = { "task_struct", "mm" },
	[TASK_PARENT] = { "task_struct", "real_parent" },
	[TASK_STATE] = { "task_struct", "__state" },
	[TASK_EXIT_STATE] = { "task_struct", "exit_state" },
	[TASK_STACK] = { "task_struct", "stack" },
	[TASK_LEADER] = { "task_struct", "group_leader" },
	[MEMORY_TABLE] = { "mm_struct", "pgd" },
};

/* ------- reading ------- */

bool kernel_read(struct kernel *kernel, uint64_t addr, void *out, size_t size)
{
	uint8_t known[256];

	return size <= sizeof(known) &&
	       !replayer_read(kernel->replayer, addr, out, known, size, NULL) &&
	       !memchr(known, 0, size);
}

uint64_t kernel_number(struct kernel *kernel, uint64_t addr, size_t size)
{
	uint8_t bytes[sizeof(uint64_t)] = { 0 };
	uint64_t value = 0;

	if (!kernel_read(kernel, addr, bytes, size))
		return 0;
	for (size_t i = size; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

uint64_t kernel_pointer(struct kernel *kernel, uint64_t addr)
{
	return kernel_number(kernel, addr, 8);
}

static uint64_t pointer(struct kernel *kernel, uint64_t task,
			enum kernel_member member)
{
	return kernel_pointer(kernel, task + kernel->members[member]);
}

size_t kernel_places(const struct kernel *kernel,
		     const struct kernel_place *places, size_t count,
		     uint32_t *out)
{
	size_t i = 0;

	while (i < count && !btf_member(&kernel->btf, places[i].structure,
					places[i].member, &out[i]))
		i++;
	return i;
}

static void see_kernel(struct kernel *kernel)
{
	replayer_use_space(kernel->replayer, &(struct address_space){ 0 });
}

int kernel_go(struct kernel *kernel, const struct position *at,
	      struct failure *why)
{
	int rc = query_replayer(kernel->query, &kernel->replayer, why);

	if (!rc)
		rc = replayer_seek(kernel->replayer, at, why);
	if (!rc)
		see_kernel(kernel);
	return rc;
}

int kernel_stay(struct kernel *kernel, struct failure *why)
{
	int rc = query_replayer(kernel->query, &kernel->replayer, why);

	if (!rc)
		see_kernel(kernel);
	return rc;
}

void kernel_leave(struct kernel *kernel)
{
	query_use_space(kernel->query, &kernel->query->space);
}

/* ------- finding it ------- */

static int find_members(struct kernel *kernel, struct failure *why)
{
	size_t found = kernel_places(kernel, members, KERNEL_MEMBERS,
				     kernel->members);

	return found == KERNEL_MEMBERS ? 0 :
		failed(why, ERR_NOT_FOUND, "the kernel has no %s.%s, which says"
		       " where processes are", members[found].structure,
		       members[found].member);
}

static uint64_t number_in(const struct kernel_image *image, size_t at,
			  size_t size)
{
	uint64_t value = 0;

	if (at > image->size || size > image->size - at)
		return 0;
	for (size_t i = size; i-- > 0;)
		value = value << 8 | image->bytes[at + i];
	return value;
}

/* The first process is a variable of the kernel's, and its own parent. */
static int find_first(struct kernel *kernel, struct failure *why)
{
	const struct kernel_image *image = &kernel->image;
	const uint32_t *at = kernel->members;
	const uint8_t *found = image->bytes;

	while ((found = memmem(found, image->size -
			       (size_t)(found - image->bytes), "swapper", 7))) {
		size_t task = (size_t)(found - image->bytes) - at[TASK_NAME];

		found++;
		if (task >= image->size || task % 8 ||
		    number_in(image, task + at[TASK_PID], 4) ||
		    number_in(image, task + at[TASK_PARENT], 8) !=
			    image->base + task)
			continue;
		kernel->first = image->base + task;
		return 0;
	}
	return failed(why, ERR_NOT_FOUND, "the kernel's first process is not"
		      " to be found");
}

int kernel_create(struct kernel **out, struct query *query,
		  struct failure *why)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));
	int rc;

	if (!kernel)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	kernel->query = query;
	rc = kernel_image_read(&kernel->image, query_recording(query), why);
	if (!rc && !kernel->image.base)
		rc = failed(why, ERR_NOT_FOUND, "the machine's kernel has"
			    " no symbols in its memory");
	if (!rc && btf_find(&kernel->btf, kernel->image.bytes,
			    kernel->image.size))
		rc = failed(why, ERR_NOT_FOUND, "the kernel has no BTF, which"
			    " says how its structures are");
	if (!rc)
		rc = find_members(kernel, why);
	if (!rc)
		rc = find_first(kernel, why);
	if (rc) {
		kernel_destroy(kernel);
		return rc;
	}
	*out = kernel;
	return 0;
}

void kernel_destroy(struct kernel *kernel)
{
	if (!kernel)
		return;
	btf_close(&kernel->btf);
	free(kernel->returns.list);
	free(kernel->image.bytes);
	free(kernel);
}

/* ------- the present process ------- */

#define STACK 0x4000u

/*
 * In the kernel, SP_EL0 is the task.  While a program runs, the kernel's stack
 * is empty, and still known.
 */
struct present {
	uint64_t task, stack;	/* one of them is 0 */
};

static struct present find_present(struct kernel *kernel, uint32_t stream)
{
	struct machine_view view = { 0 };

	replayer_machine(kernel->replayer, stream, &view);
	if (!view.is_program)
		return (struct present){ view.program_sp, 0 };
	return (struct present){
		0, (view.kernel_sp - 1) & ~(uint64_t)(STACK - 1),
	};
}

uint64_t kernel_present_thread(struct kernel *kernel)
{
	struct present present;
	uint64_t stack;

	if (kernel_stay(kernel, NULL))
		return 0;
	present = find_present(kernel, replayer_stream(kernel->replayer));
	stack = present.task ? pointer(kernel, present.task, TASK_STACK) :
			       present.stack;
	kernel_leave(kernel);
	return stack;
}

uint64_t kernel_stack_end(struct kernel *kernel, uint64_t task)
{
	return pointer(kernel, task, TASK_STACK) + STACK;
}

static bool is_present(struct kernel *kernel, const struct present *present,
		       uint64_t task)
{
	if (!present->task)
		return pointer(kernel, task, TASK_STACK) == present->stack;
	return task == present->task ||
	       pointer(kernel, present->task, TASK_LEADER) == task;
}

/* ------- processes ------- */

/* include/linux/sched.h */
static char state_letter(uint64_t state, uint64_t exit_state)
{
	static const struct {
		unsigned bits;
		char letter;
	} letters[] = {
		{ 0x400 | 2, 'I' }, { 1, 'S' }, { 2, 'D' }, { 4, 'T' },
		{ 8, 't' }, { 0x40, 'P' },
	};

	if (exit_state)
		return exit_state & 0x20 ? 'Z' : 'X';
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if ((state & letters[i].bits) == letters[i].bits)
			return letters[i].letter;
	return 'R';
}

/* On which cores it is. */
static void find_cores(struct kernel *kernel, uint64_t task,
		       struct kernel_process *out)
{
	size_t count = recording_threads(kernel->query->recording);

	for (uint32_t i = 0; i < count; i++) {
		const struct present present = find_present(kernel, i);

		if (!is_present(kernel, &present, task))
			continue;
		out->runs = true;
		out->has_turn |= i == replayer_stream(kernel->replayer);
	}
}

void kernel_describe(struct kernel *kernel, uint64_t task,
		     struct kernel_process *out)
{
	const uint32_t *at = kernel->members;
	uint64_t memory = pointer(kernel, task, TASK_MEMORY);
	uint64_t parent = pointer(kernel, task, TASK_PARENT);

	*out = (struct kernel_process){
		.task = task,
		.pid = (uint32_t)kernel_number(kernel, task + at[TASK_PID], 4),
		.parent = (uint32_t)kernel_number(kernel,
						  parent + at[TASK_PID], 4),
		.state = state_letter(
			kernel_number(kernel, task + at[TASK_STATE], 4),
			kernel_number(kernel, task + at[TASK_EXIT_STATE], 4)),
	};
	find_cores(kernel, task, out);
	if (!kernel_read(kernel, task + at[TASK_NAME], out->name,
			 KERNEL_NAME - 1))
		out->name[0] = '\0';
	if (memory)
		out->table = replayer_home(kernel->replayer,
					   pointer(kernel, memory,
						   MEMORY_TABLE));
	out->has_memory = memory && out->table != HOME_NONE;
	out->memory = memory;
}

int kernel_each_here(struct kernel *kernel, kernel_process_visit *visit,
			void *context, struct failure *why)
{
	const uint32_t link = kernel->members[TASK_TASKS];
	uint64_t task = kernel->first;
	int rc = 0;

	for (unsigned i = 0; i < PROCESSES_MOST && !rc; i++) {
		struct kernel_process process;
		uint64_t next = kernel_number(kernel, task + link, 8);

		if (!next)
			return failed(why, ERR_NOT_FOUND, "the kernel has no"
				      " processes yet");
		kernel_describe(kernel, task, &process);
		rc = visit(context, &process);
		task = next - link;
		if (task == kernel->first)
			break;
	}
	return rc;
}

struct table_search {
	uint64_t table, memory;
};

static int has_table(void *context, const struct kernel_process *process)
{
	struct table_search *search = context;

	if (process->has_memory && process->table == search->table)
		search->memory = process->memory;
	return 0;
}

uint64_t kernel_memory(struct kernel *kernel,
		       const struct address_space *space)
{
	struct table_search search = { .table = space->table };
	struct machine_view view = { 0 };

	replayer_machine(kernel->replayer, replayer_stream(kernel->replayer),
			 &view);
	if (!space->has_table && !view.is_program)
		return pointer(kernel, view.program_sp, TASK_MEMORY);
	if (!space->has_table)
		search.table = view.low;
	kernel_each_here(kernel, has_table, &search, NULL);
	return search.memory;
}

int kernel_each_process(struct kernel *kernel, const struct position *at,
			kernel_process_visit *visit, void *context,
			struct failure *why)
{
	int rc = kernel_go(kernel, at, why);

	if (!rc)
		rc = kernel_each_here(kernel, visit, context, why);
	kernel_leave(kernel);
	return rc;
}

struct wanted {
	const char *name;
	uint64_t pid;
	bool by_pid, is_found;
	struct kernel_process found;
};

static int take(void *context, const struct kernel_process *process)
{
	struct wanted *wanted = context;

	if (wanted->by_pid ? process->pid != wanted->pid :
			     strcmp(process->name, wanted->name) != 0)
		return 0;
	wanted->found = *process;
	wanted->is_found = true;
	return 0;
}

int kernel_find_process(struct kernel *kernel, const struct position *at,
			const char *text, struct kernel_process *out,
			struct failure *why)
{
	struct wanted wanted = { .name = text };
	char time[POSITION_TEXT];
	int rc;

	wanted.by_pid = number_parse(text, &wanted.pid);
	rc = kernel_each_process(kernel, at, take, &wanted, why);
	if (rc)
		return rc;
	*out = wanted.found;
	if (!wanted.is_found)
		return failed(why, ERR_NOT_FOUND, "there is no process '%s' at"
			      " t=%s", text, position_text(time, at));
	return wanted.found.has_memory ? 0 :
		failed(why, ERR_NOT_FOUND, "process '%s' is the kernel's own:"
		       " it has no memory", text);
}
