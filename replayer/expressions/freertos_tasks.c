/* SPDX-License-Identifier: GPL-2.0-or-later */
/* freertos_tasks.c - FreeRTOS has its tasks in lists, one for each state */
#include "replayer/expressions/tasks_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"

/* A member of the structure at an address. */
#define TASK "((struct tskTaskControlBlock *)%#" PRIx64 ")->"
#define ITEM "((struct xLIST_ITEM *)%#" PRIx64 ")->"

/* ------- one task ------- */

/* Without a limit it waits among those that are suspended. */
static int find_wait(struct tasks *tasks, struct task *task,
		     struct failure *why)
{
	uint64_t event = 0, notified = 0;
	int rc = tasks_number(tasks, &event, why,
			      TASK "xEventListItem.pvContainer", task->addr);

	/* A configuration without these has no such member. */
	if (!rc && tasks_number(tasks, &notified, NULL,
				TASK "ucNotifyState[0]", task->addr))
		notified = 0;
	if (!rc && (event || notified == 1))
		task->state = "blocked";
	return rc;
}

static int take_stack(struct tasks *tasks, struct task *task,
		      struct failure *why)
{
	char top[TASK_MEMBER_MOST];
	int rc = tasks_number(tasks, &task->stack, why, TASK "pxStack",
			      task->addr);

	if (rc)
		return rc;
	if (tasks_number(tasks, &task->stack_end, NULL, TASK "pxEndOfStack",
			 task->addr))
		task->stack_end = 0;
	snprintf(top, sizeof(top), TASK "pxTopOfStack", task->addr);
	return tasks_stack_top(tasks, task, top, why);
}

static int add_task(struct tasks *tasks, uint64_t addr, const char *state,
		    struct failure *why)
{
	struct task *task = tasks_add(tasks, addr, why);
	char name[TASK_MEMBER_MOST];
	uint64_t priority = 0;
	int rc;

	if (!task)
		return ERR_NO_MEMORY;
	task->state = task->runs ? "running" : state;
	snprintf(name, sizeof(name), TASK "pcTaskName", addr);
	rc = tasks_name(tasks, task, why, name);
	if (!rc)
		rc = tasks_number(tasks, &priority, why, TASK "uxPriority",
				  addr);
	task->priority = (int64_t)priority;
	if (!rc && !strcmp(state, "suspended"))
		rc = find_wait(tasks, task, why);
	return rc ? rc : take_stack(tasks, task, why);
}

/* ------- lists ------- */

static int add_list(struct tasks *tasks, const char *list, const char *state,
		    struct failure *why)
{
	uint64_t count, item, owner;
	int rc = tasks_number(tasks, &count, why, "(%s).uxNumberOfItems", list);

	if (!rc)
		rc = tasks_number(tasks, &item, why, "(%s).xListEnd.pxNext",
				  list);
	for (uint64_t i = 0; i < count && tasks->count < TASKS_MOST && !rc;
	     i++) {
		rc = tasks_number(tasks, &owner, why, ITEM "pvOwner", item);
		if (!rc)
			rc = add_task(tasks, owner, state, why);
		if (!rc)
			rc = tasks_number(tasks, &item, why, ITEM "pxNext",
					  item);
	}
	return rc;
}

/* Without INCLUDE_vTaskSuspend or INCLUDE_vTaskDelete, some are not there. */
static int add_lists(struct tasks *tasks, struct failure *why)
{
	static const struct {
		const char *list, *state;
		bool may_miss;
	} lists[] = {
		{ "*pxDelayedTaskList", "blocked", false },
		{ "*pxOverflowDelayedTaskList", "blocked", false },
		{ "xPendingReadyList", "ready", false },
		{ "xSuspendedTaskList", "suspended", true },
		{ "xTasksWaitingTermination", "deleted", true },
	};
	uint64_t priorities, unused;
	char text[40];
	int rc = tasks_number(tasks, &priorities, why,
			      "(sizeof(pxReadyTasksLists) /"
			      " sizeof(pxReadyTasksLists[0]))");

	for (uint64_t i = 0; i < priorities && i < TASKS_MOST && !rc; i++) {
		snprintf(text, sizeof(text), "pxReadyTasksLists[%" PRIu64 "]",
			 i);
		rc = add_list(tasks, text, "ready", why);
	}
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && !rc; i++)
		if (!lists[i].may_miss ||
		    !tasks_number(tasks, &unused, NULL, "&%s", lists[i].list))
			rc = add_list(tasks, lists[i].list, lists[i].state,
				      why);
	return rc;
}

static bool is_there(struct tasks *tasks)
{
	uint64_t runs;

	if (tasks_number(tasks, &tasks->present, NULL, "pxCurrentTCB") ||
	    tasks_number(tasks, &runs, NULL, "xSchedulerRunning"))
		return false;
	if (!runs)
		tasks->present = 0;
	return true;
}

const struct tasks_system freertos_tasks = {
	.name = "FreeRTOS", .is_there = is_there, .add = add_lists,
};
