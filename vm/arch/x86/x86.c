/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86.c - the x86-64 processor that the guest sees
 *
 * A Westmere without what the engine lacks: x86-64-v2.
 *
 * Source: Intel 64 SDM volume 2, CPUID; volume 3, 2.5 (control registers);
 * the System V ABI for the state at process start.
 */
#include "vm/processor/plan.h"

#include <assert.h>
#include <string.h>

#include "formats/error.h"
#include "vm/engine/build/exact.h"

/* The engine's name of each register of the table, in its order. */
static const int engine_regs[X86_REG_COUNT] = {
	[X86_RAX] = UC_X86_REG_RAX, [X86_RBX] = UC_X86_REG_RBX,
	[X86_RCX] = UC_X86_REG_RCX, [X86_RDX] = UC_X86_REG_RDX,
	[X86_RSI] = UC_X86_REG_RSI, [X86_RDI] = UC_X86_REG_RDI,
	[X86_RBP] = UC_X86_REG_RBP, [X86_RSP] = UC_X86_REG_RSP,
	[X86_R8] = UC_X86_REG_R8, [X86_R9] = UC_X86_REG_R9,
	[X86_R10] = UC_X86_REG_R10, [X86_R11] = UC_X86_REG_R11,
	[X86_R12] = UC_X86_REG_R12, [X86_R13] = UC_X86_REG_R13,
	[X86_R14] = UC_X86_REG_R14, [X86_R15] = UC_X86_REG_R15,
	[X86_RIP] = UC_X86_REG_RIP, [X86_RFLAGS] = UC_X86_REG_RFLAGS,
	[X86_FS_BASE] = UC_X86_REG_FS_BASE, [X86_GS_BASE] = UC_X86_REG_GS_BASE,
	[X86_FPCW] = UC_X86_REG_FPCW, [X86_FPSW] = UC_X86_REG_FPSW,
	[X86_FPTAG] = UC_X86_REG_FPTAG, [X86_MXCSR] = UC_X86_REG_MXCSR,
	[X86_ST0] = UC_X86_REG_ST0, UC_X86_REG_ST1, UC_X86_REG_ST2,
	UC_X86_REG_ST3, UC_X86_REG_ST4, UC_X86_REG_ST5, UC_X86_REG_ST6,
	UC_X86_REG_ST7,
	[X86_XMM0] = UC_X86_REG_XMM0, UC_X86_REG_XMM1, UC_X86_REG_XMM2,
	UC_X86_REG_XMM3, UC_X86_REG_XMM4, UC_X86_REG_XMM5, UC_X86_REG_XMM6,
	UC_X86_REG_XMM7, UC_X86_REG_XMM8, UC_X86_REG_XMM9, UC_X86_REG_XMM10,
	UC_X86_REG_XMM11, UC_X86_REG_XMM12, UC_X86_REG_XMM13,
	UC_X86_REG_XMM14, UC_X86_REG_XMM15,
};

/*
 * Selectors are what Linux gives a 64-bit program; the engine, which has no
 * descriptor table to load them from, is not asked.
 */
static uint64_t selector(unsigned reg)
{
	switch (reg) {
	case X86_CS:
		return X86_USER_CS;
	case X86_SS:
		return X86_USER_DS;
	default:
		return 0;
	}
}

static bool is_selector(unsigned reg)
{
	return X86_CS <= reg && reg <= X86_GS;
}

/* What a program cannot clear: interrupts are on, bit 1 is always set. */
#define RFLAGS_FIXED UINT64_C(0x202)

void x86_mend_flags(struct vm *vm)
{
	uint64_t flags = vm_reg(vm, X86_RFLAGS);

	if (flags & ~(X86_FLAGS_OWN | RFLAGS_FIXED))
		vm_set_reg(vm, X86_RFLAGS,
			   flags & (X86_FLAGS_OWN | RFLAGS_FIXED));
}

static void read_reg(struct vm *vm, unsigned reg, uint8_t bytes[16])
{
	memset(bytes, 0, 16);
	uc_reg_read(vm->uc, engine_regs[reg], bytes);
}

uint64_t vm_reg(struct vm *vm, unsigned reg)
{
	uint8_t bytes[16];
	uint64_t value;

	if (is_selector(reg))
		return selector(reg);
	if (reg == X86_MXCSR)
		return x86_mxcsr(vm);
	if (reg == X86_FPSW)
		return x86_status(vm);
	read_reg(vm, reg, bytes);
	memcpy(&value, bytes, sizeof(value));
	return reg == X86_RFLAGS ? value | RFLAGS_FIXED : value;
}

void vm_set_reg(struct vm *vm, unsigned reg, uint64_t value)
{
	if (is_selector(reg))
		return;
	if (reg == X86_MXCSR)
		x86_set_mxcsr(vm, (uint32_t)value);
	else if (reg == X86_FPSW)
		x86_set_status(vm, (uint16_t)value);
	else
		uc_reg_write(vm->uc, engine_regs[reg], &value);
}

void vm_registers(struct vm *vm, struct reg_file *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned reg = 0; reg < vm->regs->count; reg++) {
		const struct reg_info *info = &vm->regs->regs[reg];
		uint8_t bytes[16];

		if (info->size <= 8) {
			reg_set(vm->regs, out, reg, vm_reg(vm, reg));
			continue;
		}
		read_reg(vm, reg, bytes);
		memcpy(out->bytes + info->offset, bytes, info->size);
	}
}

/* The table has the x87 status word, with the stack's top, before the stack. */
void vm_set_registers(struct vm *vm, const struct reg_file *regs)
{
	for (unsigned reg = 0; reg < vm->regs->count; reg++) {
		const struct reg_info *info = &vm->regs->regs[reg];
		uint8_t bytes[16] = { 0 };

		if (is_selector(reg) || reg == X86_FPTAG || reg == X86_MXCSR)
			continue;
		memcpy(bytes, regs->bytes + info->offset, info->size);
		uc_reg_write(vm->uc, engine_regs[reg], bytes);
	}
	/* Last: the engine marks a stack register in use when it is written. */
	vm_set_reg(vm, X86_FPTAG, reg_get(vm->regs, regs, X86_FPTAG));
	vm_set_reg(vm, X86_FPSW, reg_get(vm->regs, regs, X86_FPSW));
	vm_set_reg(vm, X86_MXCSR, reg_get(vm->regs, regs, X86_MXCSR));
	if (trap_unmasks(x86_mxcsr(vm), (uint16_t)vm_reg(vm, X86_FPCW)))
		float_watch_math(vm);
	vm->counter->current = 0;
}

int x86_start(struct vm *vm, struct failure *why)
{
	uint64_t cr4 = 0;
	uint32_t mxcsr = 0x1f80;
	uc_err err;

	vm_set_reg(vm, X86_FPCW, 0x37f);
	vm_set_reg(vm, X86_FPTAG, 0xffff);
	uc_reg_write(vm->uc, UC_X86_REG_MXCSR, &mxcsr);
	err = uc_reg_read(vm->uc, UC_X86_REG_CR4, &cr4);
	cr4 |= 0x600;		/* OSFXSR, OSXMMEXCPT */
	if (!err)
		err = uc_reg_write(vm->uc, UC_X86_REG_CR4, &cr4);
	if (!err)
		err = uc_context_alloc(vm->uc, &vm->pristine);
	if (!err)
		err = uc_context_save(vm->uc, vm->pristine);
	if (err)
		return failed(why, ERR_SYSTEM, "cannot set up the processor: %s",
			      uc_strerror(err));
	return x86_find_state(vm, why);
}

void x86_exception_taken(struct vm *vm)
{
	struct reg_file regs;

	vm_registers(vm, &regs);
	uc_context_restore(vm->uc, vm->pristine);
	vm_set_registers(vm, &regs);
	vm->generation = 0;
}

/* ------- instructions whose result is captured ------- */

struct cpuid {
	uint32_t leaf;
	struct vm_cpuid result;
};

/* A Westmere; leaf 7 and above 0xb say that there is nothing. */
static const struct cpuid leaves[] = {
	{ 0x0, { 0xb, 0x756e6547, 0x6c65746e, 0x49656e69 } },
	{ 0x1, { 0x206c1, 0x800, 0x82982203, 0x078bfbff } },
	{ 0x2, { 1, 0, 0x4d, 0x2c307d } },
	{ 0x80000000, { 0x80000008, 0, 0, 0 } },
	{ 0x80000001, { 0x206c1, 0, 1, 0x20100800 } },
	{ 0x80000002, { 0x72706320, 0x76206365, 0x75747269, 0x70206c61 } },
	{ 0x80000003, { 0x65636f72, 0x726f7373, 0, 0 } },
	{ 0x80000006, { 0, 0x42004200, 0x02008140, 0 } },
	{ 0x80000008, { 0x3028, 0, 0, 0 } },
};

/* Deterministic cache parameters: L1d, L1i, L2, L3. */
static const struct cpuid caches[] = {
	{ 0, { 0x121, 0x1c0003f, 0x3f, 1 } },
	{ 1, { 0x122, 0x1c0003f, 0x3f, 1 } },
	{ 2, { 0x143, 0x1c0003f, 0x1ff, 1 } },
	{ 3, { 0x163, 0x3c0003f, 0x3fff, 6 } },
};

struct vm_cpuid vm_cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct vm_cpuid none = { 0 };

	if (leaf == 4)
		return subleaf < 4 ? caches[subleaf].result : none;
	for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++)
		if (leaves[i].leaf == leaf)
			return leaves[i].result;
	return none;
}

static uint64_t timestamp(void)
{
	return __builtin_ia32_rdtsc();
}

void vm_emulate(struct vm *vm, const struct vm_stop *stop)
{
	assert(stop->kind == VM_STOP_VALUE);
	if (stop->value == VALUE_TSC) {
		uint64_t now = timestamp();

		vm_set_reg(vm, X86_RAX, (uint32_t)now);
		vm_set_reg(vm, X86_RDX, now >> 32);
	} else if (stop->value == VALUE_HOST) {
		x86_on_host(vm, stop);
	} else {
		struct vm_cpuid id =
			vm_cpuid((uint32_t)vm_reg(vm, X86_RAX),
				 (uint32_t)vm_reg(vm, X86_RCX));

		vm_set_reg(vm, X86_RAX, id.eax);
		vm_set_reg(vm, X86_RBX, id.ebx);
		vm_set_reg(vm, X86_RCX, id.ecx);
		vm_set_reg(vm, X86_RDX, id.edx);
	}
	vm_skip(vm, stop);
}

void vm_skip(struct vm *vm, const struct vm_stop *stop)
{
	vm_set_reg(vm, X86_RIP, stop->pc + stop->size);
	vm->steps++;
	vm->counter->current = 0;
}
