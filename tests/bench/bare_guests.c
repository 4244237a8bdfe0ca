/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bare_guests.c - the architectures of bare.c's programs */
#include <asm/prctl.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "bare.h"

#define NEVER_WIDE UINT64_C(0x7ffffffffff000)
#define NEVER_NARROW UINT64_C(0xfffff000)

/* ------- x86-64 ------- */

static void set_up_floats(void)
{
	uint64_t cr4 = 0;
	uint32_t mxcsr = 0x1f80;
	uint16_t control = 0x37f, tags = 0xffff;

	check(uc_reg_read(uc, UC_X86_REG_CR4, &cr4));
	cr4 |= 0x600; /* OSFXSR, OSXMMEXCPT */
	check(uc_reg_write(uc, UC_X86_REG_CR4, &cr4));
	check(uc_reg_write(uc, UC_X86_REG_MXCSR, &mxcsr));
	check(uc_reg_write(uc, UC_X86_REG_FPCW, &control));
	check(uc_reg_write(uc, UC_X86_REG_FPTAG, &tags));
}

static int64_t set_fs(const uint64_t *args)
{
	if (args[0] != ARCH_SET_FS)
		return -EINVAL;
	check(uc_reg_write(uc, UC_X86_REG_FS_BASE, &args[1]));
	return 0;
}

/* ------- i386 ------- */

/* Where its descriptors are, and which they are. */
#define DESCRIPTORS UINT64_C(0x10000)
enum { CODE_ENTRY = 1, DATA_ENTRY = 2, THREAD_ENTRY = 12, ENTRIES = 16 };

enum { CODE_OF_KERNEL = 0x9b, DATA_OF_KERNEL = 0x93, DATA = 0xf3 };

/* A segment of 32 bits from `base` on. */
static void set_descriptor(unsigned entry, uint64_t base, uint64_t access)
{
	uint64_t descriptor = UINT64_C(0x00df00000000ffff) | access << 40 |
			      (base & 0xffffff) << 16 | base >> 24 << 56;

	memcpy(host(DESCRIPTORS + entry * 8), &descriptor, 8);
}

static void set_segment(int reg, uint16_t entry)
{
	uint16_t selector = (uint16_t)(entry * 8);

	check(uc_reg_write(uc, reg, &selector));
}

/* It stays privileged. */
static void set_up_i386(void)
{
	uc_x86_mmr table = { .base = DESCRIPTORS, .limit = ENTRIES * 8 - 1 };

	map_zeros(DESCRIPTORS, PAGE, PROT_READ | PROT_WRITE);
	set_descriptor(CODE_ENTRY, 0, CODE_OF_KERNEL);
	set_descriptor(DATA_ENTRY, 0, DATA_OF_KERNEL);
	check(uc_reg_write(uc, UC_X86_REG_GDTR, &table));
	set_segment(UC_X86_REG_CS, CODE_ENTRY);
	set_segment(UC_X86_REG_SS, DATA_ENTRY);
	set_segment(UC_X86_REG_DS, DATA_ENTRY);
	set_segment(UC_X86_REG_ES, DATA_ENTRY);
	set_up_floats();
}

/* Of a `struct user_desc`: its entry, and where the segment begins. */
static int64_t set_thread_area(const uint64_t *args)
{
	uint32_t *asked = host(args[0]);

	asked[0] = THREAD_ENTRY;
	set_descriptor(THREAD_ENTRY, asked[1], DATA);
	return 0;
}

/* ------- AArch64 and ARM ------- */

static void set_system_bits(uint32_t op2, uint64_t bits)
{
	uc_arm64_cp_reg reg = { .op0 = 3, .crn = 1, .op2 = op2 };

	check(uc_reg_read(uc, UC_ARM64_REG_CP_REG, &reg));
	reg.val |= bits;
	check(uc_reg_write(uc, UC_ARM64_REG_CP_REG, &reg));
}

static void set_up_arm64(void)
{
	uint32_t user = 0;

	check(uc_reg_write(uc, UC_ARM64_REG_PSTATE, &user));
	set_system_bits(0, 0x405c000); /* SCTLR_EL1: UCI, UCT, DZE, ... */
	set_system_bits(2, 3u << 20);  /* CPACR_EL1: FPEN */
}

static void set_up_arm(void)
{
	/* CPACR, FPEXC.EN, user mode. */
	uc_arm_cp_reg access = {
		.cp = 15, .crn = 1, .opc2 = 2, .val = 0xfu << 20
	};
	uint32_t enabled = UINT32_C(1) << 30, user = 0x10;

	check(uc_reg_write(uc, UC_ARM_REG_CP_REG, &access));
	check(uc_reg_write(uc, UC_ARM_REG_FPEXC, &enabled));
	check(uc_reg_write(uc, UC_ARM_REG_CPSR, &user));
}

static int64_t set_tpidruro(const uint64_t *args)
{
	uc_arm_cp_reg thread = {
		.cp = 15, .crn = 13, .opc2 = 3, .val = (uint32_t)args[0]
	};

	check(uc_reg_write(uc, UC_ARM_REG_CP_REG, &thread));
	return 0;
}

/* ------- all ------- */

static const struct guest guests[] = {
	{
		.number = X86_64,
		.elf_class = ELFCLASS64,
		.machine = EM_X86_64,
		.arch = UC_ARCH_X86,
		.mode = UC_MODE_64,
		.model = UC_CPU_X86_WESTMERE,
		.user_end = UINT64_C(0x7ffffffff000),
		.pie_base = UINT64_C(0x555555554000),
		.hwcap = 0x078bfbff,
		.never = NEVER_WIDE,
		.pc = UC_X86_REG_RIP,
		.sp = UC_X86_REG_RSP,
		.call = UC_X86_REG_RAX,
		.args = { UC_X86_REG_RDI, UC_X86_REG_RSI, UC_X86_REG_RDX,
			  UC_X86_REG_R10, UC_X86_REG_R8, UC_X86_REG_R9 },
		.result = UC_X86_REG_RAX,
		.set_up = set_up_floats,
		.set_thread_pointer = set_fs,
	},
	{
		.number = ARM64,
		.elf_class = ELFCLASS64,
		.machine = EM_AARCH64,
		.arch = UC_ARCH_ARM64,
		.mode = UC_MODE_ARM,
		.model = UC_CPU_ARM64_A72,
		.user_end = UINT64_C(0x1000000000000),
		.pie_base = UINT64_C(0xaaaaaaaaa000),
		.hwcap = 0xff,
		.never = NEVER_WIDE,
		.pc = UC_ARM64_REG_PC,
		.sp = UC_ARM64_REG_SP,
		.call = UC_ARM64_REG_X8,
		.args = { UC_ARM64_REG_X0, UC_ARM64_REG_X1, UC_ARM64_REG_X2,
			  UC_ARM64_REG_X3, UC_ARM64_REG_X4, UC_ARM64_REG_X5 },
		.result = UC_ARM64_REG_X0,
		.exception = 2,
		.set_up = set_up_arm64,
	},
	{
		.number = ARM,
		.elf_class = ELFCLASS32,
		.machine = EM_ARM,
		.arch = UC_ARCH_ARM,
		.mode = UC_MODE_ARM,
		.model = UC_CPU_ARM_CORTEX_A15,
		.user_end = UINT64_C(0xffff0000),
		.pie_base = UINT64_C(0x400000),
		.hwcap = 0x1fb0d6,
		.never = NEVER_NARROW,
		.pc = UC_ARM_REG_PC,
		.sp = UC_ARM_REG_SP,
		.call = UC_ARM_REG_R7,
		.args = { UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2,
			  UC_ARM_REG_R3, UC_ARM_REG_R4, UC_ARM_REG_R5 },
		.result = UC_ARM_REG_R0,
		.exception = 2,
		.set_up = set_up_arm,
		.set_thread_pointer = set_tpidruro,
	},
	{
		.number = I386,
		.elf_class = ELFCLASS32,
		.machine = EM_386,
		.arch = UC_ARCH_X86,
		.mode = UC_MODE_32,
		.model = UC_CPU_X86_WESTMERE,
		.user_end = UINT64_C(0xffffe000),
		.pie_base = UINT64_C(0x56555000),
		.hwcap = 0x078bfbff,
		.never = NEVER_NARROW,
		.pc = UC_X86_REG_EIP,
		.sp = UC_X86_REG_ESP,
		.call = UC_X86_REG_EAX,
		.args = { UC_X86_REG_EBX, UC_X86_REG_ECX, UC_X86_REG_EDX,
			  UC_X86_REG_ESI, UC_X86_REG_EDI, UC_X86_REG_EBP },
		.result = UC_X86_REG_EAX,
		.exception = 0x80,
		.set_up = set_up_i386,
		.set_thread_pointer = set_thread_area,
	},
};

const struct guest *guest_of(unsigned elf_class, unsigned machine)
{
	for (unsigned i = 0; i < sizeof(guests) / sizeof(*guests); i++)
		if (guests[i].elf_class == elf_class &&
		    guests[i].machine == machine)
			return &guests[i];
	return NULL;
}
