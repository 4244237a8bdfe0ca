/* SPDX-License-Identifier: GPL-2.0-or-later */
/* i386.c - programs of i386, as a kernel of x86-64 runs them: numbers, registers */
#include <elf.h>

#include "formats/registers.h"
#include "vm/arch/x86/guest.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/i386_internal.h"
#include "vm/linux/abi/structs_32.h"
#include "vm/linux/abi/x86_64_internal.h"
#include "vm/vm.h"

/* ------- numbers ------- */

static const uint16_t numbers[] = {
#define NUMBER(name, number) [number] = 1 + CALL_##name,
#define SHAPED(name, number, shape) [number] = 1 + CALL_##name,
#include "vm/linux/abi/i386_numbers.inc"
#undef NUMBER
#undef SHAPED
};

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static const char *const shapes[NUMBERS] = {
#define NUMBER(name, number)
#define SHAPED(name, number, shape) [number] = shape,
#include "vm/linux/abi/i386_numbers.inc"
#undef NUMBER
#undef SHAPED
};

/* ------- registers ------- */

static void start(struct vm *vm, guest_addr entry, guest_addr sp)
{
	for (unsigned reg = I386_EAX; reg <= I386_EBP; reg++)
		vm_set_reg(vm, reg, 0);
	vm_set_reg(vm, I386_ESP, sp);
	vm_set_reg(vm, I386_EIP, entry);
	vm_set_reg(vm, I386_EFLAGS, 0x202);
	vm_set_reg(vm, I386_DS, X86_USER_DS);
	vm_set_reg(vm, I386_ES, X86_USER_DS);
}

static void begin(struct vm *vm, guest_addr stack,
		  const struct guest_tls *tls)
{
	vm_set_reg(vm, I386_EAX, 0);
	if (stack)
		vm_set_reg(vm, I386_ESP, stack);
	if (tls)
		vm_set_reg(vm, tls->reg, tls->value);
}

static void fault(struct vm *vm, const struct vm_stop *stop, bool is_present,
		  struct guest_fault *out)
{
	static const struct x86_fault_regs regs = {
		I386_EIP, I386_FPSW, I386_FPCW, I386_MXCSR,
	};

	x86_fault(vm, stop, is_present, &regs, out);
}

/* ------- the kind ------- */

/* Addresses: fs/binfmt_elf.c and arch/x86/mm/mmap.c of Linux. */
const struct linux_abi abi_i386 = {
	.arch = ARCH_I386,
	.word = 4,
	.machine = "i686",
	.package = "libc6-i386",
	.hwcap = 0x078bfbff,	/* CPUID leaf 1 edx of the guest's processor */
	.frame_most = I386_FRAME_MOST,
	.frame_mask = I386_FRAME_MASK,
	.elf_machine = EM_386,
	.elf_class = ELFCLASS32,
	.elf_name = "i386",
	.user_end = UINT64_C(0xffffe000),
	.pie_base = UINT64_C(0x56555000),
	.mmap_gap = UINT64_C(0x8000000),
	.mmap_gap_random = UINT64_C(0x800000),
	.pie_bits = 8,
	.mmap_bits = 8,
	.stack_bits = 11,
	.heap_bits = 13,
	.arg_regs = { I386_EBX, I386_ECX, I386_EDX, I386_ESI, I386_EDI,
		      I386_EBP },
	.clone_child_tid = 4,
	.clone_tls = 3,
	.clone_tls_at = 4,	/* struct user_desc: base_addr */
	.numbers = { .low = numbers, .low_count = NUMBERS, .shapes = shapes },
	.unfold = i386_unfold,
	.fold = i386_fold,
	.signal_code = i386_signal_code,
	.signal_code_size = sizeof(i386_signal_code),
	.layouts = i386_layouts,
	.start = start,
	.begin = begin,
	.take_tls = i386_take_tls,
	.frame_push = i386_frame_push,
	.frame_pop = i386_frame_pop,
	.fault = fault,
	.print_cpuinfo = x86_64_print_cpuinfo,
};
