/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_follow.c - one process of a machine's kernel is asked, and no other
 *
 * Breakpoints count while it is the present one.  What it has mapped may have
 * changed when certain system calls of its are over.
 */
#include "replayer/session/kernel_internal.h"

#include <string.h>

#include "replayer/session/numbers.h"
#include "vm/linux/abi/calls.h"

/* ------- which one ------- */

void kernel_want(struct kernel_wanted *wanted, const char *text)
{
	wanted->name = text;
	wanted->by_pid = text && number_parse(text, &wanted->pid);
}

bool kernel_is_wanted(struct kernel *kernel,
		      const struct kernel_wanted *wanted, uint64_t task)
{
	uint64_t leader = kernel_pointer(kernel, task +
					 kernel->members[TASK_LEADER]);
	struct kernel_process process;

	if (!wanted->name)
		return true;
	kernel_describe(kernel, leader, &process);
	return wanted->by_pid ? process.pid == wanted->pid :
				!strcmp(process.name, wanted->name);
}

/* ------- while it is followed ------- */

struct table_search {
	uint64_t table, task;
};

static int has_table(void *context, const struct kernel_process *process)
{
	struct table_search *search = context;

	if (process->has_memory && process->table == search->table)
		search->task = process->task;
	return 0;
}

/* The kernel says it only while it executes; else the page table does. */
static uint64_t present_task(struct kernel *kernel,
			     const struct machine_view *view)
{
	struct table_search search = { .table = view->low };

	if (!view->is_program)
		return view->program_sp;
	kernel_each_here(kernel, has_table, &search, NULL);
	return search.task;
}

/* It may have another table than before, if it has become another program. */
static bool look(struct kernel *kernel, const struct machine_view *view)
{
	uint64_t task = present_task(kernel, view);
	struct kernel_process process;

	if (!task || !kernel_is_wanted(kernel, &kernel->followed, task))
		return false;
	kernel_describe(kernel, task, &process);
	if (!process.has_memory)
		return false;
	kernel->task = task;
	kernel->query->space = (struct address_space){
		.has_table = true, .table = process.table,
	};
	return true;
}

bool kernel_is_same_stay(const struct machine_view *a,
			 const struct machine_view *b)
{
	return a->is_program && b->is_program && a->left_at == b->left_at &&
	       a->low == b->low;
}

/* While a program executes, nothing of this changes. */
static bool is_present(void *context)
{
	struct kernel *kernel = context;
	struct machine_view view = { 0 };

	if (kernel_stay(kernel, NULL))
		return false;
	replayer_machine(kernel->replayer, replayer_stream(kernel->replayer),
			 &view);
	if (!kernel_is_same_stay(&view, &kernel->seen))
		kernel->was_present = look(kernel, &view);
	kernel->seen = view;
	kernel_leave(kernel);
	return kernel->was_present;
}

/* Where it is at one of two positions, if it is there. */
static void find_space(struct kernel *kernel, const struct position *first,
		       const struct position *last)
{
	const char *name = kernel->followed.name;
	struct kernel_process process;

	if (kernel_find_process(kernel, first, name, &process, NULL) &&
	    kernel_find_process(kernel, last, name, &process, NULL))
		return;
	kernel->query->space = (struct address_space){
		.has_table = true, .table = process.table,
	};
	kernel_leave(kernel);
}

int kernel_follow(struct kernel *kernel, const char *process,
		  const struct position *first, const struct position *last,
		  struct failure *why)
{
	struct replayer *replayer;
	int rc = query_replayer(kernel->query, &replayer, why);

	if (rc)
		return rc;
	kernel_want(&kernel->followed, process);
	kernel->seen = (struct machine_view){ 0 };
	kernel->query->follows = process ? kernel : NULL;
	kernel->query->space = (struct address_space){ 0 };
	kernel_leave(kernel);
	replayer_meet_only(replayer, process ? is_present : NULL, kernel);
	if (process)
		find_space(kernel, first, last);
	return 0;
}

int kernel_follow_all(struct kernel *kernel, struct failure *why)
{
	const struct position nowhere = { 0 };
	int rc = kernel_follow(kernel, NULL, &nowhere, &nowhere, why);

	if (!rc)
		kernel->query->follows = kernel;
	return rc;
}

bool kernel_follows_all(const struct kernel *kernel)
{
	return kernel && !kernel->followed.name;
}

/* ------- what it has mapped ------- */

int kernel_follow_stops(struct kernel *kernel, struct names *names, uint64_t t,
			const struct kernel_addresses **out,
			struct failure *why)
{
	int rc = kernel->returns.count ? 0 :
		 kernel_find_returns(kernel, names, t, &kernel->returns, why);

	*out = &kernel->returns;
	return rc;
}

static bool is_exec(const struct linux_call *call)
{
	return call && (linux_call_kind(call) == CALL_execve ||
			linux_call_kind(call) == CALL_execveat);
}

static bool is_mapping(const struct linux_call *call)
{
	return call && (linux_call_kind(call) == CALL_mmap ||
			linux_call_kind(call) == CALL_munmap ||
			linux_call_kind(call) == CALL_mprotect);
}

bool kernel_has_mapped(struct kernel *kernel, bool *is_new)
{
	const uint64_t before = kernel->mapped_table;
	struct machine_view view = { 0 };
	struct call_event event;

	*is_new = false;
	if (kernel_stay(kernel, NULL))
		return false;
	replayer_machine(kernel->replayer, replayer_stream(kernel->replayer),
			 &view);
	kernel_call_made(kernel, kernel_follows_all(kernel) ?
				 view.program_sp : kernel->task, &event);
	kernel_leave(kernel);
	kernel->mapped_table = kernel->query->space.table;
	*is_new = is_exec(event.call) && !event.result &&
		  !kernel_follows_all(kernel);
	return is_exec(event.call) || before != kernel->mapped_table ||
	       is_mapping(event.call);
}
