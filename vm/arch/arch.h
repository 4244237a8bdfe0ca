/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arch.h - what an architecture tells the virtual processor
 *
 * Counting, cutting blocks and stopping exactly (vm/processor/) is the same for
 * all; what an instruction is, and what becomes of one that the engine does not
 * execute as it should, an architecture tells by the functions here.  An
 * architecture is a room of its own below vm/arch/; it names registers, and
 * knows nothing of system calls, blocks or time.
 *
 * Units:      addresses are guest virtual; sizes are bytes.
 * Ownership:  a processor owns its `struct cpu`.
 * Errors:     a guest that faults is no error: the stop says so.
 * Threads:    none.
 */
#ifndef CPREC_VM_ARCH_ARCH_H
#define CPREC_VM_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/engine/engine.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

struct architecture;

/* What the engine does not have of a thread's registers. */
struct cpu_own {
	bool steps;		/* the program's own flag that each instruction
				   is to trap */
	uint64_t words[4];	/* as the architecture uses them */
};

/* What an architecture gets to see of a virtual processor. */
struct cpu {
	struct engine *engine;
	struct memory *memory;
	const struct architecture *arch;
	const struct reg_table *regs;
	void *state;		/* of the architecture's own */
	uint64_t behaviour;	/* of formats/processor.h */
	unsigned number;	/* of this processor among others */

	struct cpu_own own;

	/* Instructions want something else from now on: all code that was
	 * translated must go before the guest runs. */
	bool must_replan;

	/* Of an access that the engine does not make; NULL: nobody observes. */
	void (*access)(void *context, enum vm_access access, guest_addr addr,
		       unsigned size, uint64_t value);
	void *access_context;
};

/* What the processor must know of an instruction. */
struct insn {
	uint8_t size;		/* 0: not known, or cut off */
	bool cut_off;		/* it goes on behind the bytes that are there */
	bool ends_block;	/* control does not just run on behind it */
	bool repeats;		/* the engine re-enters it for each iteration */
	bool pauses;		/* it waits for another thread */
	bool special;		/* must not run in the engine: see `explain` */
	bool misread;		/* the engine takes it for another one */
	bool hooked;		/* `before` must be asked */
	bool demands;		/* has an operand that must be aligned */
};

/* Instructions of a block with an operand that no demand is found for. */
struct loose {
	bool is_first;		/* the block's first instruction is one */
	uint16_t next, last;	/* others, by their index; 0: none */
};

/* What becomes of an instruction that is about to execute. */
enum before {
	BEFORE_RUNS,
	BEFORE_FAULTS,		/* the stop says how */
	BEFORE_REPLANS,		/* once more, after must_replan was heeded */
	BEFORE_PERFORMS,	/* `perform` must do it */
};

/* What becomes of an instruction that the engine must not execute. */
enum performed {
	PERFORMED,		/* it has retired; stop->size is its length */
	PERFORMED_FAULTS,	/* the stop says how */
	PERFORMED_BY_ENGINE,	/* let it execute the instruction after all */
	PERFORMED_NOT,		/* the stop says what must be captured, or
				   which fault it is */
};

struct architecture {
	unsigned step_detail;	/* of the trap of a program that steps itself */

	/* The state of a program's processor; NULL in cpu->state before. */
	int (*start)(struct cpu *cpu, struct failure *why);
	void (*end)(struct cpu *cpu);

	/* Registers, as a program sees them. */
	uint64_t (*reg)(struct cpu *cpu, unsigned reg);
	void (*set_reg)(struct cpu *cpu, unsigned reg, uint64_t value);
	void (*registers)(struct cpu *cpu, struct reg_file *out);
	void (*set_registers)(struct cpu *cpu, const struct reg_file *regs);

	/* The engine has run: mends what it leaves in registers. */
	void (*left)(struct cpu *cpu);

	/* The guest's kernel has had the processor, and gives it back. */
	void (*resumes)(struct cpu *cpu);

	/* The instruction at `code`, of which `left` bytes are there. */
	struct insn (*decode)(struct cpu *cpu, const uint8_t *code, size_t left,
			      guest_addr pc);

	/*
	 * Finds the demands of `count` instructions, at most `room` demands,
	 * and the instructions that have an operand but no demand.
	 */
	struct loose (*demands)(struct cpu *cpu, guest_addr pc,
				const uint8_t *code, size_t size,
				unsigned count, struct demand *out,
				unsigned room, unsigned *found);

	/* The value of a register, for a demand. */
	unsigned (*low_bits)(struct cpu *cpu, int reg);

	/* An instruction that is hooked is about to execute. */
	enum before (*before)(struct cpu *cpu, const struct engine_call *call,
			      struct vm_stop *stop);

	/* ... and `before` said that it must be performed. */
	enum performed (*perform)(struct cpu *cpu, struct vm_stop *stop);

	/* Whether the operand of the instruction at `pc` is aligned, or need
	 * not be; and the instruction's size. */
	bool (*is_aligned)(struct cpu *cpu, guest_addr pc, unsigned *size);

	/* Whether the instruction at `pc` is special too, because the program
	 * steps itself. */
	bool (*shows_steps)(struct cpu *cpu, guest_addr pc);

	/* Whether the repeated one at `pc` has iterations to come. */
	bool (*goes_on)(struct cpu *cpu, guest_addr pc);

	/* What the engine gets to see in place of an instruction of this size:
	 * of one that is special, one that does nothing; of one that is
	 * misread, another one that means the same. */
	void (*disguise)(struct cpu *cpu, const uint8_t *code, unsigned size,
			 guest_addr pc, uint8_t *out);

	/* A special instruction at stop->pc. */
	enum performed (*explain)(struct cpu *cpu, struct vm_stop *stop);

	/* Executes it on this machine, if it is to be captured. */
	void (*capture)(struct cpu *cpu, const struct vm_stop *stop);

	/* Bytes of a system call's instruction, in the code that it is in. */
	unsigned (*call_size)(struct cpu *cpu);

	/* A system call retired: its registers, and stop->size. */
	void (*syscall)(struct cpu *cpu, struct vm_stop *stop);

	/* The engine raised an exception, which is now forgotten. */
	void (*exception)(struct cpu *cpu, unsigned number,
			  struct vm_stop *stop);

	/* The instruction at stop->pc may not access the page: which kind of
	 * fault, and the address. */
	void (*memory_fault)(struct cpu *cpu, guest_addr page,
			     struct vm_stop *stop);

	/* How it leads to the one that is executed behind it. */
	enum vm_way (*way)(struct cpu *cpu, guest_addr pc);

	/* How its accesses are seen; which registers depend on which. */
	enum vm_order (*order)(struct cpu *cpu, guest_addr pc);
	struct vm_flow (*flow)(struct cpu *cpu, guest_addr pc);

	/* For a person; returns the instruction's size. */
	unsigned (*disassemble)(struct cpu *cpu, guest_addr pc, char *text,
				size_t room);

	/* The same of these bytes, in full; `out` is zeroed. */
	void (*show)(struct cpu *cpu, guest_addr pc, const uint8_t *code,
		     size_t size, enum vm_syntax syntax,
		     struct vm_instruction *out);
};

/* ------- of an architecture that needs little: plain.c ------- */

/* Registers of more than 8 bytes are the engine's. */
void plain_registers(struct cpu *cpu, struct reg_file *out);
void plain_set_registers(struct cpu *cpu, const struct reg_file *regs);

/* The engine leaves nothing that must be mended. */
void plain_left(struct cpu *cpu);

/* No operand is a demand. */
struct loose plain_demands(struct cpu *cpu, guest_addr pc, const uint8_t *code,
			   size_t size, unsigned count, struct demand *out,
			   unsigned room, unsigned *found);
unsigned plain_low_bits(struct cpu *cpu, int reg);
bool plain_is_aligned(struct cpu *cpu, guest_addr pc, unsigned *size);

/* The engine executes whatever it gets to see; none is repeated, or shows
 * steps. */
enum before plain_before(struct cpu *cpu, const struct engine_call *call,
			 struct vm_stop *stop);
enum performed plain_perform(struct cpu *cpu, struct vm_stop *stop);
bool plain_never(struct cpu *cpu, guest_addr pc);

/* As the table of registers says. */
unsigned plain_call_size(struct cpu *cpu);

/* ------- all of them ------- */

/* The architecture of a guest; NULL if there is none. */
const struct architecture *arch_find(enum arch arch);

#define CPU_CODE_MOST 16u	/* bytes of any instruction, at least */

/* An instruction that was fetched. */
struct cpu_code {
	uint8_t bytes[CPU_CODE_MOST];
	size_t left;		/* so many of them are there */
	struct insn insn;
};

/*
 * Fetches and decodes the instruction at `pc`.  Bytes on the next page are read
 * only if the instruction goes on there (see memory_code_of_page()).
 */
void cpu_fetch(struct cpu *cpu, guest_addr pc, struct cpu_code *out);

/* An operand that the host reads or writes, and tells of. */
void cpu_load(struct cpu *cpu, guest_addr addr, void *bytes, unsigned size);
void cpu_store(struct cpu *cpu, guest_addr addr, const void *bytes,
	       unsigned size);

#endif
