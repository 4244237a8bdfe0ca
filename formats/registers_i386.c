/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registers_i386.c - the register table of i386; see registers.h */
#include "formats/registers.h"
#include "formats/tables_i386.h"

/* The registers follow each other in order of their numbers, unpadded. */
#define OF_KIND(n, name, kind) [n] = { name, 4 * (n), 4, kind, NULL }
#define GENERAL(n, name) OF_KIND(n, name, REG_NUMBER)
#define SELECTOR(n, name) \
	[n] = { name, 40 + 2 * ((n) - I386_CS), 2, REG_NUMBER, NULL }
#define CONTROL(n, name, offset, size) \
	[n] = { name, offset, size, REG_CONTROL, NULL }
#define ST(n) [I386_ST0 + n] = { "st" #n, 70 + 10 * n, 10, REG_FLOAT, NULL }
#define XMM(n) \
	[I386_XMM0 + n] = { "xmm" #n, 150 + 16 * n, 16, REG_VECTOR, NULL }
#define TLS(n) [I386_TLS0 + n] = { "tls" #n, 286 + 8 * n, 8, REG_CONTROL, NULL }

static const struct reg_info regs[I386_REG_COUNT] = {
	GENERAL(I386_EAX, "eax"), GENERAL(I386_EBX, "ebx"),
	GENERAL(I386_ECX, "ecx"), GENERAL(I386_EDX, "edx"),
	GENERAL(I386_ESI, "esi"), GENERAL(I386_EDI, "edi"),
	OF_KIND(I386_EBP, "ebp", REG_ADDRESS),
	OF_KIND(I386_ESP, "esp", REG_ADDRESS),
	OF_KIND(I386_EIP, "eip", REG_CODE),
	[I386_EFLAGS] = { "eflags", 36, 4, REG_FLAGS, reg_x86_flags },
	SELECTOR(I386_CS, "cs"), SELECTOR(I386_SS, "ss"),
	SELECTOR(I386_DS, "ds"), SELECTOR(I386_ES, "es"),
	SELECTOR(I386_FS, "fs"), SELECTOR(I386_GS, "gs"),
	[I386_FS_BASE] = { "fs_base", 52, 4, REG_NUMBER, NULL },
	[I386_GS_BASE] = { "gs_base", 56, 4, REG_NUMBER, NULL },
	CONTROL(I386_FPCW, "fctrl", 60, 2), CONTROL(I386_FPSW, "fstat", 62, 2),
	CONTROL(I386_FPTAG, "ftag", 64, 2),
	[I386_MXCSR] = { "mxcsr", 66, 4, REG_CONTROL_FLAGS, reg_x86_mxcsr },
	ST(0), ST(1), ST(2), ST(3), ST(4), ST(5), ST(6), ST(7),
	XMM(0), XMM(1), XMM(2), XMM(3), XMM(4), XMM(5), XMM(6), XMM(7),
	CONTROL(I386_FIP, "fioff", 278, 4), CONTROL(I386_FDP, "fooff", 282, 4),
	TLS(0), TLS(1), TLS(2),
};

/* ebx, esp, ebp, esi, edi.  Source: System V ABI, Intel386 supplement, 2.2. */
#define DWARF_KEPT UINT64_C(0xf8)

/* Unwinding knows the first ones only. */
#define DWARF_UNWOUND 8

/* Numbers that no register has here lead to the program counter. */
static const uint8_t dwarf_all[] = {
	I386_EAX, I386_ECX, I386_EDX, I386_EBX, I386_ESP, I386_EBP, I386_ESI,
	I386_EDI, I386_EIP, I386_EFLAGS, I386_EIP,
	I386_ST0, I386_ST0 + 1, I386_ST0 + 2, I386_ST0 + 3, I386_ST0 + 4,
	I386_ST0 + 5, I386_ST0 + 6, I386_ST7, I386_EIP, I386_EIP,
	I386_XMM0, I386_XMM0 + 1, I386_XMM0 + 2, I386_XMM0 + 3, I386_XMM0 + 4,
	I386_XMM0 + 5, I386_XMM0 + 6, I386_XMM7,
};

static const struct reg_part parts[] = {
	{ "ax", I386_EAX, 2 }, { "bx", I386_EBX, 2 }, { "cx", I386_ECX, 2 },
	{ "dx", I386_EDX, 2 }, { "si", I386_ESI, 2 }, { "di", I386_EDI, 2 },
	{ "al", I386_EAX, 1 }, { "bl", I386_EBX, 1 }, { "cl", I386_ECX, 1 },
	{ "dl", I386_EDX, 1 },
	{ "ah", I386_EAX, 1, 1 }, { "bh", I386_EBX, 1, 1 },
	{ "ch", I386_ECX, 1, 1 }, { "dh", I386_EDX, 1, 1 },
	{ NULL, 0, 0, 0 }
};

/* Where MMX instructions leave them: they make st0 the first of x87's. */
static const struct reg_series series[] = {
	{ "mm", I386_ST0, 8, 8, 10 },
	{ NULL, 0, 0, 0, 0 }
};

const struct reg_table reg_table_i386 = {
	.arch = ARCH_I386,
	.name = "i386",
	.regs = regs,
	.count = I386_REG_COUNT,
	.bytes = 310,
	.pc = I386_EIP,
	.sp = I386_ESP,
	.parts = parts,
	.series = series,
	.result = I386_EAX,
	.call_number = I386_EAX,
	.arg_count = 0,		/* all are on the stack */
	.arg_stack = 4,
	.call_args = { I386_EBX, I386_ECX, I386_EDX, I386_ESI, I386_EDI,
		       I386_EBP },
	.results = { I386_EAX, I386_EDX },
	.vector_results = { I386_XMM0, I386_XMM0 + 1 },
	.float_result = I386_ST0,
	.call_size = 2,
	.handler_info = I386_EDX,
	.tls = I386_GS_BASE,
	.dwarf = dwarf_all,
	.dwarf_count = DWARF_UNWOUND,
	.dwarf_kept = DWARF_KEPT,
	.dwarf_all = dwarf_all,
	.dwarf_all_count = sizeof(dwarf_all),
};
