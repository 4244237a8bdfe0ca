/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86_64.c - programs of x86-64: numbers, registers, structures */
#include <elf.h>

#include "formats/registers.h"
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
	SAME(SET_AND_SIZE, 16), SAME(OFFSET, 8), SAME(RLIMIT64, 16),
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

static void begin(struct vm *vm, guest_addr stack,
		  const struct guest_tls *tls)
{
	vm_set_reg(vm, X86_RAX, 0);
	if (stack)
		vm_set_reg(vm, X86_RSP, stack);
	if (tls)
		vm_set_reg(vm, tls->reg, tls->value);
}

static void fault(struct vm *vm, const struct vm_stop *stop, bool is_present,
		  struct guest_fault *out)
{
	static const struct x86_fault_regs regs = {
		X86_RIP, X86_FPSW, X86_FPCW, X86_MXCSR,
	};

	x86_fault(vm, stop, is_present, &regs, out);
}

/* ------- the kind ------- */

/* Addresses: fs/binfmt_elf.c and arch/x86/mm/mmap.c of Linux. */
const struct linux_abi abi_x86_64 = {
	.arch = ARCH_X86_64,
	.word = 8,
	.machine = "x86_64",
	.hwcap = 0x078bfbff,	/* CPUID leaf 1 edx of the guest's processor */
	.frame_most = FRAME_MOST,
	.frame_mask = FRAME_MASK,
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
	.arg_regs = { X86_RDI, X86_RSI, X86_RDX, X86_R10, X86_R8, X86_R9 },
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
