/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86.h - the parts of the x86-64 processor, for each other
 *
 * Source: Intel 64 SDM, named where it matters.
 */
#ifndef CPREC_VM_ARCH_X86_X86_H
#define CPREC_VM_ARCH_X86_X86_H

#include <capstone/capstone.h>

#include "vm/arch/arch.h"
#include "vm/arch/x86/length.h"

struct x86 {
	csh decoder;
	cs_insn *insn;
	bool traps;		/* some exception was unmasked, once */
};

static inline struct x86 *x86_of(const struct cpu *cpu)
{
	return cpu->state;
}

/* ------- x86.c: registers and values ------- */

uint64_t x86_read_reg(struct cpu *cpu, unsigned reg);
void x86_write_reg(struct cpu *cpu, unsigned reg, uint64_t value);
void x86_registers(struct cpu *cpu, struct reg_file *out);
void x86_set_registers(struct cpu *cpu, const struct reg_file *regs);

/*
 * Flags that a program may change: CF, PF, AF, ZF, SF, DF, OF, AC, ID.  TF would
 * trap inside the engine: a guest that sets it is not stepped.
 */
#define X86_FLAGS_OWN UINT64_C(0x240cd5)

/* Executes an instruction whose value is captured. */
void x86_capture(struct cpu *cpu, const struct vm_stop *stop);

/* ------- stops.c: faults ------- */

/* Says that the instruction is a general-protection fault; false. */
bool x86_refuse(struct vm_stop *stop);

/*
 * Whether an access to this operand faults; then `*stop` says so, and where.
 */
bool x86_operand_faults(struct cpu *cpu, guest_addr addr, unsigned size,
			enum vm_access access, struct vm_stop *stop);

enum performed x86_explain(struct cpu *cpu, struct vm_stop *stop);
void x86_syscall(struct cpu *cpu, struct vm_stop *stop);
void x86_exception(struct cpu *cpu, unsigned number, struct vm_stop *stop);
void x86_memory_fault(struct cpu *cpu, guest_addr page, struct vm_stop *stop);

/* ------- code.c: what an instruction is ------- */

/*
 * The bytes of the instruction at `pc`, at most X86_INSN_MOST, into `code`;
 * how many.  `*opcode` gets the place behind prefixes.
 */
size_t x86_fetch(struct cpu *cpu, guest_addr pc, uint8_t *code,
		 const uint8_t **opcode);

/*
 * The length of the instruction at `code`.  0 if the decoder does not know it,
 * or it is cut off: the engine translates it all the same, or refuses it.
 */
size_t x86_size(struct cpu *cpu, const uint8_t *code, size_t left,
		guest_addr pc);

struct insn x86_decode(struct cpu *cpu, const uint8_t *code, size_t left,
		       guest_addr pc);
enum vm_order x86_order(struct cpu *cpu, guest_addr pc);

/* ------- operands.c: by the disassembler ------- */

/*
 * Decodes the instruction at `code`, which is that of `pc`, into x86->insn; its
 * length, 0 if the disassembler does not know it.
 */
size_t x86_disassemble(struct cpu *cpu, const uint8_t *code, size_t left,
		       guest_addr pc);

/*
 * The address of the memory operand of the instruction at `pc`, and its size;
 * false if it has none.
 */
bool x86_operand(struct cpu *cpu, guest_addr pc, guest_addr *addr,
		 unsigned *size, unsigned *length);

/* The address on the faulting page that the instruction at `pc` wanted. */
guest_addr x86_fault_address(struct cpu *cpu, guest_addr pc, guest_addr page);

/* Whether it wanted that by RSP or RBP, of the stack's segment. */
bool x86_fault_is_of_stack(struct cpu *cpu, guest_addr pc, guest_addr page);

/* ------- operand.c: memory operands, quickly ------- */

/* An address, as an instruction names it. */
struct operand_form {
	int8_t base, index;	/* numbers of the encoding, or one of these */
	uint8_t shift;		/* of the index */
	uint8_t segment;	/* X86_FS_BASE, X86_GS_BASE or 0 */
	int32_t displacement;
};
enum { OPERAND_NONE = DEMAND_NONE, OPERAND_NEXT = 16 };	/* nothing; RIP */

/*
 * The memory operand of the instruction whose opcode, behind all prefixes, is
 * at `opcode`; false if it has none, or one of 32-bit addresses.
 */
bool operand_decode(const uint8_t *code, const uint8_t *opcode,
		    const uint8_t *end, struct operand_form *out);

/* Where it is now; `next` is the address behind the instruction. */
guest_addr operand_at(struct cpu *cpu, const struct operand_form *form,
		      guest_addr next);

/* ------- emulate.c, system.c ------- */

/*
 * Performs the instruction at stop->pc, which the engine executes with wrong
 * flags: CMPXCHG8B, CMPXCHG16B, LOCK NEG.  Returns false, with `*stop` filled
 * in, if it faults; else stop->size is its length.
 */
bool x86_emulate(struct cpu *cpu, struct vm_stop *stop);

/* POPF, and MOV from or to a selector, as x86_emulate(): by its opcode. */
bool x86_system_knows(uint8_t opcode);
bool x86_system(struct cpu *cpu, const uint8_t *code, const uint8_t *opcode,
		size_t left, struct vm_stop *stop);

/* ------- host.c ------- */

/*
 * Executes the instruction at stop->pc on the host's processor, without
 * retiring it; false if the host cannot.
 */
bool x86_on_host(struct cpu *cpu, const struct vm_stop *stop);

/* ------- mxcsr.c ------- */

/* The registers with the flags of exceptions as the processor has them. */
uint32_t x86_mxcsr(struct cpu *cpu);
void x86_set_mxcsr(struct cpu *cpu, uint32_t value);
uint16_t x86_status(struct cpu *cpu);
void x86_set_status(struct cpu *cpu, uint16_t value);

/* Brings the engine's registers to that: MXCSR, or both. */
void x86_show_sse(struct cpu *cpu);
void x86_show_flags(struct cpu *cpu);

/* ------- float.c ------- */

/* Whether the instruction, whose prefixes end at `opcode`, wants the hook. */
bool float_wants_hook(const struct cpu *cpu, const uint8_t *opcode,
		      const uint8_t *end);

/* From now on, instructions that may raise an exception are hooked, too. */
void float_watch_math(struct cpu *cpu);

enum before x86_before(struct cpu *cpu, const struct engine_call *call,
		       struct vm_stop *stop);

/* ------- trap.c: exceptions that are unmasked ------- */

bool trap_unmasks(uint32_t mxcsr, uint16_t control);

/* Whether one of x87 is to be told of. */
bool trap_is_pending(struct cpu *cpu);

/*
 * Whether the instruction would raise one that is unmasked; if it is of SSE,
 * its flag is then set.
 */
bool trap_sse(struct cpu *cpu, guest_addr pc, const uint8_t *code,
	      const uint8_t *opcode, const uint8_t *end);
bool trap_x87(struct cpu *cpu, guest_addr pc, const uint8_t *code,
	      const uint8_t *opcode, const uint8_t *end);

/* Performs the instruction of x87 at stop->pc, which raises one. */
enum performed x86_perform(struct cpu *cpu, struct vm_stop *stop);

/* ------- align.c ------- */

/* Whether the instruction has an operand in memory that must be aligned. */
bool align_wants(const uint8_t *code, const uint8_t *opcode,
		 const uint8_t *end);

/* ... and whether it is, at this moment. */
bool align_is_met(struct cpu *cpu, guest_addr pc, const uint8_t *code,
		  const uint8_t *opcode, const uint8_t *end);

struct loose x86_demands(struct cpu *cpu, guest_addr pc, const uint8_t *code,
			 size_t size, unsigned count, struct demand *out,
			 unsigned room, unsigned *found);
unsigned x86_low_bits(struct cpu *cpu, int reg);
bool x86_is_aligned(struct cpu *cpu, guest_addr pc, unsigned *size);

/* ------- flow.c ------- */

struct vm_flow x86_flow(struct cpu *cpu, guest_addr pc);

#endif
