/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86_faults.c - which signals exceptions of the processor are, for x86-64 and
 * i386
 */
#include "vm/arch/x86/guest.h"
#include "vm/linux/abi/x86_64_internal.h"
#include "vm/vm.h"

/* Exceptions of the processor, as a signal's context shows them. */
enum {
	TRAP_DIVIDE = 0,
	TRAP_DEBUG = 1,
	TRAP_BREAKPOINT = 3,
	TRAP_OVERFLOW = 4,
	TRAP_BOUND = 5,
	TRAP_INVALID = 6,
	TRAP_STACK = 12,
	TRAP_PROTECTION = 13,
	TRAP_PAGE = 14,
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

static void set(struct guest_fault *out, int number, int code, guest_addr addr)
{
	out->info.si_signo = number;
	out->info.si_code = code;
	out->info.si_addr = (void *)(uintptr_t)addr;
}

static void set_trap(struct guest_fault *out, uint64_t trap, uint64_t error)
{
	out->trap.trap = trap;
	out->trap.error = error;
}

/* Bits of a page fault's error code (Intel SDM volume 3, section 4.7). */
static uint64_t page_error(const struct vm_stop *stop, bool is_present)
{
	uint64_t error = 4;		/* in user mode */

	if (is_present)
		error |= 1;
	if (stop->access == ACCESS_WRITE)
		error |= 2;
	if (stop->access == ACCESS_FETCH)
		error |= 16;
	return error;
}

static void page_fault(const struct vm_stop *stop, bool is_present,
		       struct guest_fault *out)
{
	set(out, SIGSEGV, stop->mapped ? SEGV_ACCERR : SEGV_MAPERR,
	    stop->addr);
	set_trap(out, TRAP_PAGE, page_error(stop, is_present));
	out->trap.address = stop->addr;
}

static void interrupt(struct vm *vm, const struct vm_stop *stop,
		      const struct x86_fault_regs *regs,
		      struct guest_fault *out)
{
	switch (stop->number) {
	case INT_CALL:
		set(out, SIGILL, ILL_ILLOPN, stop->pc);
		set_trap(out, TRAP_INVALID, 0);
		out->other_call = "int 0x80";
		break;
	case INT_OVERFLOW:	/* the only vector that resumes after it */
		vm_set_reg(vm, regs->pc, stop->pc + stop->size);
		set_trap(out, TRAP_OVERFLOW, 0);
		out->moved = true;
		break;
	default:		/* the gate's selector, "IDT" */
		set_trap(out, TRAP_PROTECTION, stop->number * 8 + 2);
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

static void float_exception(struct vm *vm, const struct vm_stop *stop,
			    const struct x86_fault_regs *regs,
			    struct guest_fault *out)
{
	uint64_t status = vm_reg(vm, regs->status);
	uint64_t control = vm_reg(vm, regs->control);
	uint64_t mxcsr = vm_reg(vm, regs->mxcsr);
	bool is_sse = stop->detail == X86_FAULT_SSE;

	set(out, SIGFPE,
	    code_of(is_sse ? mxcsr & ~(mxcsr >> 7) & 0x3f :
			     status & ~control & 0x3f),
	    stop->pc);
	set_trap(out, is_sse ? TRAP_SSE : TRAP_X87, 0);
}

void x86_fault(struct vm *vm, const struct vm_stop *stop, bool is_present,
	       const struct x86_fault_regs *regs, struct guest_fault *out)
{
	out->info.si_signo = SIGSEGV;
	out->info.si_code = SI_KERNEL;
	switch (stop->fault) {
	case FAULT_MEMORY:
		page_fault(stop, is_present, out);
		break;
	case FAULT_INVALID:
		set(out, SIGILL, ILL_ILLOPN, stop->pc);
		set_trap(out, TRAP_INVALID, 0);
		out->is_unknown = true;
		break;
	case FAULT_BREAKPOINT:
		out->info.si_signo = SIGTRAP;
		set_trap(out, TRAP_BREAKPOINT, 0);
		break;
	case FAULT_DEBUG:
		set(out, SIGTRAP, stop->detail == X86_FAULT_STEP ?
				  TRAP_TRACE : TRAP_BRKPT, stop->pc);
		set_trap(out, TRAP_DEBUG, 0);
		break;
	case FAULT_DIVIDE:
		set(out, SIGFPE, FPE_INTDIV, stop->pc);
		set_trap(out, TRAP_DIVIDE, 0);
		break;
	case FAULT_FLOAT:
		float_exception(vm, stop, regs, out);
		break;
	case FAULT_INTERRUPT:
		interrupt(vm, stop, regs, out);
		break;
	case FAULT_PRIVILEGE:
	case FAULT_ALIGNMENT:		/* never: it is not checked */
		if (stop->detail == X86_FAULT_STACK)
			out->info.si_signo = SIGBUS;
		set_trap(out, stop->detail == X86_FAULT_STACK ? TRAP_STACK :
			      stop->detail == X86_FAULT_BOUND ? TRAP_BOUND :
								TRAP_PROTECTION,
			 0);
		break;
	}
}
