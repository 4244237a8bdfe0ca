/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86.h - the parts of the x86-64 processor, for each other
 *
 * It also executes code of 32 bits, for i386: what is different there asks
 * x86_is_32().  In this room, registers are numbered as x86-64's always.
 *
 * Source: Intel 64 SDM, named where it matters.
 */
#ifndef CPREC_VM_ARCH_X86_X86_H
#define CPREC_VM_ARCH_X86_X86_H

#include <capstone/capstone.h>

#include "vm/arch/arch.h"
#include "vm/arch/x86/insn.h"

/* stop->detail of a value that is captured. */
enum { VALUE_TSC, VALUE_TSCP, VALUE_CPUID, VALUE_HOST };

struct x86 {
	csh decoder;
	cs_insn *insn;
	bool traps;		/* some exception was unmasked, once */
	struct x86_host *host;	/* see host.c; NULL before the first */
};

static inline struct x86 *x86_of(const struct cpu *cpu)
{
	return cpu->state;
}

/* Whether the program is one of i386. */
static inline bool x86_is_32(const struct cpu *cpu)
{
	return cpu->regs->arch == ARCH_I386;
}

/* Bytes of what is pushed and popped. */
static inline unsigned x86_word(const struct cpu *cpu)
{
	return x86_is_32(cpu) ? 4 : 8;
}

/* An address, or another number of so many bits, behind arithmetic. */
static inline uint64_t x86_wrap(const struct cpu *cpu, uint64_t value)
{
	return x86_is_32(cpu) ? (uint32_t)value : value;
}

/* ------- x86.c: registers and values ------- */

int x86_start(struct cpu *cpu, struct failure *why);
void x86_end(struct cpu *cpu);
void x86_mend_flags(struct cpu *cpu);
void x86_resumes(struct cpu *cpu);

/* The table that numbers registers in this room. */
const struct reg_table *x86_table(void);

uint64_t x86_read_reg(struct cpu *cpu, unsigned reg);
void x86_write_reg(struct cpu *cpu, unsigned reg, uint64_t value);
void x86_registers(struct cpu *cpu, struct reg_file *out);
void x86_set_registers(struct cpu *cpu, const struct reg_file *regs);

/*
 * Flags that a program may change: CF, PF, AF, ZF, SF, DF, OF, AC, ID; and TF,
 * which would trap inside the engine: it is kept apart, in cpu->own.steps.
 */
#define X86_FLAGS_OWN UINT64_C(0x240cd5)
#define X86_FLAG_TF UINT64_C(0x100)

/* Executes an instruction whose value is captured. */
void x86_capture(struct cpu *cpu, const struct vm_stop *stop);

/* ------- segments.c: selectors of i386 ------- */

uint16_t segments_selector(const struct cpu *cpu, unsigned reg);
void segments_set_selector(struct cpu *cpu, unsigned reg, uint16_t selector);

/* Loads it, as a program does; false if it may not. */
bool segments_load(struct cpu *cpu, unsigned reg, uint16_t selector);

/* Whether it is of a segment that has all addresses. */
bool segments_is_flat(uint16_t selector);

/* Descriptors that the kernel has for the thread. */
uint64_t segments_descriptor(const struct cpu *cpu, unsigned number);
void segments_set_descriptor(struct cpu *cpu, unsigned number,
			     uint64_t descriptor);

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

/* ------- code.c: instructions in memory ------- */

/* An instruction with its bytes; not to be copied. */
struct x86_code {
	guest_addr pc;
	uint8_t bytes[X86_INSN_MOST];
	struct x86_parts insn;
};

/* The instruction at `pc`; size 0 if even the disassembler does not know it. */
void x86_fetch(struct cpu *cpu, guest_addr pc, struct x86_code *out);

/* Takes it apart; if it is rare, the disassembler tells its size. */
void x86_take(struct cpu *cpu, const uint8_t *code, size_t left, guest_addr pc,
	      struct x86_parts *out);

struct insn x86_decode(struct cpu *cpu, const uint8_t *code, size_t left,
		       guest_addr pc);
void x86_disguise(struct cpu *cpu, const uint8_t *code, unsigned size,
		  guest_addr pc, uint8_t *out);
enum vm_way x86_way(struct cpu *cpu, guest_addr pc);
enum vm_order x86_order(struct cpu *cpu, guest_addr pc);

/* ------- operands.c ------- */

/*
 * Disassembles the instruction into x86->insn, with details; its length, 0 if
 * it is not known.
 */
size_t x86_disassemble(struct cpu *cpu, const uint8_t *code, size_t left,
		       guest_addr pc);

/* As vm_disassemble() and vm_instruction() say. */
unsigned x86_text(struct cpu *cpu, guest_addr pc, char *text, size_t room);
void x86_show(struct cpu *cpu, guest_addr pc, const uint8_t *code, size_t size,
	      enum vm_syntax syntax, struct vm_instruction *out);

/* Where an operand is now, of an instruction that ends before `next`. */
guest_addr x86_address(struct cpu *cpu, const struct operand_form *form,
		       guest_addr next);

/* The address of its memory operand, and its size; false if it has none. */
bool x86_operand(struct cpu *cpu, const struct x86_code *code,
		 guest_addr *addr, unsigned *size);

/* The address on the faulting page that it wanted. */
guest_addr x86_fault_address(struct cpu *cpu, guest_addr pc, guest_addr page);

/* Whether it wanted that in the stack's segment, as by RSP or RBP. */
bool x86_fault_is_of_stack(struct cpu *cpu, guest_addr pc, guest_addr page);

/* ------- emulate.c, system.c ------- */

/*
 * Performs an instruction that the engine executes wrongly: CMPXCHG8B,
 * CMPXCHG16B, LOCK NEG.  False, with `*stop` filled in, if it faults.
 */
bool x86_emulate(struct cpu *cpu, const struct x86_code *code,
		 struct vm_stop *stop);

/*
 * The same of POPF, MOV from or to a selector, PUSH and POP of one, and PUSHF;
 * whether it is one.
 */
bool x86_system_knows(const struct x86_parts *insn);
bool x86_system(struct cpu *cpu, const struct x86_code *code,
		struct vm_stop *stop);

/* Whether it shows the trap flag, which the engine does not know: PUSHF. */
bool x86_shows_steps(struct cpu *cpu, guest_addr pc);

/* Whether a repeated string instruction has iterations to come. */
bool x86_goes_on(struct cpu *cpu, guest_addr pc);

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

/* Whether the instruction wants the hook. */
bool float_wants_hook(const struct cpu *cpu, const struct x86_parts *insn);

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
bool trap_sse(struct cpu *cpu, const struct x86_code *code);
bool trap_x87(struct cpu *cpu, const struct x86_code *code);

/* Performs the instruction of x87 at stop->pc, which raises one. */
enum performed x86_perform(struct cpu *cpu, struct vm_stop *stop);

/* ------- align.c ------- */

/* Whether an operand that must be aligned is, at this moment. */
bool align_is_met(struct cpu *cpu, const struct x86_code *code);

struct loose x86_demands(struct cpu *cpu, guest_addr pc, const uint8_t *code,
			 size_t size, unsigned count, struct demand *out,
			 unsigned room, unsigned *found);
unsigned x86_low_bits(struct cpu *cpu, int reg);
bool x86_is_aligned(struct cpu *cpu, guest_addr pc, unsigned *size);

/* ------- flow.c ------- */

struct vm_flow x86_flow(struct cpu *cpu, guest_addr pc);

/* ------- the architecture ------- */

/* All of it but the registers, which x86-64 and i386 have their own of. */
#define X86_ARCHITECTURE                                                       \
	.step_detail = X86_FAULT_STEP,                                         \
	.start = x86_start, .end = x86_end,                                    \
	.left = x86_mend_flags, .resumes = x86_resumes,                        \
	.decode = x86_decode, .demands = x86_demands,                          \
	.low_bits = x86_low_bits, .before = x86_before,                        \
	.perform = x86_perform, .is_aligned = x86_is_aligned,                  \
	.shows_steps = x86_shows_steps, .goes_on = x86_goes_on,                \
	.disguise = x86_disguise,                                              \
	.explain = x86_explain, .capture = x86_capture,                        \
	.call_size = plain_call_size,                                          \
	.syscall = x86_syscall, .exception = x86_exception,                    \
	.memory_fault = x86_memory_fault, .way = x86_way,                      \
	.order = x86_order, .flow = x86_flow,                                  \
	.disassemble = x86_text, .show = x86_show

#endif
