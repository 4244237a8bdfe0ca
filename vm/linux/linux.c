/* SPDX-License-Identifier: GPL-2.0-or-later */
/* linux.c - see linux.h: making a process, and performing its calls */
#include "vm/linux/linux.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/error.h"
#include "vm/linux/memory/mapped_files.h"
#include "vm/linux/proc/proc.h"
#include "vm/linux/process.h"
#include "vm/linux/load/program.h"
#include "vm/linux/host/title.h"

/* ------- making and ending one ------- */

static void fill_rows(struct linux_process *process)
{
	for (size_t i = 0; i < syscall_row_count; i++) {
		const struct syscall_row *row = &syscall_rows[i];

		process->rows[row->number[ABI_X86_64]] = row;
	}
}

int start_program(struct linux_process *process, const struct program *program,
		  const struct linux_options *options, struct failure *why)
{
	free(process->program);
	process->program = realpath(program->path, NULL);
	if (!process->program && errno == ENOENT)	/* it was deleted */
		process->program = strdup(program->path);
	if (!process->program)
		return failed(why, ERR_SYSTEM, "cannot resolve '%s': %s",
			      program->path, strerror(errno));
	title_show(program, options->envp);
	proc_keep_exe(process, program->fd);
	return load_program(process, program, options, why);
}

static int make_first_thread(struct linux_process *process)
{
	struct linux_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return ERR_NO_MEMORY;
	thread->process = process;
	thread->vm_thread = vm_thread_current(process->vm);
	thread->tid = (uint32_t)syscall(SYS_gettid);
	process->thread = process->threads = thread;
	process->thread_count = process->next_index = 1;
	sem_init(&process->succession, 0, 0);
	scheduler_init(process);
	return 0;
}

int linux_create(struct linux_process **out, struct vm *vm,
		 const struct linux_options *options, struct failure *why)
{
	struct linux_process *process = calloc(1, sizeof(*process));
	struct program program = { .fd = -1 };
	int rc;

	if (!process)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	process->vm = vm;
	process->memory = vm_memory(vm);
	process->aslr = options->aslr;
	process->waited_by = process->exe = -1;
	limits_init(process);
	own_stderr_hide();
	fill_rows(process);
	rc = make_first_thread(process);
	if (!rc)
		rc = descriptors_init(process);
	if (rc)
		failed(why, rc, "out of memory");
	if (!rc)
		rc = vm_share_memory(vm, linux_hide_descriptor, why);
	lost_pages_catch(process);
	if (!rc)
		rc = program_find(&program, options, why);
	if (!rc)
		rc = start_program(process, &program, options, why);
	program_release(&program);
	if (rc) {
		linux_destroy(process);
		return rc;
	}
	vm_registers(vm, &process->first);
	signals_init(process);
	*out = process;
	return 0;
}

bool linux_is_threaded(const struct linux_process *process)
{
	return process && process->next_index > 1;
}

void linux_end(struct linux_process *process)
{
	if (!process->thread)
		return;
	fork_release_parent(process, false);
	signals_release(process);
}

void linux_destroy(struct linux_process *process)
{
	if (!process)
		return;
	linux_end(process);
	free(process->thread);
	eof_tail_release(process);
	mapped_files_release(process);
	if (process->exe >= 0)
		linux_close_hidden(process->exe);
	free(process->descriptors);
	free(process->program);
	free(process);
}

void linux_observe(struct linux_process *process,
		   const struct linux_observer *observer)
{
	process->observer = observer;
}

const char *linux_program(const struct linux_process *process)
{
	return process->program;
}

uint32_t linux_tid(const struct linux_process *process)
{
	return process->thread->tid;
}

void notice(struct linux_process *process, enum linux_notice kind,
	    const char *format, ...)
{
	const struct linux_observer *observer = process->observer;
	char text[400];
	va_list args;

	if (!observer || !observer->notice)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	observer->notice(observer->context, kind, text);
}

/* ------- system calls ------- */

static int64_t unknown(struct linux_process *process)
{
	uint64_t number = process->thread->number;
	uint64_t slot = number < SYSCALL_NUMBERS ? number : 0;
	uint64_t bit = UINT64_C(1) << slot % 64;

	if (!(process->noticed[slot / 64] & bit))
		notice(process, NOTICE_LACK,
		       "system call %llu is not known: the program gets ENOSYS",
		       (unsigned long long)number);
	process->noticed[slot / 64] |= bit;
	return -ENOSYS;
}

static bool uses_hidden(const struct syscall_row *row, const uint64_t *arg)
{
	for (int i = 0; i < SYSCALL_ARGS; i++)
		if (row->args[i].kind == ARG_FD && is_hidden((int)arg[i]))
			return true;
	return false;
}

static int64_t perform(struct linux_process *process, const uint64_t *arg)
{
	const struct syscall_row *row;

	/* A signal that came first is delivered first. */
	if (linux_has_signal(process))
		return -RESTART_ALWAYS;
	if (process->thread->number >= SYSCALL_NUMBERS)
		return unknown(process);
	row = process->rows[process->thread->number];
	if (!row)
		return unknown(process);
	if (row->refusal)
		return -row->refusal;
	if (uses_hidden(row, arg))
		return -EBADF;
	if (row->handler)
		return row->handler(process, row, arg);
	return marshal_call(process, row, arg);
}

/* What the guest gets when a signal has interrupted a call. */
static int64_t interrupted(struct linux_process *process, int64_t value)
{
	if (value == -RESTART_IF_ASKED && !signals_restart(process))
		return -EINTR;
	/* The instruction again; the handler comes before it. */
	vm_set_reg(process->vm, X86_RIP, vm_reg(process->vm, X86_RIP) - 2);
	process->thread->changed_registers = true;
	return (int64_t)process->thread->number;
}

int linux_syscall(struct linux_process *process, struct linux_result *result,
		  struct failure *why)
{
	static const uint8_t registers[SYSCALL_ARGS] = {
		X86_RDI, X86_RSI, X86_RDX, X86_R10, X86_R8, X86_R9,
	};
	struct vm *vm = process->vm;
	uint64_t arg[SYSCALL_ARGS];
	int64_t value;

	(void)why;
	if (!process->has_called)
		hide_own_descriptors(process);
	process->has_called = true;
	memory_doubt_shared(process->memory);
	process->thread->number = (uint32_t)vm_reg(vm, X86_RAX);
	for (int i = 0; i < SYSCALL_ARGS; i++)
		arg[i] = vm_reg(vm, registers[i]);
	process->thread->changed_registers = false;
	value = perform(process, arg);
	if (value == -RESTART_IF_ASKED || value == -RESTART_ALWAYS)
		value = interrupted(process, value);
	vm_set_reg(vm, X86_RAX, (uint64_t)value);
	*result = (struct linux_result){
		.outcome = process->thread->outcome,
		.status = process->thread->status,
		.number = process->thread->number,
		.value = value,
		.all_registers = process->thread->changed_registers,
	};
	return 0;
}

/* ------- the end ------- */

_Noreturn void linux_exit_like(const struct linux_result *result)
{
	sigset_t others;

	if (result->outcome != LINUX_KILLED)
		exit(result->status);
	fflush(NULL);
	signal(result->status, SIG_DFL);
	sigfillset(&others);
	sigdelset(&others, result->status);
	sigprocmask(SIG_SETMASK, &others, NULL);
	raise(result->status);
	_exit(128 + result->status);
}
