/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fixed_calls.c - system calls that are functions at fixed addresses
 *
 * Programs that were linked long ago call gettimeofday(), time() and getcpu()
 * at addresses that every kernel had.  As with Linux's vsyscall=xonly, nothing
 * is there to be read: the fetch faults, and the call is made.
 *
 * Source: Linux, arch/x86/entry/vsyscall/vsyscall_64.c.
 */
#include <errno.h>
#include <signal.h>

#include "vm/linux/abi/abi.h"
#include "vm/linux/kernel.h"
#include "vm/linux/process.h"

/* Which one begins at `addr`; -1. */
static int find(const struct linux_abi *abi, guest_addr addr)
{
	uint64_t offset = addr - abi->fixed_calls;

	if (offset % FIXED_CALL_BYTES ||
	    offset / FIXED_CALL_BYTES >= FIXED_CALLS)
		return -1;
	return (int)(offset / FIXED_CALL_BYTES);
}

static int64_t perform(struct linux_process *process, uint32_t number)
{
	const struct linux_call *row = abi_call(process->abi, number);
	syscall_handler *handler = call_handler(row);
	uint64_t arg[CALL_ARGS];

	for (int i = 0; i < CALL_ARGS; i++)
		arg[i] = vm_reg(process->vm, process->abi->arg_regs[i]);
	return handler ? handler(process, row, arg) :
			 marshal_call(process, row, arg);
}

bool fixed_call(struct linux_process *process, const struct vm_stop *stop,
		uint64_t *number, int *error)
{
	const struct linux_abi *abi = process->abi;
	const struct reg_table *regs = vm_reg_table(process->vm);
	guest_addr sp = guest_sp(process), back;
	int which;
	int64_t value;

	*error = 0;
	if (stop->fault != FAULT_MEMORY || stop->access != ACCESS_FETCH ||
	    !abi->fixed_calls || page_down(stop->pc) != abi->fixed_calls)
		return false;
	which = find(abi, stop->pc);
	*error = -EFAULT;
	if (which < 0 || copy_in(process, &back, sp, sizeof(back)))
		return true;
	*number = abi->fixed_numbers[which];
	value = perform(process, abi->fixed_numbers[which]);
	if (value == -EFAULT)
		return true;
	vm_set_reg(process->vm, regs->result, (uint64_t)value);
	vm_set_reg(process->vm, regs->sp, sp + sizeof(back));
	vm_set_reg(process->vm, regs->pc, back);
	process->thread->changed_registers = true;
	*error = 0;
	return true;
}
