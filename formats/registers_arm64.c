/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registers_arm64.c - the register table of AArch64; see registers.h */
#include "formats/registers.h"
#include "formats/tables_arm64.h"

/* The registers follow each other in order of their numbers, unpadded. */
#define X(n) [ARM64_X0 + n] = { "x" #n, 8 * n, 8, REG_NUMBER, NULL }
#define WIDE(n, name, kind) [n] = { name, 8 * (n), 8, kind, NULL }
#define V(n) [ARM64_V0 + n] = { "v" #n, 288 + 16 * n, 16, REG_VECTOR, NULL }
#define LATER(n, name, place) [n] = { name, place, 8, REG_CONTROL, NULL }

/* From the lowest bit on; only the highest four are a program's. */
static const char *const flags[] = {
	"", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "",
	"", "", "", "", "", "", "", "", "", "", "", "", "V", "C", "Z", "N",
	NULL
};

/* Behind those of a program. */
#define SYSTEM_AT(n) (824 + 8 * ((n) - ARM64_REG_COUNT))
#define SYSTEM(n, name) LATER(n, name, SYSTEM_AT(n))

static const struct reg_info regs[ARM64_MACHINE_REG_COUNT] = {
	X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7), X(8), X(9), X(10),
	X(11), X(12), X(13), X(14), X(15), X(16), X(17), X(18), X(19), X(20),
	X(21), X(22), X(23), X(24), X(25), X(26), X(27), X(28),
	WIDE(ARM64_X29, "x29", REG_ADDRESS), WIDE(ARM64_X30, "x30", REG_CODE),
	WIDE(ARM64_SP, "sp", REG_ADDRESS), WIDE(ARM64_PC, "pc", REG_CODE),
	[ARM64_CPSR] = { "cpsr", 264, 8, REG_FLAGS, flags },
	WIDE(ARM64_TPIDR, "tpidr", REG_NUMBER),
	[ARM64_FPSR] = { "fpsr", 280, 4, REG_CONTROL, NULL },
	[ARM64_FPCR] = { "fpcr", 284, 4, REG_CONTROL, NULL },
	V(0), V(1), V(2), V(3), V(4), V(5), V(6), V(7), V(8), V(9), V(10),
	V(11), V(12), V(13), V(14), V(15), V(16), V(17), V(18), V(19), V(20),
	V(21), V(22), V(23), V(24), V(25), V(26), V(27), V(28), V(29), V(30),
	V(31),
	LATER(ARM64_MONITOR, "monitor", 800),
	LATER(ARM64_MARKED, "marked", 808),
	LATER(ARM64_MARKED_HIGH, "marked_high", 816),
	SYSTEM(ARM64_SP_EL0, "sp_el0"), SYSTEM(ARM64_SP_EL1, "sp_el1"),
	SYSTEM(ARM64_ELR, "elr_el1"), SYSTEM(ARM64_SPSR, "spsr_el1"),
	SYSTEM(ARM64_ESR, "esr_el1"), SYSTEM(ARM64_FAR, "far_el1"),
	SYSTEM(ARM64_VBAR, "vbar_el1"), SYSTEM(ARM64_SCTLR, "sctlr_el1"),
	SYSTEM(ARM64_ACTLR, "actlr_el1"), SYSTEM(ARM64_CPACR, "cpacr_el1"),
	SYSTEM(ARM64_TTBR0, "ttbr0_el1"), SYSTEM(ARM64_TTBR1, "ttbr1_el1"),
	SYSTEM(ARM64_TCR, "tcr_el1"), SYSTEM(ARM64_MAIR, "mair_el1"),
	SYSTEM(ARM64_AMAIR, "amair_el1"), SYSTEM(ARM64_PAR, "par_el1"),
	SYSTEM(ARM64_AFSR0, "afsr0_el1"), SYSTEM(ARM64_AFSR1, "afsr1_el1"),
	SYSTEM(ARM64_CONTEXTIDR, "contextidr_el1"),
	SYSTEM(ARM64_TPIDRRO, "tpidrro_el0"),
	SYSTEM(ARM64_TPIDR_EL1, "tpidr_el1"),
	SYSTEM(ARM64_CSSELR, "csselr_el1"), SYSTEM(ARM64_MDSCR, "mdscr_el1"),
	SYSTEM(ARM64_PMUSERENR, "pmuserenr_el0"),
	SYSTEM(ARM64_PMCR, "pmcr_el0"), SYSTEM(ARM64_PMSELR, "pmselr_el0"),
	SYSTEM(ARM64_CNTKCTL, "cntkctl_el1"),
	SYSTEM(ARM64_CNTV_CTL, "cntv_ctl_el0"),
	SYSTEM(ARM64_CNTV_CVAL, "cntv_cval_el0"),
	SYSTEM(ARM64_CNTP_CTL, "cntp_ctl_el0"),
	SYSTEM(ARM64_CNTP_CVAL, "cntp_cval_el0"),
	SYSTEM(ARM64_IDLE, "idle"),
};

/* x19 to x29, and sp. */
#define DWARF_KEPT UINT64_C(0xbff80000)

/* Unwinding knows the first ones only: x0 to x30, and sp. */
#define DWARF_UNWOUND 32

/* Numbers that no register has here lead to the program counter. */
static const uint8_t dwarf_all[] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
	20, 21, 22, 23, 24, 25, 26, 27, 28, ARM64_X29, ARM64_X30, ARM64_SP,
	ARM64_PC, ARM64_PC, ARM64_PC, ARM64_PC, ARM64_TPIDR, ARM64_PC,
	ARM64_PC, ARM64_PC, ARM64_PC, ARM64_PC, ARM64_PC, ARM64_PC, ARM64_PC,
	ARM64_PC, ARM64_PC, ARM64_PC, ARM64_PC, ARM64_PC, ARM64_PC, ARM64_PC,
	ARM64_PC, ARM64_PC, ARM64_PC, ARM64_PC, ARM64_PC, ARM64_PC, ARM64_PC,
	ARM64_PC, ARM64_PC, ARM64_PC, ARM64_PC, ARM64_PC,
	ARM64_V0, ARM64_V0 + 1, ARM64_V0 + 2, ARM64_V0 + 3, ARM64_V0 + 4,
	ARM64_V0 + 5, ARM64_V0 + 6, ARM64_V0 + 7, ARM64_V0 + 8, ARM64_V0 + 9,
	ARM64_V0 + 10, ARM64_V0 + 11, ARM64_V0 + 12, ARM64_V0 + 13,
	ARM64_V0 + 14, ARM64_V0 + 15, ARM64_V0 + 16, ARM64_V0 + 17,
	ARM64_V0 + 18, ARM64_V0 + 19, ARM64_V0 + 20, ARM64_V0 + 21,
	ARM64_V0 + 22, ARM64_V0 + 23, ARM64_V0 + 24, ARM64_V0 + 25,
	ARM64_V0 + 26, ARM64_V0 + 27, ARM64_V0 + 28, ARM64_V0 + 29,
	ARM64_V0 + 30, ARM64_V31,
};

static const struct reg_part parts[] = {
	{ "lr", ARM64_X30, 8 }, { "ip0", ARM64_X16, 8 },
	{ "ip1", ARM64_X16 + 1, 8 }, { "ip", ARM64_X16, 8 },
	{ "wsp", ARM64_SP, 4 },
	{ NULL, 0, 0, 0 }
};

static const struct reg_series series[] = {
	{ "w", ARM64_X0, 31, 4, 8 },
	{ "b", ARM64_V0, 32, 1, 16 }, { "h", ARM64_V0, 32, 2, 16 },
	{ "s", ARM64_V0, 32, 4, 16 }, { "d", ARM64_V0, 32, 8, 16 },
	{ "q", ARM64_V0, 32, 16, 16 },
	{ NULL, 0, 0, 0, 0 }
};

/* What a program's processor and a machine's have in common. */
#define COMMON								\
	.regs = regs,							\
	.pc = ARM64_PC,							\
	.sp = ARM64_SP,							\
	.parts = parts,							\
	.series = series,						\
	.result = ARM64_X0,						\
	.call_number = ARM64_X8,					\
	.args = { 0, 1, 2, 3, 4, 5, 6, 7 },				\
	.arg_count = 8,							\
	.large_by_address = true,					\
	.call_args = { 0, 1, 2, 3, 4, 5 },				\
	.vector_args = { ARM64_V0, ARM64_V0 + 1, ARM64_V0 + 2, ARM64_V0 + 3,\
			 ARM64_V0 + 4, ARM64_V0 + 5, ARM64_V0 + 6,	\
			 ARM64_V0 + 7 },				\
	.results = { 0, 1 },						\
	.vector_results = { ARM64_V0, ARM64_V0 + 1 },			\
	.float_result = ARM64_V0,					\
	.call_size = 4,							\
	.handler_info = ARM64_X0 + 1,					\
	.tls = ARM64_TPIDR,						\
	.tls_head = 16,							\
	.dwarf = dwarf_all,						\
	.dwarf_count = DWARF_UNWOUND,					\
	.dwarf_kept = DWARF_KEPT,					\
	.dwarf_all = dwarf_all,						\
	.dwarf_all_count = sizeof(dwarf_all)

const struct reg_table reg_table_arm64 = {
	.arch = ARCH_AARCH64,
	.name = "aarch64",
	.count = ARM64_REG_COUNT,
	.bytes = SYSTEM_AT(ARM64_REG_COUNT),
	COMMON
};

const struct reg_table reg_table_arm64_machine = {
	.arch = ARCH_AARCH64_MACHINE,
	.name = "aarch64-machine",
	.count = ARM64_MACHINE_REG_COUNT,
	.bytes = SYSTEM_AT(ARM64_MACHINE_REG_COUNT),
	COMMON
};
