/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process.c - what all rooms need of the process; see kernel.h */
#include <stdarg.h>
#include <stdio.h>

#include "vm/linux/kernel.h"
#include "vm/linux/linux.h"
#include "vm/linux/process.h"
#include "vm/linux/tasks/tasks.h"

/* ------- notices ------- */

__attribute__((format(printf, 3, 0)))
static void tell(struct linux_process *process, enum linux_notice kind,
		 const char *format, va_list args)
{
	const struct linux_observer *observer = process->observer;
	char text[400];

	if (!observer || !observer->notice)
		return;
	vsnprintf(text, sizeof(text), format, args);
	observer->notice(observer->context, kind, text);
}

void notice(struct linux_process *process, enum linux_notice kind,
	    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell(process, kind, format, args);
	va_end(args);
}

void notice_once(struct linux_process *process, uint64_t about,
		 enum linux_notice kind, const char *format, ...)
{
	uint64_t slot = about % NOTICES, bit = UINT64_C(1) << slot % 64;
	va_list args;

	if (process->noticed[slot / 64] & bit)
		return;
	process->noticed[slot / 64] |= bit;
	va_start(args, format);
	tell(process, kind, format, args);
	va_end(args);
}

/* ------- threads ------- */

struct linux_thread *thread_find(struct linux_process *process, int tid)
{
	struct linux_thread *thread = process->threads;

	while (thread && (int)thread->tid != tid)
		thread = thread->next;
	return thread;
}

void process_ends(struct linux_process *process, enum linux_outcome outcome,
		  int status)
{
	process->thread->outcome = outcome;
	process->thread->status = status;
	threads_let_go(process);
}

void process_report(struct linux_process *process,
		    struct linux_result *result, uint64_t number,
		    int64_t value)
{
	*result = (struct linux_result){
		.outcome = process->thread->outcome,
		.status = process->thread->status,
		.number = number,
		.value = value,
		.all_registers = process->thread->changed_registers,
	};
}
