/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registers_arm.c - the register table of 32-bit ARM; see registers.h */
#include "formats/registers.h"
#include "formats/tables_arm.h"

/* The registers follow each other in order of their numbers, unpadded. */
#define WORD(n, name, kind) [n] = { name, 4 * (n), 4, kind, NULL }
#define R(n) WORD(ARM_R0 + n, "r" #n, REG_NUMBER)
#define D(n) [ARM_D0 + n] = { "d" #n, 80 + 8 * n, 8, REG_VECTOR, NULL }
#define LATER(n, name, place) [n] = { name, place, 8, REG_CONTROL, NULL }

/* From the lowest bit on; IT has two parts. */
static const char *const flags[] = {
	"", "", "", "", "", "T", "", "", "", "E",
	"IT2", "IT3", "IT4", "IT5", "IT6", "IT7", "GE0", "GE1", "GE2", "GE3",
	"", "", "", "", "", "IT0", "IT1", "Q", "V", "C", "Z", "N", NULL
};

static const struct reg_info regs[ARM_REG_COUNT] = {
	R(0), R(1), R(2), R(3), R(4), R(5), R(6), R(7), R(8), R(9), R(10),
	R(11), R(12),
	WORD(ARM_SP, "sp", REG_ADDRESS), WORD(ARM_LR, "lr", REG_CODE),
	WORD(ARM_PC, "pc", REG_CODE),
	[ARM_CPSR] = { "cpsr", 64, 4, REG_FLAGS, flags },
	WORD(ARM_TPIDRURO, "tpidruro", REG_NUMBER),
	WORD(ARM_TPIDRURW, "tpidrurw", REG_CONTROL),
	WORD(ARM_FPSCR, "fpscr", REG_CONTROL),
	D(0), D(1), D(2), D(3), D(4), D(5), D(6), D(7), D(8), D(9), D(10),
	D(11), D(12), D(13), D(14), D(15), D(16), D(17), D(18), D(19), D(20),
	D(21), D(22), D(23), D(24), D(25), D(26), D(27), D(28), D(29), D(30),
	D(31),
	LATER(ARM_MONITOR, "monitor", 336),
	LATER(ARM_MARKED, "marked", 344),
};

/* r4 to r11, and sp. */
#define DWARF_KEPT UINT64_C(0x2ff0)

/* Unwinding knows the first ones only: r0 to r15. */
#define DWARF_UNWOUND 16

/* Numbers that no register has here lead to the program counter. */
#define NONE_8 ARM_PC, ARM_PC, ARM_PC, ARM_PC, ARM_PC, ARM_PC, ARM_PC, ARM_PC
#define NONE_48 NONE_8, NONE_8, NONE_8, NONE_8, NONE_8, NONE_8
#define NONE_160 NONE_48, NONE_48, NONE_48, NONE_8, NONE_8

/* Single registers are halves of double ones. */
#define HALVES 64
#define TWO(n) ARM_D0 + (n), ARM_D0 + (n)

static const uint8_t dwarf_all[] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ARM_R11, ARM_R12, ARM_SP, ARM_LR,
	ARM_PC, NONE_48,
	TWO(0), TWO(1), TWO(2), TWO(3), TWO(4), TWO(5), TWO(6), TWO(7), TWO(8),
	TWO(9), TWO(10), TWO(11), TWO(12), TWO(13), TWO(14), TWO(15),
	NONE_160,
	ARM_D0, ARM_D0 + 1, ARM_D0 + 2, ARM_D0 + 3, ARM_D0 + 4, ARM_D0 + 5,
	ARM_D0 + 6, ARM_D0 + 7, ARM_D0 + 8, ARM_D0 + 9, ARM_D0 + 10,
	ARM_D0 + 11, ARM_D0 + 12, ARM_D0 + 13, ARM_D0 + 14, ARM_D0 + 15,
	ARM_D0 + 16, ARM_D0 + 17, ARM_D0 + 18, ARM_D0 + 19, ARM_D0 + 20,
	ARM_D0 + 21, ARM_D0 + 22, ARM_D0 + 23, ARM_D0 + 24, ARM_D0 + 25,
	ARM_D0 + 26, ARM_D0 + 27, ARM_D0 + 28, ARM_D0 + 29, ARM_D0 + 30,
	ARM_D31,
};

static const struct reg_part parts[] = {
	{ "ip", ARM_R12, 4 }, { "r13", ARM_SP, 4 }, { "r14", ARM_LR, 4 },
	{ "r15", ARM_PC, 4 }, { "apsr", ARM_CPSR, 4 },
	{ NULL, 0, 0, 0 }
};

static const struct reg_series series[] = {
	{ "s", ARM_D0, 32, 4, 4 }, { "q", ARM_D0, 16, 16, 16 },
	{ NULL, 0, 0, 0, 0 }
};

const struct reg_table reg_table_arm = {
	.arch = ARCH_ARM,
	.name = "arm",
	.regs = regs,
	.count = ARM_REG_COUNT,
	.bytes = 352,
	.pc = ARM_PC,
	.sp = ARM_SP,
	.code_bits = 1,
	.code_state = ARM_CPSR,
	.code_state_bits = ARM_CPSR_THUMB,
	.parts = parts,
	.series = series,
	.result = ARM_R0,
	.call_number = ARM_R7,
	.args = { 0, 1, 2, 3 },
	.arg_count = 4,
	.call_args = { 0, 1, 2, 3, 4, 5 },
	.vector_args = { ARM_D0, ARM_D0 + 1, ARM_D0 + 2, ARM_D0 + 3,
			 ARM_D0 + 4, ARM_D0 + 5, ARM_D0 + 6, ARM_D0 + 7 },
	.results = { 0, 1 },
	.vector_results = { ARM_D0, ARM_D0 + 1 },
	.float_result = ARM_D0,
	.call_size = 4,
	.handler_info = ARM_R0 + 1,
	.tls = ARM_TPIDRURO,
	.tls_head = 8,
	.dwarf = dwarf_all,
	.dwarf_count = DWARF_UNWOUND,
	.dwarf_kept = DWARF_KEPT,
	.dwarf_all = dwarf_all,
	.dwarf_all_count = sizeof(dwarf_all),
	.dwarf_halves = HALVES,
	.dwarf_half_count = 32,
};
