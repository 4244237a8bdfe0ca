/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registers_cortex_m.c - the register table of ARMv7-M; see registers.h */
#include "formats/registers.h"
#include "formats/tables_cortex_m.h"

/* The registers follow each other in order of their numbers, unpadded. */
#define WORD(n, name, kind) [n] = { name, 4 * (n), 4, kind, NULL }
#define R(n) WORD(CM_R0 + n, "r" #n, REG_NUMBER)
#define CONTROL(n, name) WORD(n, name, REG_CONTROL)
#define WIDE_AT(n) (4 * CM_D0 + 8 * ((n) - CM_D0))
#define WIDE(n, name, kind) [n] = { name, WIDE_AT(n), 8, kind, NULL }
#define D(n) WIDE(CM_D0 + n, "d" #n, REG_VECTOR)
#define PRIORITIES(n)                                                          \
	WIDE(CM_PRIORITIES + n, "priorities" #n, REG_CONTROL)

/* From the lowest bit on; IT has two parts. */
static const char *const flags[] = {
	"", "", "", "", "", "", "", "", "", "",
	"IT2", "IT3", "IT4", "IT5", "IT6", "IT7", "GE0", "GE1", "GE2", "GE3",
	"", "", "", "", "T", "IT0", "IT1", "Q", "V", "C", "Z", "N", NULL
};

static const struct reg_info regs[CM_REG_COUNT] = {
	R(0), R(1), R(2), R(3), R(4), R(5), R(6), R(7), R(8), R(9), R(10),
	R(11), R(12),
	WORD(CM_SP, "sp", REG_ADDRESS), WORD(CM_LR, "lr", REG_CODE),
	WORD(CM_PC, "pc", REG_CODE),
	[CM_XPSR] = { "xpsr", 4 * CM_XPSR, 4, REG_FLAGS, flags },
	CONTROL(CM_MSP, "msp"), CONTROL(CM_PSP, "psp"),
	CONTROL(CM_PRIMASK, "primask"), CONTROL(CM_BASEPRI, "basepri"),
	CONTROL(CM_FAULTMASK, "faultmask"), CONTROL(CM_CONTROL, "control"),
	CONTROL(CM_FPSCR, "fpscr"),
	CONTROL(CM_VTOR, "vtor"), CONTROL(CM_AIRCR, "aircr"),
	CONTROL(CM_SCR, "scr"), CONTROL(CM_CCR, "ccr"),
	CONTROL(CM_SHCSR, "shcsr"),
	CONTROL(CM_CFSR, "cfsr"), CONTROL(CM_HFSR, "hfsr"),
	CONTROL(CM_DFSR, "dfsr"), CONTROL(CM_MMFAR, "mmfar"),
	CONTROL(CM_BFAR, "bfar"), CONTROL(CM_AFSR, "afsr"),
	CONTROL(CM_CPACR, "cpacr"), CONTROL(CM_FPCCR, "fpccr"),
	CONTROL(CM_FPCAR, "fpcar"), CONTROL(CM_FPDSCR, "fpdscr"),
	D(0), D(1), D(2), D(3), D(4), D(5), D(6), D(7), D(8), D(9), D(10),
	D(11), D(12), D(13), D(14), D(15),
	WIDE(CM_MONITOR, "monitor", REG_CONTROL),
	WIDE(CM_MARKED, "marked", REG_CONTROL),
	PRIORITIES(0), PRIORITIES(1), PRIORITIES(2), PRIORITIES(3),
	PRIORITIES(4), PRIORITIES(5),
	WIDE(CM_ACTIVE, "active", REG_CONTROL),
	WIDE(CM_IDLE, "idle", REG_CONTROL),
};

/* r4 to r11, and sp. */
#define DWARF_KEPT UINT64_C(0x2ff0)

static const uint8_t dwarf[] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, CM_R12, CM_SP, CM_LR, CM_PC,
};

static const struct reg_part parts[] = {
	{ "ip", CM_R12, 4 }, { "r13", CM_SP, 4 }, { "r14", CM_LR, 4 },
	{ "r15", CM_PC, 4 },
	{ NULL, 0, 0, 0 }
};

static const struct reg_series series[] = {
	{ "s", CM_D0, 32, 4, 4 }, { NULL, 0, 0, 0, 0 }
};

const struct reg_table reg_table_cortex_m = {
	.arch = ARCH_CORTEX_M,
	.name = "cortex-m",
	.regs = regs,
	.count = CM_REG_COUNT,
	.bytes = WIDE_AT(CM_REG_COUNT),
	.pc = CM_PC,
	.sp = CM_SP,
	.code_bits = 1,
	.code_state = CM_XPSR,
	.code_state_bits = UINT32_C(1) << 24,	/* T */
	.parts = parts,
	.series = series,
	.result = CM_R0,
	.args = { 0, 1, 2, 3 },
	.arg_count = 4,
	.call_args = { 0, 1, 2, 3, 4, 5 },
	.vector_args = { CM_D0, CM_D0 + 1, CM_D0 + 2, CM_D0 + 3,
			 CM_D0 + 4, CM_D0 + 5, CM_D0 + 6, CM_D0 + 7 },
	.results = { 0, 1 },
	.vector_results = { CM_D0, CM_D0 + 1 },
	.float_result = CM_D0,
	.call_size = 2,
	.handler_info = CM_R0 + 1,
	.tls = CM_R0 + 9,
	.dwarf = dwarf,
	.dwarf_count = sizeof(dwarf),
	.dwarf_kept = DWARF_KEPT,
	.dwarf_all = dwarf,
	.dwarf_all_count = sizeof(dwarf),
};
