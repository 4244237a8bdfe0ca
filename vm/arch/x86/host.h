/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.h - executing an instruction of the guest on the host's processor
 */
#ifndef CPREC_VM_ARCH_X86_HOST_H
#define CPREC_VM_ARCH_X86_HOST_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;

/* The image of FXSAVE with REX.W. */
struct fx_image {
	uint16_t control, status;
	uint8_t tag, reserved;
	uint16_t opcode;
	uint64_t instruction, operand;
	uint32_t mxcsr, mxcsr_mask;
	uint8_t st[8][16];
	uint8_t xmm[16][16];
	uint8_t unused[48];
	uint8_t memory[48];	/* FXSAVE leaves it alone: for an operand */
} __attribute__((aligned(16)));

/* General registers that the instruction finds and leaves. */
struct host_regs {
	uint64_t rax, rcx, rdx, flags;
};

/* The guest's floating-point state, and back. */
void host_load(struct cpu *cpu, struct fx_image *image);
void host_store(struct cpu *cpu, const struct fx_image *image);

/*
 * Executes the instruction with that state.  It may name RAX, RCX, RDX, XMM
 * and x87 registers, and image->memory as [rbx + HOST_MEMORY].  A trap of SSE
 * that the image unmasks leaves its flags in image->mxcsr, nothing else.
 */
#define HOST_MEMORY 464
bool host_run(struct cpu *cpu, const uint8_t *insn, unsigned size,
	      struct fx_image *image, struct host_regs *regs);

/* Frees what it has made. */
void host_release(struct cpu *cpu);

#endif
