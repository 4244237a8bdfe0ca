/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arm64.c - programs of AArch64: numbers, registers, structures, faults */
#include <elf.h>
#include <fcntl.h>

#include "formats/registers.h"
#include "vm/arch/arm64/guest.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/arm64_internal.h"
#include "vm/linux/abi/arm_flags.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/vm.h"

/* ------- numbers and structures ------- */

static const uint16_t numbers[] = {
#define NUMBER(name, number) [number] = 1 + CALL_##name,
#include "vm/linux/abi/arm64_numbers.inc"
#undef NUMBER
};

#define SAME(name, bytes) [S_##name] = { .size = bytes, .host_size = bytes }
#define OTHER(name, bytes, host_bytes, list)                                   \
	[S_##name] = { .size = bytes, .host_size = host_bytes,                 \
		       .count = sizeof(list) / sizeof(list[0]), .members = list }

static const struct guest_member stat_members[] = {
	{ 0, 8, 0, 8, false },		/* device */
	{ 8, 8, 8, 8, false },		/* inode */
	{ 16, 4, 24, 4, false },	/* mode */
	{ 20, 4, 16, 8, false },	/* links */
	{ 24, 4, 28, 4, false },	/* user */
	{ 28, 4, 32, 4, false },	/* group */
	{ 32, 8, 40, 8, false },	/* device that it is */
	{ 48, 8, 48, 8, false },	/* size */
	{ 56, 4, 56, 8, false },	/* size of blocks */
	{ 64, 8, 64, 8, false },	/* blocks */
	{ 72, 48, 72, 48, false },	/* three times */
};

static const struct guest_member epoll_members[] = {
	{ 0, 4, 0, 4, false },
	{ 8, 8, 4, 8, false },
};

static const struct guest_member semid_members[] = {
	{ 0, 48, 0, 48, false },	/* permissions */
	{ 48, 8, 48, 8, false },	/* time of the last operation */
	{ 56, 8, 64, 8, false },	/* of the last change */
	{ 64, 8, 80, 8, false },	/* how many there are */
};

static const struct guest_layout layouts[STRUCT_COUNT] = {
	SAME(INT, 4), SAME(LONG, 8), SAME(TWO_INTS, 8),
	OTHER(STAT, 128, 144, stat_members),
	SAME(STATFS, 120), SAME(STATX, 256), SAME(TIMESPEC, 16),
	SAME(TWO_TIMESPECS, 32), SAME(TIMEVAL, 16), SAME(TWO_TIMEVALS, 32),
	SAME(TIMEZONE, 8), SAME(UTIMBUF, 16), SAME(TIMEX, 208), SAME(TMS, 32),
	SAME(ITIMERVAL, 32), SAME(ITIMERSPEC, 32), SAME(RUSAGE, 144),
	SAME(RLIMIT, 16), SAME(SYSINFO, 112), SAME(UTSNAME, 390),
	SAME(SIGSET, 8), SAME(SIGINFO, 128), SAME(SIGEVENT, 64),
	SAME(SIGACTION, 32), SAME(STACK, 24), SAME(POLLFD, 8),
	OTHER(EPOLL_EVENT, 16, 12, epoll_members),
	SAME(CAP_HEADER, 8), SAME(CAP_DATA, 24),
	SAME(MQ_ATTR, 64), SAME(FLOCK, 32), SAME(FILE_RANGE, 16),
	SAME(CACHESTAT, 40), SAME(SEMBUF, 6), SAME(OPEN_HOW, 24),
	SAME(IOVEC, 16), SAME(MSGHDR, 56), SAME(MMSGHDR, 64),
	SAME(SHMID_DS, 112), SAME(SHMINFO, 72), SAME(SHM_INFO, 48),
	OTHER(SEMID_DS, 88, 104, semid_members), SAME(SEMINFO, 40),
	SAME(MSQID_DS, 120), SAME(MSGINFO, 32), SAME(CLONE_ARGS, 88),
	SAME(ROBUST_LIST, 24), SAME(SET_AND_SIZE, 16), SAME(OFFSET, 8),
	SAME(RLIMIT64, 16),
};

/* ------- registers ------- */

static void start(struct vm *vm, guest_addr entry, guest_addr sp)
{
	for (unsigned i = 0; i < 31; i++)
		vm_set_reg(vm, ARM64_X0 + i, 0);
	vm_set_reg(vm, ARM64_SP, sp);
	vm_set_reg(vm, ARM64_PC, entry);
	vm_set_reg(vm, ARM64_CPSR, 0);
}

static void begin(struct vm *vm, guest_addr stack,
		  const struct guest_tls *tls)
{
	vm_set_reg(vm, ARM64_X0, 0);
	if (stack)
		vm_set_reg(vm, ARM64_SP, stack);
	if (tls)
		vm_set_reg(vm, tls->reg, tls->value);
}

/* ------- faults ------- */

/* Fields of ESR_EL1 (Arm Architecture Reference Manual, D19.2.37). */
#define CLASS(number) ((uint64_t)(number) << 26)
#define IS_LONG (UINT64_C(1) << 25)	/* an instruction of 4 bytes */
#define WRITES UINT64_C(0x40)
enum {
	CLASS_FETCH = 0x20,
	CLASS_DATA = 0x24,
	STATUS_MISSING = 0x07,	/* translation fault, at the last level */
	STATUS_FORBIDDEN = 0x0f,
	STATUS_ALIGNMENT = 0x21,
};

static void set(struct guest_fault *out, int number, int code, guest_addr addr)
{
	out->info.si_signo = number;
	out->info.si_code = code;
	out->info.si_addr = (void *)(uintptr_t)addr;
	out->trap.address = 0;
	out->trap.error = 0;
}

static void access_fault(const struct vm_stop *stop, unsigned status,
			 struct guest_fault *out)
{
	bool fetches = stop->access == ACCESS_FETCH;

	out->trap.address = stop->addr;
	out->trap.error = CLASS(fetches ? CLASS_FETCH : CLASS_DATA) | IS_LONG |
			  (stop->access == ACCESS_WRITE ? WRITES : 0) | status;
}

static void fault(struct vm *vm, const struct vm_stop *stop, bool is_present,
		  struct guest_fault *out)
{
	(void)vm;
	switch (stop->fault) {
	case FAULT_MEMORY:
		set(out, SIGSEGV, stop->mapped ? SEGV_ACCERR : SEGV_MAPERR,
		    stop->addr);
		access_fault(stop, is_present ? STATUS_FORBIDDEN :
						STATUS_MISSING, out);
		break;
	case FAULT_BREAKPOINT:
		set(out, SIGTRAP, TRAP_BRKPT, stop->pc);
		break;
	case FAULT_ALIGNMENT:
		set(out, SIGBUS, BUS_ADRALN, stop->addr);
		access_fault(stop, STATUS_ALIGNMENT, out);
		break;
	default:
		set(out, SIGILL, ILL_ILLOPC, stop->pc);
		out->is_unknown = true;
	}
}

/* ------- the kind ------- */

/* mov x8, #139; svc #0: rt_sigreturn(2). */
static const uint8_t signal_code[] = {
	0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4,
};

/*
 * FP ASIMD EVTSTRM AES PMULL SHA1 SHA2 CRC32 CPUID, of uapi/asm/hwcap.h.
 * Addresses: arch/arm64/include/asm/processor.h and elf.h, arch/arm64/Kconfig,
 * for 48 bits.
 */
const struct linux_abi abi_arm64 = {
	.arch = ARCH_AARCH64,
	.word = 8,
	.machine = "aarch64",
	.other_machine = "aarch64",
	.package = "libc6-arm64-cross",
	.hwcap = 0x8ff,
	.frame_most = FRAME_MOST,
	.frame_mask = FRAME_MASK,
	.elf_machine = EM_AARCH64,
	.elf_class = ELFCLASS64,
	.elf_name = "AArch64",
	.user_end = UINT64_C(0x1000000000000),
	.pie_base = UINT64_C(0xaaaaaaaaa000),
	.mmap_gap = UINT64_C(0x8000000),
	.mmap_gap_random = UINT64_C(1) << 30,
	.pie_bits = 18,
	.mmap_bits = 18,
	.stack_bits = 18,
	.heap_bits = 18,
	.arg_regs = { ARM64_X0, ARM64_X0 + 1, ARM64_X0 + 2, ARM64_X0 + 3,
		      ARM64_X0 + 4, ARM64_X0 + 5 },
	.clone_child_tid = 4,
	.clone_tls = 3,
	.numbers = { .low = numbers,
		     .low_count = sizeof(numbers) / sizeof(numbers[0]) },
	.signal_code = signal_code,
	.signal_code_size = sizeof(signal_code),
	.layouts = layouts,
	.open_flags = arm_open_flags,
	.start = start,
	.begin = begin,
	.frame_push = arm64_frame_push,
	.frame_pop = arm64_frame_pop,
	.fault = fault,
	.print_cpuinfo = arm64_print_cpuinfo,
};
