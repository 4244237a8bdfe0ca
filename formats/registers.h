/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registers.h - the registers of a guest processor as plain bytes
 *
 * A register file is an array of bytes laid out by a table per architecture;
 * it is what key frames hold and what vm/ maps to the engine.  A register is
 * named by its number in its table; the enumerators below are those numbers.
 * Values are little-endian.
 *
 * Source: Intel 64 SDM volume 1, chapters 3, 8 and 10; System V ABI, AMD64
 * supplement, 3.2.3, 3.6.2 and A.2.1; Intel386 supplement, 2.2 and 2.4.  Arm
 * Architecture Reference Manual (DDI 0487), B1.2; Procedure Call Standard and
 * DWARF for the Arm 64-bit Architecture.  Arm Architecture Reference Manual
 * for ARMv7-A (DDI 0406), A2.3 and B1.3; Procedure Call Standard and DWARF for
 * the Arm Architecture.
 */
#ifndef CPREC_FORMATS_REGISTERS_H
#define CPREC_FORMATS_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/error.h"

/* Written to disk. */
enum arch {
	ARCH_X86_64 = 1,
	ARCH_AARCH64 = 2,
	ARCH_I386 = 3,
	ARCH_ARM = 4,
	/* Of whole machines: with the registers of the system. */
	ARCH_AARCH64_MACHINE = 0x102,
	ARCH_CORTEX_M = 0x104,
};

#define ARCH_MACHINE 0x100u

static inline bool arch_is_machine(unsigned arch)
{
	return arch & ARCH_MACHINE;
}

/* The architecture of the code that runs there. */
static inline unsigned arch_of_code(unsigned arch)
{
	return arch & ~ARCH_MACHINE;
}

/* x86-64.  Written to disk: never renumber. */
enum x86_register {
	X86_RAX, X86_RBX, X86_RCX, X86_RDX, X86_RSI, X86_RDI, X86_RBP, X86_RSP,
	X86_R8, X86_R9, X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
	X86_RIP, X86_RFLAGS,
	X86_CS, X86_SS, X86_DS, X86_ES, X86_FS, X86_GS,	/* selectors */
	X86_FS_BASE, X86_GS_BASE,
	X86_FPCW, X86_FPSW, X86_FPTAG,	/* the full 16-bit tag word */
	X86_MXCSR,
	X86_ST0, X86_ST7 = X86_ST0 + 7,		/* 10 bytes each */
	X86_XMM0, X86_XMM15 = X86_XMM0 + 15,	/* 16 bytes each */
	X86_FIP, X86_FDP,		/* of the last x87 instruction: where
					   it is, and its operand */
	X86_REG_COUNT
};

/* AArch64.  Written to disk: never renumber. */
enum arm64_register {
	ARM64_X0, ARM64_X8 = ARM64_X0 + 8, ARM64_X16 = ARM64_X0 + 16,
	ARM64_X19 = ARM64_X0 + 19, ARM64_X29 = ARM64_X0 + 29, ARM64_X30,
	ARM64_SP, ARM64_PC,
	ARM64_CPSR,			/* what a program sees of PSTATE */
	ARM64_TPIDR,			/* the thread pointer */
	ARM64_FPSR, ARM64_FPCR,
	ARM64_V0, ARM64_V31 = ARM64_V0 + 31,	/* 16 bytes each */
	/* What the last load-exclusive has marked, and found there. */
	ARM64_MONITOR, ARM64_MARKED, ARM64_MARKED_HIGH,
	ARM64_REG_COUNT
};

/*
 * AArch64 of a machine: these, too.  SP is that of the present level, and CPSR
 * is all of PSTATE.  Written to disk: never renumber.
 */
enum arm64_system_register {
	ARM64_SP_EL0 = ARM64_REG_COUNT, ARM64_SP_EL1, ARM64_ELR, ARM64_SPSR,
	ARM64_ESR, ARM64_FAR, ARM64_VBAR, ARM64_SCTLR, ARM64_ACTLR, ARM64_CPACR,
	ARM64_TTBR0, ARM64_TTBR1, ARM64_TCR, ARM64_MAIR, ARM64_AMAIR, ARM64_PAR,
	ARM64_AFSR0, ARM64_AFSR1, ARM64_CONTEXTIDR, ARM64_TPIDRRO,
	ARM64_TPIDR_EL1, ARM64_CSSELR, ARM64_MDSCR, ARM64_PMUSERENR, ARM64_PMCR,
	ARM64_PMSELR, ARM64_CNTKCTL,
	/* Timers, and counts of the counter that were skipped while idle. */
	ARM64_CNTV_CTL, ARM64_CNTV_CVAL, ARM64_CNTP_CTL, ARM64_CNTP_CVAL,
	ARM64_IDLE,
	ARM64_MACHINE_REG_COUNT
};

/* i386.  Written to disk: never renumber. */
enum i386_register {
	I386_EAX, I386_EBX, I386_ECX, I386_EDX, I386_ESI, I386_EDI, I386_EBP,
	I386_ESP, I386_EIP, I386_EFLAGS,
	I386_CS, I386_SS, I386_DS, I386_ES, I386_FS, I386_GS,	/* selectors */
	I386_FS_BASE, I386_GS_BASE,
	I386_FPCW, I386_FPSW, I386_FPTAG,	/* the full 16-bit tag word */
	I386_MXCSR,
	I386_ST0, I386_ST7 = I386_ST0 + 7,	/* 10 bytes each */
	I386_XMM0, I386_XMM7 = I386_XMM0 + 7,	/* 16 bytes each */
	I386_FIP, I386_FDP,		/* as on x86-64 */
	/* Descriptors of segments that a thread has set: of the selectors 0x63,
	 * 0x6b and 0x73. */
	I386_TLS0, I386_TLS2 = I386_TLS0 + 2,
	I386_REG_COUNT
};

/* 32-bit ARM.  Written to disk: never renumber. */
enum arm_register {
	ARM_R0, ARM_R7 = ARM_R0 + 7, ARM_R11 = ARM_R0 + 11, ARM_R12,
	ARM_SP, ARM_LR,
	ARM_PC,				/* even, also of Thumb code */
	ARM_CPSR,			/* what a program sees of it, with T and IT */
	ARM_TPIDRURO,			/* the thread pointer */
	ARM_TPIDRURW,			/* a program's own */
	ARM_FPSCR,
	ARM_D0, ARM_D31 = ARM_D0 + 31,	/* 8 bytes each */
	/* What the last load-exclusive has marked, and found there. */
	ARM_MONITOR, ARM_MARKED,
	ARM_REG_COUNT
};

/* Of ARM_CPSR. */
#define ARM_CPSR_THUMB 0x20u

/*
 * A machine of ARMv7-M.  SP is the one in use, MSP or PSP.  Written to disk:
 * never renumber.
 */
enum cortex_m_register {
	CM_R0, CM_R7 = CM_R0 + 7, CM_R12 = CM_R0 + 12, CM_SP, CM_LR,
	CM_PC,				/* even */
	CM_XPSR,			/* with T, IT and the exception */
	CM_MSP, CM_PSP, CM_PRIMASK, CM_BASEPRI, CM_FAULTMASK, CM_CONTROL,
	CM_FPSCR,
	/* Of the system control space.  SHCSR has the faults that are enabled;
	 * what is active is below. */
	CM_VTOR, CM_AIRCR, CM_SCR, CM_CCR, CM_SHCSR, CM_CFSR, CM_HFSR, CM_DFSR,
	CM_MMFAR, CM_BFAR, CM_AFSR, CM_CPACR, CM_FPCCR, CM_FPCAR,
	CM_FPDSCR,
	CM_D0, CM_D15 = CM_D0 + 15,	/* 8 bytes each */
	/* What the last load-exclusive has marked, and found there. */
	CM_MONITOR, CM_MARKED,
	/* A byte for each exception: its priority; and a bit: it is active. */
	CM_PRIORITIES, CM_PRIORITIES_LAST = CM_PRIORITIES + 5, CM_ACTIVE,
	CM_IDLE,			/* steps that were skipped */
	CM_REG_COUNT
};

/* What people want to see of a register. */
enum reg_kind {
	REG_NUMBER,
	REG_ADDRESS,		/* of data */
	REG_CODE,		/* of an instruction */
	REG_FLAGS,		/* bits with names */
	REG_CONTROL,		/* a number that is not for general use */
	REG_CONTROL_FLAGS,	/* the same, of bits with names */
	REG_FLOAT,		/* of x87 */
	REG_VECTOR,
};

struct reg_info {
	const char *name;	/* gdb's name, lower case */
	uint16_t offset;	/* in the register file */
	uint16_t size;		/* bytes */
	enum reg_kind kind;
	const char *const *flags;	/* of the lowest bits on, NULL behind the
					   last; "": no name; or NULL */
};

/* Whether it is one that all programs use. */
static inline bool reg_is_general(const struct reg_info *info)
{
	return info->kind <= REG_FLAGS;
}

/* Arguments that are in registers, and parts of a result. */
#define ARGS_MOST 8u
#define KERNEL_ARGS 6u
#define VECTOR_ARGS_MOST 8u
#define RESULTS_MOST 2u

/* Another name, of bytes of a register. */
struct reg_part {
	const char *name;
	uint8_t reg, size;
	uint8_t above;		/* so many lower bytes */
};

/* Names that end in a number, from 0 on: of bytes that follow each other. */
struct reg_series {
	const char *stem;
	uint8_t first;		/* where the bytes begin: a register */
	uint8_t count, size;
	uint8_t step;		/* bytes from one to the next */
};

#define REG_NAME_ROOM 16u

/* What a name means: a register, or bytes of one, or of several in a row. */
struct reg_named {
	struct reg_info info;	/* as if it were one of its own */
	char name[REG_NAME_ROOM];	/* info.name, unless it is a register's */
	unsigned reg, count;	/* they are of these */
};

struct reg_table {
	enum arch arch;
	const char *name;	/* "x86_64" */
	const struct reg_info *regs;
	unsigned count;
	unsigned bytes;		/* of a whole register file */
	unsigned pc, sp;	/* register numbers, as all that follow */
	uint8_t code_bits;	/* lowest ones of an address that say what code
				   is there, if it is one to return to or of a
				   function */
	uint8_t code_state;	/* a register, some of whose bits say the same */
	uint32_t code_state_bits;	/* of the code that it stands in; or 0 */
	const struct reg_part *parts;	/* NULL-ended, by the names */
	const struct reg_series *series;	/* the same; or NULL */
	unsigned result;	/* where a system call's result goes, */
	unsigned call_number;	/* and its number is */

	/* The calling conventions: of functions, and of the kernel. */
	uint8_t args[ARGS_MOST], call_args[KERNEL_ARGS];
	unsigned arg_count;	/* of `args`; 0: all are on the stack */
	unsigned arg_stack;	/* bytes on the stack before the others */
	bool large_by_address;	/* what no registers hold is copied, and its
				   address passed; of results, in no register
				   that keeps it */
	unsigned handler_info;	/* what a signal's handler gets, as siginfo_t */
	uint8_t vector_args[VECTOR_ARGS_MOST];
	uint8_t results[RESULTS_MOST], vector_results[RESULTS_MOST];
	uint8_t float_result;	/* of the widest kind */
	unsigned call_size;	/* bytes of a system call's instruction; see
				   vm_call_size() */
	unsigned tls;		/* the thread pointer */
	unsigned tls_head;	/* bytes from there to the program's variables;
				   0: those are below */
	const uint8_t *dwarf;	/* by the numbers of debug information */
	unsigned dwarf_count;
	uint64_t dwarf_kept;	/* bits: functions keep them for their callers */
	const uint8_t *dwarf_all;	/* also those of more than 8 bytes */
	unsigned dwarf_all_count;
	unsigned dwarf_halves;	/* from this number on, an even one, so many
				   are halves, the lower first; 0: none */
	unsigned dwarf_half_count;
};

/* The bytes of a register that a number of dwarf_all[] is of. */
struct reg_bytes {
	unsigned offset, size;	/* in the register file */
};

static inline struct reg_bytes reg_dwarf_bytes(const struct reg_table *table,
					       uint64_t number)
{
	const struct reg_info *info = &table->regs[table->dwarf_all[number]];
	unsigned half = info->size / 2u;

	if (number - table->dwarf_halves >= table->dwarf_half_count)
		return (struct reg_bytes){ info->offset, info->size };
	return (struct reg_bytes){ info->offset + half * (number % 2), half };
}

/* Whether functions get all arguments on the stack. */
static inline bool reg_has_stack_args(const struct reg_table *table)
{
	return !table->arg_count;
}

/* Where code is, of an address that may also say which. */
static inline uint64_t reg_code(const struct reg_table *table, uint64_t addr)
{
	return addr & ~(uint64_t)table->code_bits;
}

/* Bytes of an address. */
static inline unsigned reg_word(const struct reg_table *table)
{
	return table->regs[table->sp].size;
}

/*
 * What is called so, whatever the case; `$` may be in front.  `pc`, `sp` and
 * `fp` mean what they do on this processor.  `out` stays where it is as long as
 * its info is used.
 */
bool reg_find(const struct reg_table *table, const char *name,
	      struct reg_named *out);

/*
 * Says that no register is called so, which one may be meant, or which there
 * are.  Returns `code`.
 */
int reg_not_found(const struct reg_table *table, const char *name,
		  enum error code, struct failure *why);

#define REG_FILE_MAX 1280

struct reg_file {
	uint8_t bytes[REG_FILE_MAX];
};

/* The table of an architecture; NULL if this build does not know it. */
const struct reg_table *reg_table(unsigned arch);

/* The value of a register of at most 8 bytes, zero-extended. */
uint64_t reg_get(const struct reg_table *table, const struct reg_file *file,
		 unsigned reg);

/* Sets a register of at most 8 bytes. */
void reg_set(const struct reg_table *table, struct reg_file *file,
	     unsigned reg, uint64_t value);

#endif
