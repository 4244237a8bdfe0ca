/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_internal.h - a machine's kernel, for the files that read it
 *
 * kernel.c finds it, and has its processes; kernel_log.c has what it logged.
 */
#ifndef CPREC_REPLAYER_SESSION_KERNEL_INTERNAL_H
#define CPREC_REPLAYER_SESSION_KERNEL_INTERNAL_H

#include "replayer/session/kernel.h"
#include "replayer/session/query_internal.h"
#include "replayer/symbols/symbols.h"

enum kernel_member {
	TASK_TASKS, TASK_PID, TASK_NAME, TASK_MEMORY, TASK_PARENT, TASK_STATE,
	TASK_EXIT_STATE, TASK_STACK, TASK_LEADER, MEMORY_TABLE, KERNEL_MEMBERS
};

struct kernel {
	struct query *query;
	struct replayer *replayer;	/* while it is asked */
	struct kernel_image image;
	struct btf btf;
	uint32_t members[KERNEL_MEMBERS];
	uint64_t first;		/* the first task */
};

/* From one to the other, the replay stands there and sees the kernel. */
int kernel_go(struct kernel *kernel, const struct position *at,
	      struct failure *why);
void kernel_leave(struct kernel *kernel);

/* At most 256 bytes; false: nothing is there.  A number is 0 then. */
bool kernel_read(struct kernel *kernel, uint64_t addr, void *out, size_t size);
uint64_t kernel_number(struct kernel *kernel, uint64_t addr, size_t size);

#endif
