/* SPDX-License-Identifier: GPL-2.0-or-later */
/* waiting.c - calls of the host's that may take long */
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/process.h"
#include "vm/linux/tasks/tasks.h"

int64_t host_wait_array(struct linux_process *process, long number,
			const uint64_t arg[6])
{
	struct linux_thread *self = process->thread;
	int64_t result;

	if (process->limits->is_narrow)	/* it will be refused */
		return host_call_for(self, number, arg);
	if (process->thread_count == 1) {
		scheduler_idle(process);
		return host_call_for(self, number, arg);
	}
	scheduler_leave(process);
	result = host_call_for(self, number, arg);
	scheduler_enter(self);
	return result;
}
