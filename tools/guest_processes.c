/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_processes.c - see guest_processes.h */
#include "tools/guest_processes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

int guest_processes_show(struct view *view, struct failure *why)
{
	int rc = opened_kernel(view->opened, why);

	if (!rc && !view->json)
		puts("      PID  PARENT    NAME");
	return rc ? rc : kernel_each_process(view->opened->kernel, &view->at,
					     print, view, why);
}
