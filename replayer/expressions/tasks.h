/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tasks.h - tasks of firmware that has FreeRTOS or Zephyr, at a time
 *
 * They are in the system's own lists, read by its types: so the firmware's file
 * with debugging information must be there.  Of a version for several cores
 * they are not known.
 *
 * Errors:     ERR_NOT_FOUND: there is no such system, it has not begun, or it
 *             keeps no list; those of expressions_find(); whatever a visit
 *             returns.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_TASKS_H
#define CPREC_REPLAYER_EXPRESSIONS_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "replayer/recording/recording.h"

struct expressions;
struct failure;

#define TASK_NAME_MOST 64u

struct task {
	uint64_t addr;		/* of its structure */
	char name[TASK_NAME_MOST];
	const char *state;	/* "running", "ready", "blocked", "suspended",
				   "deleted" */
	int64_t priority;	/* Zephyr's may be negative */
	bool runs;		/* it is the present one */
	uint64_t stack;		/* its lowest address; 0: not known, */
	uint64_t stack_end;	/* its highest one; 0: not known, */
	uint64_t stack_top;	/* and where it is now */
};

/* All at a position, by address. */
typedef int task_visit(void *context, const struct task *task);
int tasks_each(struct expressions *expressions, const struct position *at,
	       task_visit *visit, void *context, struct failure *why);

#endif
