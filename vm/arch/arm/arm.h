/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm.h - the parts of the 32-bit ARM processor, for each other
 *
 * The engine executes a program in user mode and refuses, exactly, what it may
 * not do.  So few instructions need attention: those that tell the time, and
 * hints that the engine leaves by an exception.
 *
 * Instructions have 4 bytes in ARM code, and 2 or 4 in Thumb code.  Which code
 * is at an address no byte says: the processor knows it where it stands, and
 * modes.c of where it has been.  The word of a Thumb instruction of 4 bytes is
 * its first halfword and, below it, the second; coprocessors' and vectors' are
 * nearly the same in both.
 *
 * Source: Arm Architecture Reference Manual for ARMv7-A (DDI 0406), A5
 * (encodings of ARM), A6 (of Thumb), A7 (of floating point and vectors).
 */
#ifndef CPREC_VM_ARCH_ARM_ARM_H
#define CPREC_VM_ARCH_ARM_ARM_H

#include <capstone/capstone.h>

#include "vm/arch/arch.h"

#define INSN_MOST 4u

/* stop->detail of a value that is captured. */
enum { VALUE_COUNTER };

/* How often the counter of CNTVCT counts in a second. */
#define COUNTER_FREQUENCY 62500000u

struct modes;

struct arm {
	csh decoder;
	cs_insn *insn;
	struct modes *modes;
};

static inline struct arm *arm_of(const struct cpu *cpu)
{
	return cpu->state;
}

/* ------- arm.c ------- */

uint64_t arm_read_reg(struct cpu *cpu, unsigned reg);
void arm_write_reg(struct cpu *cpu, unsigned reg, uint64_t value);

/* The guest's kernel gives the processor back. */
void arm_resumes(struct cpu *cpu);

/* Whether the processor is in Thumb code. */
bool arm_is_in_thumb(struct cpu *cpu);

/* ------- modes.c: where Thumb code is ------- */

struct modes *modes_create(void);
void modes_destroy(struct modes *modes);

/* Notes what code an address has. */
void modes_note(struct modes *modes, guest_addr pc, bool is_thumb);

/* Whether an address has Thumb code, or `otherwise` if nothing was noted. */
bool modes_is_thumb(const struct modes *modes, guest_addr pc, bool otherwise);

/* ------- insn.c: instructions as numbers ------- */

struct arm_code {
	uint32_t word;
	uint8_t size;		/* bytes; 0: it is not there */
	bool is_thumb;
};

/* The instruction that these bytes begin with. */
struct arm_code arm_code_of(const uint8_t *code, size_t left, bool is_thumb);

/* The instruction at `pc`. */
struct arm_code arm_fetch(struct cpu *cpu, guest_addr pc);

/* No instruction is there: a jump to it faults where it leads. */
static inline bool arm_is_astray(guest_addr pc, bool is_thumb)
{
	return pc % (is_thumb ? 2 : 4);
}

/* How it leads to the one that is executed behind it. */
enum vm_way arm_way_of(const struct arm_code *insn);

/* LDREX, STREX and the like. */
bool arm_is_exclusive(const struct arm_code *insn);

struct insn arm_decode(struct cpu *cpu, const uint8_t *code, size_t left,
		       guest_addr pc);
void arm_disguise(struct cpu *cpu, const uint8_t *code, unsigned size,
		  guest_addr pc, uint8_t *out);
enum vm_way arm_way(struct cpu *cpu, guest_addr pc);
enum vm_order arm_order(struct cpu *cpu, guest_addr pc);

/* Which instruction that is special; SPECIAL_NONE. */
enum arm_special {
	SPECIAL_NONE,
	SPECIAL_COUNTER,	/* MRRC of CNTVCT */
	SPECIAL_FREQUENCY,	/* MRC of CNTFRQ */
	SPECIAL_WAIT,		/* WFI: does nothing */
	SPECIAL_PAUSE,		/* YIELD, WFE: the same, in a loop */
	SPECIAL_UNDEFINED,	/* the engine executes it */
};
enum arm_special arm_special(const struct arm_code *insn);

/* Whether it is executed, by its condition or that of IT. */
bool arm_is_met(struct cpu *cpu, const struct arm_code *insn);

/* The state of IT behind an instruction, as CPSR has it. */
uint32_t arm_it_advanced(uint32_t status);

/* ------- operands.c ------- */

/* Where the operand of a load or store begins; false if it is none. */
bool arm_operand(struct cpu *cpu, guest_addr pc, const struct arm_code *insn,
		 guest_addr *addr);

/* ------- stops.c ------- */

enum performed arm_explain(struct cpu *cpu, struct vm_stop *stop);
void arm_capture(struct cpu *cpu, const struct vm_stop *stop);
unsigned arm_call_size(struct cpu *cpu);
void arm_syscall(struct cpu *cpu, struct vm_stop *stop);
void arm_exception(struct cpu *cpu, unsigned number, struct vm_stop *stop);
void arm_memory_fault(struct cpu *cpu, guest_addr page, struct vm_stop *stop);

/* ------- show.c ------- */

unsigned arm_text(struct cpu *cpu, guest_addr pc, char *text, size_t room);
void arm_show(struct cpu *cpu, guest_addr pc, const uint8_t *code, size_t size,
	      enum vm_syntax syntax, struct vm_instruction *out);

/*
 * The instruction at `pc`, with details, until the next; NULL: it is none.  Of
 * one that IT is in front of, the condition is not known.
 */
const cs_insn *arm_known(struct cpu *cpu, guest_addr pc);

/* ------- flow.c ------- */

struct vm_flow arm_flow(struct cpu *cpu, guest_addr pc);

#endif
