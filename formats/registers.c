/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registers.c - the register tables; see registers.h */
#include "formats/registers.h"

#include <assert.h>

#include "formats/tables_arm.h"
#include "formats/tables_arm64.h"
#include "formats/tables_cortex_m.h"
#include "formats/tables_i386.h"

/* The registers follow each other in order of their numbers, unpadded. */
#define OF_KIND(n, name, kind) [n] = { name, 8 * (n), 8, kind, NULL }
#define GENERAL(n, name) OF_KIND(n, name, REG_NUMBER)
#define SELECTOR(n, name) \
	[n] = { name, 144 + 2 * ((n) - X86_CS), 2, REG_NUMBER, NULL }
#define CONTROL(n, name, offset, size) \
	[n] = { name, offset, size, REG_CONTROL, NULL }
#define ST(n) [X86_ST0 + n] = { "st" #n, 182 + 10 * n, 10, REG_FLOAT, NULL }
#define XMM(n) [X86_XMM0 + n] = { "xmm" #n, 262 + 16 * n, 16, REG_VECTOR, NULL }

const char *const reg_x86_flags[] = {
	"CF", "", "PF", "", "AF", "", "ZF", "SF", "TF", "IF", "DF", "OF", "",
	"", "NT", "", "RF", "VM", "AC", "VIF", "VIP", "ID", NULL
};

const char *const reg_x86_mxcsr[] = {
	"IE", "DE", "ZE", "OE", "UE", "PE", "DAZ", "IM", "DM", "ZM", "OM", "UM",
	"PM", "", "", "FZ", NULL
};

static const struct reg_info x86_64_regs[X86_REG_COUNT] = {
	GENERAL(X86_RAX, "rax"), GENERAL(X86_RBX, "rbx"),
	GENERAL(X86_RCX, "rcx"), GENERAL(X86_RDX, "rdx"),
	GENERAL(X86_RSI, "rsi"), GENERAL(X86_RDI, "rdi"),
	OF_KIND(X86_RBP, "rbp", REG_ADDRESS),
	OF_KIND(X86_RSP, "rsp", REG_ADDRESS),
	GENERAL(X86_R8, "r8"), GENERAL(X86_R9, "r9"),
	GENERAL(X86_R10, "r10"), GENERAL(X86_R11, "r11"),
	GENERAL(X86_R12, "r12"), GENERAL(X86_R13, "r13"),
	GENERAL(X86_R14, "r14"), GENERAL(X86_R15, "r15"),
	OF_KIND(X86_RIP, "rip", REG_CODE),
	[X86_RFLAGS] = { "eflags", 8 * X86_RFLAGS, 8, REG_FLAGS,
			  reg_x86_flags },
	SELECTOR(X86_CS, "cs"), SELECTOR(X86_SS, "ss"),
	SELECTOR(X86_DS, "ds"), SELECTOR(X86_ES, "es"),
	SELECTOR(X86_FS, "fs"), SELECTOR(X86_GS, "gs"),
	[X86_FS_BASE] = { "fs_base", 156, 8, REG_NUMBER, NULL },
	[X86_GS_BASE] = { "gs_base", 164, 8, REG_NUMBER, NULL },
	CONTROL(X86_FPCW, "fctrl", 172, 2),
	CONTROL(X86_FPSW, "fstat", 174, 2),
	CONTROL(X86_FPTAG, "ftag", 176, 2),
	[X86_MXCSR] = { "mxcsr", 178, 4, REG_CONTROL_FLAGS, reg_x86_mxcsr },
	ST(0), ST(1), ST(2), ST(3), ST(4), ST(5), ST(6), ST(7),
	XMM(0), XMM(1), XMM(2), XMM(3), XMM(4), XMM(5), XMM(6), XMM(7),
	XMM(8), XMM(9), XMM(10), XMM(11), XMM(12), XMM(13), XMM(14), XMM(15),
	CONTROL(X86_FIP, "fioff", 518, 8), CONTROL(X86_FDP, "fooff", 526, 8),
};

static const uint8_t x86_dwarf[] = {
	X86_RAX, X86_RDX, X86_RCX, X86_RBX, X86_RSI, X86_RDI, X86_RBP, X86_RSP,
	X86_R8, X86_R9, X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
};

/* rbx, rbp, rsp, r12 to r15.  Source: System V ABI, AMD64 supplement, 3.2.1. */
#define X86_DWARF_KEPT UINT64_C(0xf0c8)

static const uint8_t x86_dwarf_all[] = {
	X86_RAX, X86_RDX, X86_RCX, X86_RBX, X86_RSI, X86_RDI, X86_RBP, X86_RSP,
	X86_R8, X86_R9, X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
	X86_RIP,
	X86_XMM0, X86_XMM0 + 1, X86_XMM0 + 2, X86_XMM0 + 3, X86_XMM0 + 4,
	X86_XMM0 + 5, X86_XMM0 + 6, X86_XMM0 + 7, X86_XMM0 + 8, X86_XMM0 + 9,
	X86_XMM0 + 10, X86_XMM0 + 11, X86_XMM0 + 12, X86_XMM0 + 13,
	X86_XMM0 + 14, X86_XMM15,
	X86_ST0, X86_ST0 + 1, X86_ST0 + 2, X86_ST0 + 3, X86_ST0 + 4,
	X86_ST0 + 5, X86_ST0 + 6, X86_ST7,
};

static const struct reg_part x86_64_parts[] = {
	{ "eax", X86_RAX, 4 }, { "ebx", X86_RBX, 4 }, { "ecx", X86_RCX, 4 },
	{ "edx", X86_RDX, 4 }, { "esi", X86_RSI, 4 }, { "edi", X86_RDI, 4 },
	{ "ebp", X86_RBP, 4 }, { "esp", X86_RSP, 4 },
	{ "ax", X86_RAX, 2 }, { "bx", X86_RBX, 2 }, { "cx", X86_RCX, 2 },
	{ "dx", X86_RDX, 2 }, { "si", X86_RSI, 2 }, { "di", X86_RDI, 2 },
	{ "al", X86_RAX, 1 }, { "bl", X86_RBX, 1 }, { "cl", X86_RCX, 1 },
	{ "dl", X86_RDX, 1 }, { "sil", X86_RSI, 1 }, { "dil", X86_RDI, 1 },
	{ "ah", X86_RAX, 1, 1 }, { "bh", X86_RBX, 1, 1 },
	{ "ch", X86_RCX, 1, 1 }, { "dh", X86_RDX, 1, 1 },
	{ NULL, 0, 0, 0 }
};

/* Where MMX instructions leave them: they make st0 the first of x87's. */
static const struct reg_series x86_64_series[] = {
	{ "mm", X86_ST0, 8, 8, 10 },
	{ NULL, 0, 0, 0, 0 }
};

static const struct reg_table x86_64_table = {
	.arch = ARCH_X86_64,
	.name = "x86_64",
	.regs = x86_64_regs,
	.count = X86_REG_COUNT,
	.bytes = 534,
	.pc = X86_RIP,
	.sp = X86_RSP,
	.parts = x86_64_parts,
	.series = x86_64_series,
	.result = X86_RAX,
	.call_number = X86_RAX,
	.arg_count = 6,
	.arg_stack = 8,
	.args = { X86_RDI, X86_RSI, X86_RDX, X86_RCX, X86_R8, X86_R9 },
	.call_args = { X86_RDI, X86_RSI, X86_RDX, X86_R10, X86_R8, X86_R9 },
	.vector_args = { X86_XMM0, X86_XMM0 + 1, X86_XMM0 + 2, X86_XMM0 + 3,
			 X86_XMM0 + 4, X86_XMM0 + 5, X86_XMM0 + 6,
			 X86_XMM0 + 7 },
	.results = { X86_RAX, X86_RDX },
	.vector_results = { X86_XMM0, X86_XMM0 + 1 },
	.float_result = X86_ST0,
	.call_size = 2,
	.handler_info = X86_RSI,
	.tls = X86_FS_BASE,
	.dwarf = x86_dwarf,
	.dwarf_count = sizeof(x86_dwarf),
	.dwarf_kept = X86_DWARF_KEPT,
	.dwarf_all = x86_dwarf_all,
	.dwarf_all_count = sizeof(x86_dwarf_all),
};

const struct reg_table *reg_table(unsigned arch)
{
	switch (arch) {
	case ARCH_X86_64:
		return &x86_64_table;
	case ARCH_AARCH64:
		return &reg_table_arm64;
	case ARCH_I386:
		return &reg_table_i386;
	case ARCH_ARM:
		return &reg_table_arm;
	case ARCH_AARCH64_MACHINE:
		return &reg_table_arm64_machine;
	case ARCH_CORTEX_M:
		return &reg_table_cortex_m;
	default:
		return NULL;
	}
}

uint64_t reg_get(const struct reg_table *table, const struct reg_file *file,
		 unsigned reg)
{
	const struct reg_info *info = &table->regs[reg];
	uint64_t value = 0;

	assert(reg < table->count && info->size <= 8);
	for (unsigned i = info->size; i-- > 0;)
		value = value << 8 | file->bytes[info->offset + i];
	return value;
}

void reg_set(const struct reg_table *table, struct reg_file *file,
	     unsigned reg, uint64_t value)
{
	const struct reg_info *info = &table->regs[reg];

	assert(reg < table->count && info->size <= 8);
	for (unsigned i = 0; i < info->size; i++)
		file->bytes[info->offset + i] = (uint8_t)(value >> 8 * i);
}
