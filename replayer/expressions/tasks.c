/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tasks.c - see tasks.h */
#include "replayer/expressions/tasks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/expressions/expressions.h"

/* What is not yet a list has any number of items. */
#define TASKS_MOST 1000u
#define TEXT_MOST 200u

struct tasks {
	struct expressions *expressions;
	const struct position *at;
	uint64_t present;
	struct task *list;
	size_t count, room;
};

/* What an expression is, as a number. */
static int number(struct tasks *tasks, uint64_t *out, struct failure *why,
		  const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int number(struct tasks *tasks, uint64_t *out, struct failure *why,
		  const char *format, ...)
{
	char text[TEXT_MOST] = "(unsigned)";
	struct expression found = { 0 };
	const struct expression_question question = {
		.text = text, .place.at = *tasks->at, .no_frame = true,
	};
	size_t used = strlen(text);
	struct failure unused;
	va_list arguments;
	int rc;

	if (!why)
		why = &unused;

	va_start(arguments, format);
	vsnprintf(text + used, sizeof(text) - used, format, arguments);
	va_end(arguments);
	rc = expressions_find(tasks->expressions, &question, &found, why);
	if (!rc && !found.value)
		rc = failed(why, ERR_NOT_FOUND, "%s", found.no_value ?
			    found.no_value : "memory is not known");
	if (!rc)
		*out = strtoull(found.value, NULL, 0);
	expression_release(&found);
	return rc;
}

/* A member of the structure at an address. */
#define TASK "((struct tskTaskControlBlock *)%#" PRIx64 ")->"
#define ITEM "((struct xLIST_ITEM *)%#" PRIx64 ")->"

/* ------- one task ------- */

static int take_name(struct tasks *tasks, struct task *task,
		     struct failure *why)
{
	uint64_t byte = 1;
	int rc = 0;

	for (unsigned i = 0; i < TASK_NAME_MOST - 1 && byte && !rc; i++) {
		rc = number(tasks, &byte, why, TASK "pcTaskName[%u]",
			    task->addr, i);
		task->name[i] = (char)byte;
	}
	return rc;
}

/* Without a limit it waits among those that are suspended. */
static int find_wait(struct tasks *tasks, struct task *task,
		     struct failure *why)
{
	uint64_t event = 0, notified = 0;
	int rc = number(tasks, &event, why, TASK "xEventListItem.pvContainer",
			task->addr);

	/* A configuration without these has no such member. */
	if (!rc && number(tasks, &notified, NULL, TASK "ucNotifyState[0]",
			  task->addr))
		notified = 0;
	if (!rc && (event || notified == 1))
		task->state = "blocked";
	return rc;
}

static int take_stack(struct tasks *tasks, struct task *task,
		      struct failure *why)
{
	int rc = number(tasks, &task->stack, why, TASK "pxStack", task->addr);

	if (rc)
		return rc;
	if (number(tasks, &task->stack_end, NULL, TASK "pxEndOfStack",
		   task->addr))
		task->stack_end = 0;
	return task->runs ?
		       number(tasks, &task->stack_top, why, "$psp") :
		       number(tasks, &task->stack_top, why, TASK "pxTopOfStack",
			      task->addr);
}

static int add_task(struct tasks *tasks, uint64_t addr, const char *state,
		    struct failure *why)
{
	struct task *task;
	int rc;

	if (array_room(tasks->list, tasks->count, tasks->room))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	task = &tasks->list[tasks->count++];
	*task = (struct task){
		.addr = addr, .state = state, .runs = addr == tasks->present,
	};
	if (task->runs)
		task->state = "running";
	rc = take_name(tasks, task, why);
	if (!rc)
		rc = number(tasks, &task->priority, why, TASK "uxPriority",
			    addr);
	if (!rc && !strcmp(state, "suspended"))
		rc = find_wait(tasks, task, why);
	return rc ? rc : take_stack(tasks, task, why);
}

/* ------- lists ------- */

static int add_list(struct tasks *tasks, const char *list, const char *state,
		    struct failure *why)
{
	uint64_t count, item, owner;
	int rc = number(tasks, &count, why, "(%s).uxNumberOfItems", list);

	if (!rc)
		rc = number(tasks, &item, why, "(%s).xListEnd.pxNext", list);
	for (uint64_t i = 0; i < count && tasks->count < TASKS_MOST && !rc;
	     i++) {
		rc = number(tasks, &owner, why, ITEM "pvOwner", item);
		if (!rc)
			rc = add_task(tasks, owner, state, why);
		if (!rc)
			rc = number(tasks, &item, why, ITEM "pxNext", item);
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
	int rc = number(tasks, &priorities, why, "(sizeof(pxReadyTasksLists) /"
			" sizeof(pxReadyTasksLists[0]))");

	for (uint64_t i = 0; i < priorities && i < TASKS_MOST && !rc; i++) {
		snprintf(text, sizeof(text), "pxReadyTasksLists[%" PRIu64 "]",
			 i);
		rc = add_list(tasks, text, "ready", why);
	}
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && !rc; i++)
		if (!lists[i].may_miss ||
		    !number(tasks, &unused, NULL, "&%s", lists[i].list))
			rc = add_list(tasks, lists[i].list, lists[i].state,
				      why);
	return rc;
}

static int find_present(struct tasks *tasks, struct failure *why)
{
	uint64_t runs;

	if (number(tasks, &tasks->present, NULL, "pxCurrentTCB") ||
	    number(tasks, &runs, NULL, "xSchedulerRunning"))
		return failed(why, ERR_NOT_FOUND, "there is no FreeRTOS in the"
			      " firmware, or no debugging information of it");
	return tasks->present && runs ? 0 :
		failed(why, ERR_NOT_FOUND, "FreeRTOS has not begun to run its"
		       " tasks");
}

static int by_addr(const void *left, const void *right)
{
	const struct task *a = left, *b = right;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

int tasks_each(struct expressions *expressions, const struct position *at,
	       task_visit *visit, void *context, struct failure *why)
{
	struct tasks tasks = { .expressions = expressions, .at = at };
	int rc = find_present(&tasks, why);

	if (!rc)
		rc = add_lists(&tasks, why);
	if (!rc && tasks.count)
		qsort(tasks.list, tasks.count, sizeof(*tasks.list), by_addr);
	for (size_t i = 0; i < tasks.count && !rc; i++)
		rc = visit(context, &tasks.list[i]);
	free(tasks.list);
	return rc;
}
