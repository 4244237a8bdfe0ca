/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fault.c - the signal for an instruction that cannot retire */
#include <signal.h>

#include "vm/linux/process.h"

/* Exceptions of the processor, as a signal's context shows them. */
enum {
	TRAP_DIVIDE = 0,
	TRAP_BREAKPOINT = 3,
	TRAP_INVALID = 6,
	TRAP_PROTECTION = 13,
};

/* Bits of a page fault's error code (Intel SDM volume 3, section 4.7). */
static uint64_t page_error(const struct vm_stop *stop)
{
	uint64_t error = 4;		/* in user mode */

	if (stop->mapped)
		error |= 1;
	if (stop->access == ACCESS_WRITE)
		error |= 2;
	if (stop->access == ACCESS_FETCH)
		error |= 16;
	return error;
}

static void set_address(siginfo_t *info, guest_addr addr)
{
	info->si_addr = (void *)(uintptr_t)addr;
}

static void memory_fault(struct linux_process *process,
			 const struct vm_stop *stop, siginfo_t *info)
{
	int tail = eof_tail_fault(process, stop->addr);

	info->si_signo = tail ? SIGBUS : SIGSEGV;
	if (tail > 0)
		return;		/* the page is there now */
	info->si_code = tail	     ? BUS_ADRERR :
			stop->mapped ? SEGV_ACCERR :
				       SEGV_MAPERR;
	set_address(info, stop->addr);
	signals_force(process, info, TRAP_PAGE, page_error(stop), stop->addr);
}

static void invalid(struct linux_process *process, const struct vm_stop *stop,
		    siginfo_t *info)
{
	char text[120];
	unsigned size;

	info->si_signo = SIGILL;
	info->si_code = ILL_ILLOPN;
	set_address(info, stop->pc);
	signals_force(process, info, TRAP_INVALID, 0, 0);
	if (process->thread->outcome != LINUX_KILLED)
		return;
	vm_disassemble(process->vm, stop->pc, text, sizeof(text), &size);
	notice(process,
	       "the guest's processor has no '%s' (at 0x%llx): SIGILL", text,
	       (unsigned long long)stop->pc);
}

/* Returns the signal. */
static int raise_for(struct linux_process *process, const struct vm_stop *stop)
{
	siginfo_t info = { .si_signo = SIGSEGV, .si_code = SI_KERNEL };

	switch (stop->fault) {
	case FAULT_MEMORY:
		memory_fault(process, stop, &info);
		break;
	case FAULT_INVALID:
		invalid(process, stop, &info);
		break;
	case FAULT_BREAKPOINT:
		info.si_signo = SIGTRAP;
		signals_force(process, &info, TRAP_BREAKPOINT, 0, 0);
		break;
	case FAULT_DIVIDE:
		info.si_signo = SIGFPE;
		info.si_code = FPE_INTDIV;
		set_address(&info, stop->pc);
		signals_force(process, &info, TRAP_DIVIDE, 0, 0);
		break;
	case FAULT_PRIVILEGE:
	case FAULT_INTERRUPT:
		signals_force(process, &info, TRAP_PROTECTION, 0, 0);
		break;
	}
	return info.si_signo;
}

int linux_fault(struct linux_process *process, const struct vm_stop *stop,
		struct linux_result *result, struct failure *why)
{
	int number;

	(void)why;
	process->thread->changed_registers = false;
	number = raise_for(process, stop);
	*result = (struct linux_result){
		.outcome = process->thread->outcome,
		.status = process->thread->status,
		.number = (uint64_t)number,
		.value = (int64_t)vm_reg(process->vm, X86_RAX),
		.all_registers = process->thread->changed_registers,
	};
	return 0;
}
