/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86_64.c - programs of x86-64: numbers, registers, structures, faults */
#include <elf.h>
#include <string.h>

#include "formats/registers.h"
#include "vm/arch/x86/guest.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/abi/x86_64_internal.h"
#include "vm/vm.h"

/* ------- numbers and structures ------- */

/* The host is x86-64, too: the numbers are its own. */
static const uint16_t numbers[] = {
#define CALL(name, number, ...) [number] = 1 + CALL_##name,
#define WAIT(name, number, ...) [number] = 1 + CALL_##name,
#define CODE(name, number, ...) [number] = 1 + CALL_##name,
#define WAIT_CODE(name, number, ...) [number] = 1 + CALL_##name,
#define REFUSED(name, number, ...) [number] = 1 + CALL_##name,
#include "vm/linux/abi/calls.inc"
#undef CALL
#undef WAIT
#undef CODE
#undef WAIT_CODE
#undef REFUSED
};

/* ... and so are its structures. */
#define SAME(name, bytes) [S_##name] = { .size = bytes, .host_size = bytes }

static const struct guest_layout layouts[STRUCT_COUNT] = {
	SAME(INT, 4), SAME(LONG, 8), SAME(TWO_INTS, 8), SAME(STAT, 144),
	SAME(STATFS, 120), SAME(STATX, 256), SAME(TIMESPEC, 16),
	SAME(TWO_TIMESPECS, 32), SAME(TIMEVAL, 16), SAME(TWO_TIMEVALS, 32),
	SAME(TIMEZONE, 8), SAME(UTIMBUF, 16), SAME(TIMEX, 208), SAME(TMS, 32),
	SAME(ITIMERVAL, 32), SAME(ITIMERSPEC, 32), SAME(RUSAGE, 144),
	SAME(RLIMIT, 16), SAME(SYSINFO, 112), SAME(UTSNAME, 390),
	SAME(SIGSET, 8), SAME(SIGINFO, 128), SAME(SIGEVENT, 64),
	SAME(SIGACTION, 32), SAME(STACK, 24), SAME(POLLFD, 8),
	SAME(EPOLL_EVENT, 12), SAME(CAP_HEADER, 8), SAME(CAP_DATA, 24),
	SAME(MQ_ATTR, 64), SAME(FLOCK, 32), SAME(FILE_RANGE, 16),
	SAME(CACHESTAT, 40), SAME(SEMBUF, 6), SAME(OPEN_HOW, 24),
	SAME(IOVEC, 16), SAME(MSGHDR, 56), SAME(MMSGHDR, 64),
	SAME(SHMID_DS, 112), SAME(SHMINFO, 72), SAME(SHM_INFO, 48),
	SAME(SEMID_DS, 104), SAME(SEMINFO, 40), SAME(MSQID_DS, 120),
	SAME(MSGINFO, 32), SAME(CLONE_ARGS, 88), SAME(ROBUST_LIST, 24),
	SAME(SET_AND_SIZE, 16),
};

/* ------- registers ------- */

static void start(struct vm *vm, guest_addr entry, guest_addr sp)
{
	for (unsigned reg = X86_RAX; reg <= X86_R15; reg++)
		vm_set_reg(vm, reg, 0);
	vm_set_reg(vm, X86_RSP, sp);
	vm_set_reg(vm, X86_RIP, entry);
	vm_set_reg(vm, X86_RFLAGS, 0x202);
}

static void begin(struct vm *vm, guest_addr stack, const uint64_t *tls)
{
	vm_set_reg(vm, X86_RAX, 0);
	if (stack)
		vm_set_reg(vm, X86_RSP, stack);
	if (tls)
		vm_set_reg(vm, X86_FS_BASE, *tls);
}

/* ------- faults ------- */

/* Exceptions of the processor, as a signal's context shows them. */
enum {
	TRAP_DIVIDE = 0,
	TRAP_DEBUG = 1,
	TRAP_BREAKPOINT = 3,
	TRAP_OVERFLOW = 4,
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
		      struct guest_fault *out)
{
	switch (stop->number) {
	case INT_CALL:
		set(out, SIGILL, ILL_ILLOPN, stop->pc);
		set_trap(out, TRAP_INVALID, 0);
		out->other_call = "int 0x80";
		break;
	case INT_OVERFLOW:	/* the only vector that resumes after it */
		vm_set_reg(vm, X86_RIP, stop->pc + stop->size);
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
			    struct guest_fault *out)
{
	uint64_t status = vm_reg(vm, X86_FPSW), control = vm_reg(vm, X86_FPCW);
	uint64_t mxcsr = vm_reg(vm, X86_MXCSR);
	bool is_sse = stop->detail == X86_FAULT_SSE;

	set(out, SIGFPE,
	    code_of(is_sse ? mxcsr & ~(mxcsr >> 7) & 0x3f :
			     status & ~control & 0x3f),
	    stop->pc);
	set_trap(out, is_sse ? TRAP_SSE : TRAP_X87, 0);
}

static void fault(struct vm *vm, const struct vm_stop *stop, bool is_present,
		  struct guest_fault *out)
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
		float_exception(vm, stop, out);
		break;
	case FAULT_INTERRUPT:
		interrupt(vm, stop, out);
		break;
	case FAULT_PRIVILEGE:
		if (stop->detail == X86_FAULT_STACK)
			out->info.si_signo = SIGBUS;
		set_trap(out, stop->detail == X86_FAULT_STACK ?
				      TRAP_STACK : TRAP_PROTECTION, 0);
		break;
	}
}

/* ------- the kind ------- */

/* Addresses: fs/binfmt_elf.c and arch/x86/mm/mmap.c of Linux. */
const struct linux_abi abi_x86_64 = {
	.arch = ARCH_X86_64,
	.word = 8,
	.machine = "x86_64",
	.hwcap = 0x078bfbff,	/* CPUID leaf 1 edx of the guest's processor */
	.frame_most = FRAME_MOST,
	.elf_machine = EM_X86_64,
	.elf_class = ELFCLASS64,
	.elf_name = "x86-64",
	.user_end = UINT64_C(0x7ffffffff000),
	.pie_base = UINT64_C(0x555555554000),
	.mmap_gap = UINT64_C(0x8000000),
	.mmap_gap_random = UINT64_C(1) << 34,
	.pie_bits = 28,
	.mmap_bits = 28,
	.stack_bits = 22,
	.heap_bits = 13,
	.map_low = 0x40,	/* MAP_32BIT */
	.low_start = UINT64_C(0x40000000),
	.low_end = UINT64_C(0x80000000),
	.number_reg = X86_RAX,
	.arg_regs = { X86_RDI, X86_RSI, X86_RDX, X86_R10, X86_R8, X86_R9 },
	.call_size = 2,
	.clone_child_tid = 3,
	.clone_tls = 4,
	.numbers = { .low = numbers,
		     .low_count = sizeof(numbers) / sizeof(numbers[0]) },
	.fixed_calls = UINT64_C(0xffffffffff600000),
	.fixed_numbers = { 96, 201, 309 },	/* gettimeofday, time, getcpu */
	.fixed_name = "[vsyscall]",
	.layouts = layouts,
	.start = start,
	.begin = begin,
	.frame_push = x86_64_frame_push,
	.frame_pop = x86_64_frame_pop,
	.fault = fault,
	.print_cpuinfo = x86_64_print_cpuinfo,
};
