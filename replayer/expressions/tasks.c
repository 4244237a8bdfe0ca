/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tasks.c - see tasks.h */
#include "replayer/expressions/tasks_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/expressions/expressions.h"

#define TEXT_MOST 200u

int tasks_number(struct tasks *tasks, uint64_t *out, struct failure *why,
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

int tasks_name(struct tasks *tasks, struct task *task, struct failure *why,
	       const char *array)
{
	uint64_t byte = 1;
	int rc = 0;

	for (unsigned i = 0; i < TASK_NAME_MOST - 1 && byte && !rc; i++) {
		rc = tasks_number(tasks, &byte, why, "(%s)[%u]", array, i);
		task->name[i] = (char)byte;
	}
	return rc;
}

int tasks_stack_top(struct tasks *tasks, struct task *task,
		    const char *member, struct failure *why)
{
	return tasks_number(tasks, &task->stack_top, why, "%s",
			    task->runs ? "$psp" : member);
}

struct task *tasks_add(struct tasks *tasks, uint64_t addr, struct failure *why)
{
	struct task *task;

	if (array_room(tasks->list, tasks->count, tasks->room)) {
		failed(why, ERR_NO_MEMORY, "out of memory");
		return NULL;
	}
	task = &tasks->list[tasks->count++];
	*task = (struct task){ .addr = addr, .runs = addr == tasks->present };
	return task;
}

static const struct tasks_system *const systems[] = {
	&freertos_tasks, &zephyr_tasks,
};

static int add_all(struct tasks *tasks, struct failure *why)
{
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		if (!systems[i]->is_there(tasks))
			continue;
		return tasks->present ? systems[i]->add(tasks, why) :
			failed(why, ERR_NOT_FOUND, "%s has not begun to run"
			       " its tasks", systems[i]->name);
	}
	return failed(why, ERR_NOT_FOUND, "there is no FreeRTOS or Zephyr in"
		      " the firmware, or no debugging information of it");
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
	int rc = add_all(&tasks, why);

	if (!rc && tasks.count)
		qsort(tasks.list, tasks.count, sizeof(*tasks.list), by_addr);
	for (size_t i = 0; i < tasks.count && !rc; i++)
		rc = visit(context, &tasks.list[i]);
	free(tasks.list);
	return rc;
}
