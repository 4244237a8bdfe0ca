/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arm.c - programs of 32-bit ARM, with EABI: numbers, registers */
#include <elf.h>
#include <errno.h>

#include "formats/registers.h"
#include "vm/arch/arm/guest.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/arm_flags.h"
#include "vm/linux/abi/arm_internal.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs_32.h"
#include "vm/linux/process.h"
#include "vm/vm.h"

/* ------- numbers ------- */

static const uint16_t numbers[] = {
#define NUMBER(name, number) [number] = 1 + CALL_##name,
#define SHAPED(name, number, shape) [number] = 1 + CALL_##name,
#include "vm/linux/abi/arm_numbers.inc"
#undef NUMBER
#undef SHAPED
};

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static const char *const shapes[NUMBERS] = {
#define NUMBER(name, number)
#define SHAPED(name, number, shape) [number] = shape,
#include "vm/linux/abi/arm_numbers.inc"
#undef NUMBER
#undef SHAPED
};

/* uapi/asm/unistd.h; see arm_bad_call() for the others there. */
static const struct call_number own_numbers[] = {
	{ 0xf0002, CALL_cacheflush },
	{ 0xf0005, CALL_set_tls },
	{ 0xf0006, CALL_get_tls },
};

/* ------- registers ------- */

static void start(struct vm *vm, guest_addr entry, guest_addr sp)
{
	for (unsigned reg = ARM_R0; reg <= ARM_R12; reg++)
		vm_set_reg(vm, reg, 0);
	vm_set_reg(vm, ARM_SP, sp);
	vm_set_reg(vm, ARM_LR, 0);
	vm_set_reg(vm, ARM_CPSR,
		   ARM_CPSR_USER | (entry & 1 ? ARM_CPSR_THUMB : 0));
	vm_set_reg(vm, ARM_PC, entry & ~UINT64_C(1));
}

static void begin(struct vm *vm, guest_addr stack,
		  const struct guest_tls *tls)
{
	vm_set_reg(vm, ARM_R0, 0);
	if (stack)
		vm_set_reg(vm, ARM_SP, stack);
	if (tls)
		vm_set_reg(vm, tls->reg, tls->value);
}

/* ------- calls ------- */

/* The whole range must be there; code that changes is noticed anyway. */
int64_t sys_cacheflush(struct linux_process *process,
		       const struct linux_call *row, const uint64_t *arg)
{
	guest_addr at = arg[0], end = arg[1];

	(void)row;
	if (end < at || arg[2])
		return -EINVAL;
	if (end > process->abi->user_end)
		return -EFAULT;
	while (at < end) {
		const struct region *region =
			memory_region_at(process->memory, at);

		if (!region || !region->prot)
			return -EFAULT;
		at = region->end;
	}
	return 0;
}

int64_t sys_set_tls(struct linux_process *process,
		    const struct linux_call *row, const uint64_t *arg)
{
	(void)row;
	vm_set_reg(process->vm, ARM_TPIDRURO, arg[0]);
	process->thread->changed_registers = true;
	return 0;
}

int64_t sys_get_tls(struct linux_process *process,
		    const struct linux_call *row, const uint64_t *arg)
{
	(void)row;
	(void)arg;
	return (int64_t)vm_reg(process->vm, ARM_TPIDRURO);
}

/* ------- the kind ------- */

/* Of programs that pass floating point in core registers. */
static const struct linux_libraries others[] = {
	{ "/lib/ld-linux.so.3", "libc6-armel-cross" }, { NULL, NULL }
};

/*
 * HALF THUMB FAST_MULT VFP EDSP NEON VFPv3 TLS VFPv4 IDIVA IDIVT VFPD32 LPAE,
 * of uapi/asm/hwcap.h: what Linux finds on a Cortex-A15 (arch/arm/mm/proc-v7.S,
 * kernel/setup.c, vfp/vfpmodule.c).  Addresses: asm/memory.h and elf.h, with
 * PAGE_OFFSET at 3 GiB; arch/arm/Kconfig.
 */
const struct linux_abi abi_arm = {
	.arch = ARCH_ARM,
	.word = 4,
	.machine = "v7l",
	.other_machine = "armv7l",
	.package = "libc6-armhf-cross",
	.others = others,
	.hwcap = 0x1fb0d6,
	.frame_most = ARM_FRAME_MOST,
	.frame_mask = ARM_FRAME_MASK,
	.elf_machine = EM_ARM,
	.elf_class = ELFCLASS32,
	.elf_name = "ARM",
	.user_end = UINT64_C(0xbf000000),
	.pie_base = UINT64_C(0x400000),
	.mmap_gap = UINT64_C(0x8000000),
	.pie_bits = 8,
	.mmap_bits = 8,
	.stack_bits = 11,
	.heap_bits = 13,
	.arg_regs = { ARM_R0, ARM_R0 + 1, ARM_R0 + 2, ARM_R0 + 3, ARM_R0 + 4,
		      ARM_R0 + 5 },
	.clone_child_tid = 4,
	.clone_tls = 3,
	.numbers = { .low = numbers, .low_count = NUMBERS, .shapes = shapes,
		     .others = own_numbers,
		     .other_count = sizeof(own_numbers) /
				    sizeof(own_numbers[0]) },
	.bad_call = arm_bad_call,
	.signal_code = (const uint8_t *)arm_signal_code,
	.signal_code_size = sizeof(arm_signal_code),
	.helpers = ARM_HELPERS,
	.helpers_name = "[vectors]",
	.fill_helpers = arm_fill_helpers,
	.layouts = arm_layouts,
	.open_flags = arm_open_flags,
	.start = start,
	.begin = begin,
	.frame_push = arm_frame_push,
	.frame_pop = arm_frame_pop,
	.fault = arm_fault,
	.print_cpuinfo = arm_print_cpuinfo,
};
