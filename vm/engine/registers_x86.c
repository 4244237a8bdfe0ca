/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registers_x86.c - x86-64 and i386: the engine's names of registers, and the
 * start
 *
 * A program of i386 runs as on a kernel of 64 bits: in a code segment of 32 bits
 * of a processor in long mode.  So the engine's processor is the same, and its
 * registers are numbered as those of x86-64.
 *
 * Source: Intel 64 SDM volume 3, 2.5 (control registers); the System V ABI for
 * the state at process start.
 */
#include "vm/engine/engine_internal.h"

/* In the order of the table. */
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
	[X86_FIP] = UC_X86_REG_FIP, [X86_FDP] = UC_X86_REG_FDP,
};

#define MXCSR_START 0x1f80u
#define CONTROL_START 0x37fu
#define TAGS_EMPTY 0xffffu
#define CR4_SSE 0x600u		/* OSFXSR, OSXMMEXCPT */

static uc_err start(struct engine *engine)
{
	const uint64_t control = CONTROL_START, tags = TAGS_EMPTY;
	const uint32_t mxcsr = MXCSR_START;
	uint64_t cr4 = 0;
	uc_err err;

	engine_write(engine, X86_FPCW, &control);
	engine_write(engine, X86_FPTAG, &tags);
	engine_write(engine, X86_MXCSR, &mxcsr);
	err = uc_reg_read(engine->uc, UC_X86_REG_CR4, &cr4);
	cr4 |= CR4_SSE;
	return err ? err : uc_reg_write(engine->uc, UC_X86_REG_CR4, &cr4);
}

const struct engine_kind engine_kind_x86 = {
	.arch = ARCH_X86_64,
	.uc_arch = UC_ARCH_X86,
	.uc_mode = UC_MODE_64,
	.model = UC_CPU_X86_WESTMERE,
	.regs = engine_regs,
	.never = ENGINE_NEVER,
	.syscall_insn = UC_X86_INS_SYSCALL,
	.generator = &generator_x86,
	.start = start,
	.find = layout_find_x86,
};

#define EXCEPTION_CALL 0x80	/* INT 0x80 */

const struct engine_kind engine_kind_i386 = {
	.arch = ARCH_I386,
	.uc_arch = UC_ARCH_X86,
	.uc_mode = UC_MODE_64,
	.model = UC_CPU_X86_WESTMERE,
	.regs = engine_regs,
	.never = ENGINE_NEVER,
	.syscall_exception = EXCEPTION_CALL,
	.generator = &generator_x86,
	.start = start,
	.find = layout_find_i386,
};

const struct engine_x86 *engine_x86(const struct engine *engine)
{
	return &engine->x86;
}
