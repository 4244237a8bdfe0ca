/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tasks_internal.h - what systems with tasks have in common
 *
 * A system's structures are read by expressions about its own types, so a
 * version that has them elsewhere is understood, too.
 *
 * Errors:     as tasks.h says.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_TASKS_INTERNAL_H
#define CPREC_REPLAYER_EXPRESSIONS_TASKS_INTERNAL_H

#include <stddef.h>

#include "replayer/expressions/tasks.h"

/* What is not yet a list has any number of items. */
#define TASKS_MOST 1000u

/* An expression of a task's member, with its end. */
#define TASK_MEMBER_MOST 80u

struct tasks {
	struct expressions *expressions;
	const struct position *at;
	uint64_t present;	/* which task runs; 0: none yet */
	struct task *list;
	size_t count, room;
};

struct tasks_system {
	const char *name;
	bool (*is_there)(struct tasks *tasks);	/* finds the present task */
	int (*add)(struct tasks *tasks, struct failure *why);
};

extern const struct tasks_system freertos_tasks, zephyr_tasks;

/* What an expression is, as an unsigned number; `why` may be NULL. */
int tasks_number(struct tasks *tasks, uint64_t *out, struct failure *why,
		 const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The text in an array of characters becomes the task's name. */
int tasks_name(struct tasks *tasks, struct task *task, struct failure *why,
	       const char *array);

/* Where the stack is now: it was saved in `member`, unless the task runs. */
int tasks_stack_top(struct tasks *tasks, struct task *task,
		    const char *member, struct failure *why);

/* One more, of which its address is known; NULL: out of memory. */
struct task *tasks_add(struct tasks *tasks, uint64_t addr, struct failure *why);

#endif
