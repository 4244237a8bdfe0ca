/* SPDX-License-Identifier: GPL-2.0-or-later */
/* linux.c - see linux.h: making a process, and performing its calls */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/error.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/files/files.h"
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/linux.h"
#include "vm/linux/load/load.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/proc/proc.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals.h"
#include "vm/linux/tasks/tasks.h"

/* ------- making and ending one ------- */

/* The process, with what the rooms have of it. */
struct whole {
	struct linux_process process;
	struct host host;
	struct actions actions;
	struct limits limits;
	struct space space;
	struct open_files files;
	struct tasks tasks;
	struct loaded loaded;
};

static struct linux_process *create(struct vm *vm)
{
	struct whole *whole = calloc(1, sizeof(*whole));

	if (!whole)
		return NULL;
	whole->process = (struct linux_process){
		.vm = vm,
		.memory = vm_memory(vm),
		.abi = linux_abi(vm_reg_table(vm)->arch),
		.host = &whole->host,
		.actions = &whole->actions,
		.limits = &whole->limits,
		.space = &whole->space,
		.files = &whole->files,
		.tasks = &whole->tasks,
		.loaded = &whole->loaded,
	};
	whole->host.exe = -1;
	return &whole->process;
}

enum arch linux_arch_of(const struct linux_options *options)
{
	struct program program = { .fd = -1 };
	const struct linux_abi *abi = NULL;

	if (!program_find(&program, options, NULL))
		abi = program_abi(program.fd);
	program_release(&program);
	return abi ? (enum arch)abi->arch : ARCH_X86_64;
}

int linux_create(struct linux_process **out, struct vm *vm,
		 const struct linux_options *options, struct failure *why)
{
	struct linux_process *process = create(vm);
	struct program program = { .fd = -1 };
	int rc;

	if (!process)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	assert(process->abi);
	process->loaded->aslr = options->aslr;
	process->sysroot = sysroot_find(options);
	limits_init(process);
	own_stderr_hide();
	rc = tasks_init(process);
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
		rc = load_program(process, &program, options, why);
	program_release(&program);
	if (rc) {
		linux_destroy(process);
		return rc;
	}
	vm_registers(vm, &process->loaded->first);
	signals_init(process);
	*out = process;
	return 0;
}

bool linux_is_threaded(const struct linux_process *process)
{
	return process && (process->was_threaded || process->next_index > 1);
}

void linux_end(struct linux_process *process)
{
	if (!process->thread)
		return;
	vfork_send_writes(process);
	vfork_release_parent(process);
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
	locks_forget(process);
	marks_drop(&process->space->growing);
	if (process->host->exe >= 0)
		linux_close_hidden(process->host->exe);
	descriptors_release(process);
	free(process->program);
	free(process->sysroot);
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

/* ------- system calls ------- */

/* A fault at once, where Linux has that for numbers that it does not know. */
static bool is_fault(struct linux_process *process)
{
	const struct linux_abi *abi = process->abi;
	struct guest_trap *trap = &process->thread->signals->trap;
	struct guest_fault fault = { .trap = *trap };

	if (!abi->bad_call ||
	    !abi->bad_call(process->vm, process->thread->number, &fault))
		return false;
	*trap = fault.trap;
	process->thread->changed_registers = true;
	signals_force(process, &fault.info);
	return true;
}

static int64_t unknown(struct linux_process *process)
{
	if (is_fault(process))
		return (int64_t)guest_result(process);
	notice_once(process, ABOUT_UNKNOWN_CALL, NOTICE_LACK,
		    "system call %llu is not known: the program gets ENOSYS",
		    (unsigned long long)process->thread->number);
	return -ENOSYS;
}

static bool uses_hidden(const struct linux_call *row, const uint64_t *arg)
{
	for (int i = 0; i < CALL_ARGS; i++)
		if ((row->args[i].kind == ARG_FD ||
		     row->args[i].kind == ARG_DIR) && is_hidden((int)arg[i]))
			return true;
	return false;
}

/* Of a call that waits for processes, a thread is none: the host says so. */
static bool names_own_thread(struct linux_process *process,
			     const struct linux_call *row, const uint64_t *arg)
{
	for (int i = 0; i < CALL_ARGS && !row->waits; i++)
		if (row->args[i].kind == ARG_PID &&
		    proc_hides_thread(process, (uint32_t)arg[i]))
			return true;
	return false;
}

static bool read_guest(void *context, guest_addr addr, void *bytes, size_t size)
{
	return !copy_in(context, bytes, addr, size);
}

static int64_t perform(struct linux_process *process, uint64_t *arg)
{
	const struct linux_reader reader = { read_guest, process };
	const struct linux_call *row;
	syscall_handler *handler;
	int64_t result;

	/* A signal that came first is delivered first. */
	if (linux_has_signal(process))
		return -RESTART_ALWAYS;
	row = abi_call(process->abi, process->thread->number);
	if (!row)
		return unknown(process);
	if (process->abi->unfold) {
		result = process->abi->unfold(&reader, &row, arg);
		if (result)
			return result;
	}
	if (row->refusal)
		return -row->refusal;
	if (uses_hidden(row, arg))
		return -EBADF;
	if (names_own_thread(process, row, arg))
		return -ESRCH;
	handler = call_handler(row);
	if (!handler)
		return marshal_call(process, row, arg);
	result = handler(process, row, arg);
	vfork_tell(process, row, arg, result);
	return process->abi->fold ?
		       process->abi->fold(process, row, arg, result) : result;
}

/* What the guest gets when a signal has interrupted a call. */
static int64_t interrupted(struct linux_process *process, int64_t value,
			   const uint64_t *arg)
{
	const struct reg_table *table = vm_reg_table(process->vm);
	uint64_t pc = vm_reg(process->vm, table->pc);

	if (value == -RESTART_IF_ASKED && !signals_restart(process))
		return -EINTR;
	/* The instruction again; the handler comes before it. */
	vm_set_reg(process->vm, table->pc, pc - vm_call_size(process->vm));
	process->thread->changed_registers = true;
	return table->result == table->call_number ?
		       (int64_t)process->thread->number :
		       (int64_t)arg[0];
}

int linux_syscall(struct linux_process *process, struct linux_result *result,
		  struct failure *why)
{
	const struct linux_abi *abi = process->abi;
	struct vm *vm = process->vm;
	uint64_t arg[CALL_ARGS];
	int64_t value;

	(void)why;
	if (!process->has_called)
		hide_own_descriptors(process);
	process->has_called = true;
	memory_doubt_shared(process->memory);
	process->thread->number = (uint32_t)vm_reg(
		vm, vm_reg_table(vm)->call_number);
	for (int i = 0; i < CALL_ARGS; i++)
		arg[i] = vm_reg(vm, abi->arg_regs[i]);
	abi_take_arguments(abi, process->thread->number, arg);
	process->thread->changed_registers = false;
	value = perform(process, arg);
	if (value == -RESTART_IF_ASKED || value == -RESTART_ALWAYS)
		value = interrupted(process, value, arg);
	vm_set_reg(vm, vm_reg_table(vm)->result, (uint64_t)value);
	process_report(process, result, process->thread->number, value);
	return 0;
}

/* ------- signals ------- */

bool linux_has_signal(const struct linux_process *process)
{
	return signals_has(process) || lost_pages_are_there(process);
}

int linux_deliver(struct linux_process *process, struct linux_result *result,
		  struct failure *why)
{
	int number = SIGBUS;

	(void)why;
	process->thread->changed_registers = false;
	if (lost_pages_are_there(process))
		lost_pages_mend(process);
	else
		number = signals_deliver(process);
	process_report(process, result, (uint64_t)number,
		       (int64_t)guest_result(process));
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
