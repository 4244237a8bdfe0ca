/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fault.c - the signal for an instruction that cannot retire */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "vm/linux/kernel.h"
#include "vm/linux/linux.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals.h"

/* Exceptions of the processor, as a signal's context shows them. */
enum {
	TRAP_DIVIDE = 0,
	TRAP_DEBUG = 1,
	TRAP_BREAKPOINT = 3,
	TRAP_OVERFLOW = 4,
	TRAP_INVALID = 6,
	TRAP_STACK = 12,
	TRAP_PROTECTION = 13,
	TRAP_X87 = 16,
	TRAP_SSE = 19,
};

/* Exceptions of floating point, in MXCSR and the status word. */
enum {
	FLOAT_INVALID = 1,
	FLOAT_DENORMAL = 2,
	FLOAT_DIVIDE = 4,
	FLOAT_OVERFLOW = 8,
	FLOAT_UNDERFLOW = 16,
};

/* Vectors of INT instructions that Linux lets programs use. */
enum {
	INT_OVERFLOW = 4,
	INT_CALL = 0x80,	/* an i386 system call */
};

/* Whether a page without a file was ever there, as the host knows. */
static bool is_known_page(struct linux_process *process, guest_addr addr)
{
	uint64_t page = addr >> GUEST_PAGE_SHIFT, entry = 0;
	int pagemap;

	if (memory_next_touched(process->memory, page, page + 1) != page)
		return false;
	/* With several threads it may be another one that has it. */
	if (process->next_index > 1)
		return true;
	pagemap = pagemap_open();
	if (pagemap < 0)
		return true;
	pagemap_entries(process, pagemap, page, &entry, 1);
	close(pagemap);
	return entry & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED);
}

/*
 * Whether bit 0 of the error code is set: a page is there but forbidden.  One
 * without any permission is not there, to the processor; of its own addresses
 * Linux always says so.
 */
static bool is_present(struct linux_process *process,
		       const struct vm_stop *stop)
{
	const struct region *region;

	if (stop->addr >= USER_END)
		return true;
	region = memory_region_at(process->memory, stop->addr);
	if (!region || !region->prot)
		return false;
	/* Linux gives a page to whoever may read, even to execute it. */
	return stop->access != ACCESS_WRITE || region->kind != REGION_ANON ||
	       is_known_page(process, stop->addr);
}

/* Bits of a page fault's error code (Intel SDM volume 3, section 4.7). */
static uint64_t page_error(struct linux_process *process,
			   const struct vm_stop *stop)
{
	uint64_t error = 4;		/* in user mode */

	if (is_present(process, stop))
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

/* The signal of an exception. */
static void raise_trap(struct linux_process *process, siginfo_t *info,
		       uint64_t trap, uint64_t error)
{
	process->thread->signals->trap.trap = trap;
	process->thread->signals->trap.error = error;
	signals_force(process, info);
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
	process->thread->signals->trap.cr2 = stop->addr;
	raise_trap(process, info, TRAP_PAGE, page_error(process, stop));
}

static void invalid(struct linux_process *process, const struct vm_stop *stop,
		    siginfo_t *info)
{
	char text[120];
	unsigned size;

	info->si_signo = SIGILL;
	info->si_code = ILL_ILLOPN;
	set_address(info, stop->pc);
	raise_trap(process, info, TRAP_INVALID, 0);
	if (process->thread->outcome != LINUX_KILLED)
		return;
	vm_disassemble(process->vm, stop->pc, text, sizeof(text), &size);
	if (!strncmp(text, "ud", 2))
		return;		/* ud0, ud1, ud2: no processor has them */
	notice(process, NOTICE_INSTRUCTION,
	       "the guest's processor has no '%s' (at 0x%llx): SIGILL", text,
	       (unsigned long long)stop->pc);
}

/*
 * An i386 system call, which could be executed only with tables of its own.
 * No program asks first whether there are such calls, so it is always said.
 */
static void call_of_32_bits(struct linux_process *process,
			    const struct vm_stop *stop, siginfo_t *info)
{
	info->si_signo = SIGILL;
	info->si_code = ILL_ILLOPN;
	set_address(info, stop->pc);
	raise_trap(process, info, TRAP_INVALID, 0);
	notice_once(process, ABOUT_OTHER_ABI, NOTICE_INSTRUCTION,
		    "32-bit system calls are not supported ('int 0x80' at "
		    "0x%llx): SIGILL",
		    (unsigned long long)stop->pc);
}

static void interrupt(struct linux_process *process,
		      const struct vm_stop *stop, siginfo_t *info)
{
	switch (stop->number) {
	case INT_CALL:
		call_of_32_bits(process, stop, info);
		break;
	case INT_OVERFLOW:	/* the only one that goes on behind itself */
		vm_set_reg(process->vm, X86_RIP, stop->pc + stop->size);
		process->thread->changed_registers = true;
		raise_trap(process, info, TRAP_OVERFLOW, 0);
		break;
	default:		/* the gate's selector, "IDT" */
		raise_trap(process, info, TRAP_PROTECTION,
			   stop->number * 8 + 2);
	}
}

/* As the kernel's fpu__exception_code() chooses among several. */
static int code_of(unsigned raised)
{
	if (raised & FLOAT_INVALID)
		return FPE_FLTINV;
	if (raised & FLOAT_DIVIDE)
		return FPE_FLTDIV;
	if (raised & FLOAT_OVERFLOW)
		return FPE_FLTOVF;
	if (raised & (FLOAT_UNDERFLOW | FLOAT_DENORMAL))
		return FPE_FLTUND;
	return FPE_FLTRES;
}

static void float_exception(struct linux_process *process,
			    const struct vm_stop *stop, siginfo_t *info)
{
	uint64_t status = vm_reg(process->vm, X86_FPSW);
	uint64_t control = vm_reg(process->vm, X86_FPCW);
	uint64_t mxcsr = vm_reg(process->vm, X86_MXCSR);
	bool is_sse = stop->fault == FAULT_FLOAT_SSE;

	info->si_signo = SIGFPE;
	info->si_code = code_of(is_sse ? mxcsr & ~(mxcsr >> 7) & 0x3f :
					 status & ~control & 0x3f);
	set_address(info, stop->pc);
	raise_trap(process, info, is_sse ? TRAP_SSE : TRAP_X87, 0);
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
		raise_trap(process, &info, TRAP_BREAKPOINT, 0);
		break;
	case FAULT_DEBUG:
		info.si_signo = SIGTRAP;
		info.si_code = TRAP_BRKPT;
		set_address(&info, stop->pc);
		raise_trap(process, &info, TRAP_DEBUG, 0);
		break;
	case FAULT_DIVIDE:
		info.si_signo = SIGFPE;
		info.si_code = FPE_INTDIV;
		set_address(&info, stop->pc);
		raise_trap(process, &info, TRAP_DIVIDE, 0);
		break;
	case FAULT_FLOAT_SSE:
	case FAULT_FLOAT_X87:
		float_exception(process, stop, &info);
		break;
	case FAULT_INTERRUPT:
		interrupt(process, stop, &info);
		break;
	case FAULT_PRIVILEGE:
		raise_trap(process, &info, TRAP_PROTECTION, 0);
		break;
	case FAULT_STACK:
		info.si_signo = SIGBUS;
		raise_trap(process, &info, TRAP_STACK, 0);
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
	process_report(process, result, (uint64_t)number);
	return 0;
}
