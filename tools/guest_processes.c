/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_processes.c - see guest_processes.h */
#include "tools/guest_processes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "replayer/expressions/tasks.h"
#include "replayer/session/session.h"
#include "tools/print.h"
#include "tools/views.h"

/* '*': it is the present one. */
static void print_as_text(const struct kernel_process *process)
{
	printf("%c %7" PRIu32 " %7" PRIu32 " %c  ", process->runs ? '*' : ' ',
	       process->pid, process->parent, process->state);
	if (!process->has_memory)
		putchar('[');
	print_escaped(stdout, process->name, strlen(process->name));
	puts(process->has_memory ? "" : "]");
}

static int print(void *context, const struct kernel_process *process)
{
	const struct view *view = context;
	const char state[] = { process->state, '\0' };
	json_t *object;

	if (!view->json) {
		print_as_text(process);
		return 0;
	}
	object = json_object();
	json_set_position(object, &view->at);
	json_set_count(object, "pid", process->pid);
	json_set_count(object, "parent", process->parent);
	json_set_text(object, "state", state);
	json_object_set_new(object, "runs", json_boolean(process->runs));
	json_object_set_new(object, "name", json_text(process->name));
	json_set_address(object, "task", process->task);
	if (process->has_memory)
		json_set_address(object, "table", process->table);
	print_json(object);
	return 0;
}

static void print_task_text(const struct task *task)
{
	char left[24] = "-";

	if (task->stack)
		snprintf(left, sizeof(left), "%" PRIu64,
			 task->stack_top < task->stack ?
				 0 : task->stack_top - task->stack);
	printf("%c %#10" PRIx64 " %5" PRId64 " %-9s %10s  ",
	       task->runs ? '*' : ' ', task->addr, task->priority, task->state,
	       left);
	print_escaped(stdout, task->name, strlen(task->name));
	putchar('\n');
}

struct shown_tasks {
	const struct view *view;
	bool has_head;
};

static int print_task(void *context, const struct task *task)
{
	struct shown_tasks *shown = context;
	const struct view *view = shown->view;
	json_t *object;

	if (!view->json) {
		if (!shown->has_head)
			puts("        TASK  PRIO STATE     STACK LEFT  NAME");
		shown->has_head = true;
		print_task_text(task);
		return 0;
	}
	object = json_object();
	json_set_position(object, &view->at);
	json_set_address(object, "task", task->addr);
	json_set_text(object, "name", task->name);
	json_set_text(object, "state", task->state);
	json_object_set_new(object, "runs", json_boolean(task->runs));
	json_object_set_new(object, "priority",
			    json_integer(task->priority));
	if (task->stack)
		json_set_address(object, "stack", task->stack);
	if (task->stack_end)
		json_set_address(object, "stack_end", task->stack_end);
	json_set_address(object, "stack_top", task->stack_top);
	print_json(object);
	return 0;
}

/* Firmware has no processes. */
static int show_tasks(struct view *view, struct failure *why)
{
	struct shown_tasks shown = { .view = view };

	return tasks_each(view->expressions, &view->at, print_task, &shown,
			  why);
}

int guest_processes_show(struct view *view, struct failure *why)
{
	int rc;

	if (recording_reg_table(view->recording)->arch == ARCH_CORTEX_M)
		return show_tasks(view, why);
	rc = opened_kernel(view->opened, why);
	if (!rc && !view->json)
		puts("      PID  PARENT    NAME");
	return rc ? rc : kernel_each_process(view->opened->kernel, &view->at,
					     print, view, why);
}
