/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm64.h - the parts of the AArch64 processor, for each other
 *
 * The engine executes a program at EL0 and refuses, exactly, what it may not
 * do.  So few instructions need attention: those that Linux, not the processor,
 * executes for programs, and those that tell the time.
 *
 * Source: Arm Architecture Reference Manual (DDI 0487), C4 (encodings).
 */
#ifndef CPREC_VM_ARCH_ARM64_ARM64_H
#define CPREC_VM_ARCH_ARM64_ARM64_H

#include <capstone/capstone.h>

#include "vm/arch/arch.h"

#define ARM64_INSN_SIZE 4u

/* No instruction is there: a jump to it faults where it leads. */
static inline bool arm64_is_astray(guest_addr pc)
{
	return pc % ARM64_INSN_SIZE;
}

/* stop->detail of a value that is captured. */
enum { VALUE_COUNTER };

/* How often the counter of CNTVCT_EL0 counts in a second. */
#define COUNTER_FREQUENCY 62500000u

struct arm64 {
	csh decoder;
	cs_insn *insn;
};

static inline struct arm64 *arm64_of(const struct cpu *cpu)
{
	return cpu->state;
}

/* ------- arm64.c ------- */

uint64_t arm64_read_reg(struct cpu *cpu, unsigned reg);
void arm64_write_reg(struct cpu *cpu, unsigned reg, uint64_t value);

/* The guest's kernel gives the processor back. */
void arm64_resumes(struct cpu *cpu);

/* A general register as most operands name it: number 31 is 0. */
uint64_t arm64_general(struct cpu *cpu, unsigned number);
void arm64_set_general(struct cpu *cpu, unsigned number, uint64_t value);

/* ------- insn.c: instructions as numbers ------- */

/* The instruction at `pc`; false if it is not there. */
bool arm64_fetch(struct cpu *cpu, guest_addr pc, uint32_t *out);

struct insn arm64_decode(struct cpu *cpu, const uint8_t *code, size_t left,
			 guest_addr pc);
void arm64_disguise(struct cpu *cpu, const uint8_t *code, unsigned size,
		    guest_addr pc, uint8_t *out);
enum vm_way arm64_way(struct cpu *cpu, guest_addr pc);
enum vm_order arm64_order(struct cpu *cpu, guest_addr pc);

/* Which instruction that is special; SPECIAL_NONE. */
enum arm64_special {
	SPECIAL_NONE,
	SPECIAL_COUNTER,	/* MRS of CNTVCT_EL0 */
	SPECIAL_FREQUENCY,	/* ... of CNTFRQ_EL0 */
	SPECIAL_ID,		/* ... of a register that says what it is */
	SPECIAL_WAIT,		/* WFI: does nothing */
};
enum arm64_special arm64_special(uint32_t word);

/* ------- operands.c ------- */

/* Where the operand of a load or store begins; false if it is none. */
bool arm64_operand(struct cpu *cpu, guest_addr pc, uint32_t word,
		   guest_addr *addr);

/* ------- stops.c ------- */

enum performed arm64_explain(struct cpu *cpu, struct vm_stop *stop);
void arm64_capture(struct cpu *cpu, const struct vm_stop *stop);
void arm64_syscall(struct cpu *cpu, struct vm_stop *stop);
void arm64_exception(struct cpu *cpu, unsigned number, struct vm_stop *stop);
void arm64_memory_fault(struct cpu *cpu, guest_addr page,
			struct vm_stop *stop);

/* ------- show.c ------- */

unsigned arm64_text(struct cpu *cpu, guest_addr pc, char *text, size_t room);
void arm64_show(struct cpu *cpu, guest_addr pc, const uint8_t *code,
		size_t size, enum vm_syntax syntax,
		struct vm_instruction *out);

/* The instruction at `pc`, with details, until the next; NULL: it is none. */
const cs_insn *arm64_known(struct cpu *cpu, guest_addr pc);

/* ------- flow.c ------- */

struct vm_flow arm64_flow(struct cpu *cpu, guest_addr pc);

#endif
