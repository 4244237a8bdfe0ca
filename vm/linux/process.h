/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process.h - the guest's process and its threads, as all rooms know them
 *
 * Every room of vm/linux/ keeps what it knows of the process in a structure of
 * its own, which is declared here and defined in the room's header: without
 * including that, no other room can look into it.
 *
 * Units:      addresses are guest virtual; sizes are bytes.
 * Ownership:  everything belongs to the process; there is one at a time.
 */
#ifndef CPREC_VM_LINUX_PROCESS_H
#define CPREC_VM_LINUX_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/linux/abi/abi.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/linux.h"
#include "formats/registers.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

enum {
	BOUNCE = 4096,		/* bytes of an argument that are copied */
	NOTICES = 1024,		/* things that are told once */
};

/*
 * A thread of the guest.  Each has a thread of the host, which performs its
 * system calls and runs the guest for it while it has the processor.
 * process->thread is the one that has it; it alone uses the process, the vm
 * and the memory.
 */
struct linux_thread {
	struct linux_process *process;
	struct vm_thread *vm_thread;
	unsigned index;		/* in the order of their making, from 0 */
	uint32_t tid;
	struct linux_thread *next;	/* of all */

	/* Of the present call. */
	uint64_t number;
	bool changed_registers;	/* other ones than the result */
	enum linux_outcome outcome;
	int status;
	struct spans spans;
	uint64_t bounce[CALL_ARGS][BOUNCE / 8];

	/* A signal that has come and ends a call of the host's; 0: none. */
	volatile int pending;
	bool must_end;		/* another thread executes a program */
	bool has_no_clock;	/* the processor's, by PR_SET_TSC */

	/* The rooms' own. */
	struct signals *signals;
	struct task *task;
};

struct linux_process {
	struct vm *vm;
	struct memory *memory;
	const struct linux_observer *observer;
	const struct linux_driver *driver;
	const struct linux_abi *abi;	/* what kind of guest it is */
	char *program;		/* absolute path of the ELF file */
	char *sysroot;		/* see host/sysroot.c; NULL: none */
	guest_addr signal_page;	/* where abi->signal_code is; 0 */

	struct linux_thread *thread;	/* that has the processor */
	struct linux_thread *threads;	/* all that live */
	unsigned thread_count;
	unsigned next_index;
	bool was_threaded;	/* before it became another machine's */
	bool has_called;	/* at least once */
	uint64_t noticed[NOTICES / 64];	/* what was told of */

	/* The rooms' own. */
	struct host *host;
	struct actions *actions;
	struct limits *limits;
	struct space *space;
	struct open_files *files;
	struct tasks *tasks;
	struct loaded *loaded;
};

/* Registers that all kinds of guests have. */
static inline guest_addr guest_sp(struct linux_process *process)
{
	return vm_reg(process->vm, vm_reg_table(process->vm)->sp);
}

static inline uint64_t guest_result(struct linux_process *process)
{
	return vm_reg(process->vm, vm_reg_table(process->vm)->result);
}

static inline uint64_t host_pointer(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

static inline uint64_t page_down(uint64_t value)
{
	return value & ~(uint64_t)(GUEST_PAGE - 1);
}

/* Of a value near 2^64: 0. */
static inline uint64_t page_up(uint64_t value)
{
	return page_down(value + GUEST_PAGE - 1);
}

#endif
