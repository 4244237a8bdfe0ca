/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zephyr_tasks.c - Zephyr's threads are one list, and each knows its state */
#include "replayer/expressions/tasks_internal.h"

#include <inttypes.h>
#include <stdio.h>

#include "formats/error.h"

/* A member of the structure at an address. */
#define THREAD "((struct k_thread *)%#" PRIx64 ")->"

/* Bits of thread_state.  Later versions than 2.5 have one for sleep. */
enum {
	PENDING = 1 << 1,	/* it waits for something */
	NOT_YET = 1 << 2,	/* it has not begun; later: it sleeps */
	DEAD = 1 << 3,
	SUSPENDED = 1 << 4,	/* in 2.5 also while it sleeps */
};

/* Whether something will happen to it at some time. */
static bool has_timeout(struct tasks *tasks, const struct task *task)
{
	uint64_t next;

	return !tasks_number(tasks, &next, NULL,
			     THREAD "base.timeout.node.next", task->addr) &&
	       next;
}

static int take_state(struct tasks *tasks, struct task *task,
		      struct failure *why)
{
	uint64_t state;
	int rc = tasks_number(tasks, &state, why, THREAD "base.thread_state",
			      task->addr);

	if (rc)
		return rc;
	if (task->runs)
		task->state = "running";
	else if (state & DEAD)
		task->state = "deleted";
	else if (state & PENDING)
		task->state = "blocked";
	else if (state & (SUSPENDED | NOT_YET))
		task->state = has_timeout(tasks, task) ? "blocked" :
							 "suspended";
	else
		task->state = "ready";
	return 0;
}

/* Without CONFIG_THREAD_STACK_INFO it is not known where a stack begins. */
static int take_stack(struct tasks *tasks, struct task *task,
		      struct failure *why)
{
	char top[TASK_MEMBER_MOST];
	uint64_t size;

	if (tasks_number(tasks, &task->stack, NULL, THREAD "stack_info.start",
			 task->addr) ||
	    tasks_number(tasks, &size, NULL, THREAD "stack_info.size",
			 task->addr))
		task->stack = 0;
	else
		task->stack_end = task->stack + size;
	snprintf(top, sizeof(top), THREAD "callee_saved.psp", task->addr);
	return tasks_stack_top(tasks, task, top, why);
}

static int take_priority(struct tasks *tasks, struct task *task,
			 struct failure *why)
{
	uint64_t priority = 0;
	int rc = tasks_number(tasks, &priority, why, THREAD "base.prio",
			      task->addr);

	task->priority = (int32_t)priority;
	return rc;
}

static int add_thread(struct tasks *tasks, uint64_t addr, struct failure *why)
{
	struct task *task = tasks_add(tasks, addr, why);
	char name[TASK_MEMBER_MOST];
	int rc;

	if (!task)
		return ERR_NO_MEMORY;
	snprintf(name, sizeof(name), THREAD "name", addr);
	if (tasks_name(tasks, task, NULL, name))
		task->name[0] = 0;	/* without CONFIG_THREAD_NAME */
	rc = take_state(tasks, task, why);
	if (!rc)
		rc = take_priority(tasks, task, why);
	return rc ? rc : take_stack(tasks, task, why);
}

static bool is_there(struct tasks *tasks)
{
	return !tasks_number(tasks, &tasks->present, NULL,
			     "_kernel.cpus[0].current");
}

static int add_threads(struct tasks *tasks, struct failure *why)
{
	uint64_t addr;

	if (tasks_number(tasks, &addr, NULL, "_kernel.threads"))
		return failed(why, ERR_NOT_FOUND, "Zephyr only lists its"
			      " threads if it is built with"
			      " CONFIG_THREAD_MONITOR");
	while (addr && tasks->count < TASKS_MOST) {
		int rc = add_thread(tasks, addr, why);

		if (!rc)
			rc = tasks_number(tasks, &addr, why,
					  THREAD "next_thread", addr);
		if (rc)
			return rc;
	}
	return 0;
}

const struct tasks_system zephyr_tasks = {
	.name = "Zephyr", .is_there = is_there, .add = add_threads,
};
