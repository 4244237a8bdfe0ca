/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86_64_internal.h - the files of x86-64's kind of guest, for each other */
#ifndef CPREC_VM_LINUX_ABI_X86_64_INTERNAL_H
#define CPREC_VM_LINUX_ABI_X86_64_INTERNAL_H

#include "vm/linux/abi/abi.h"

/* Of a frame as frame_push() makes it, with what alignment takes. */
#define FRAME_MOST 1152
/* Where the mask of signals is, as its handler leaves it. */
#define FRAME_MASK 296

int x86_64_frame_push(struct linux_process *process,
		      const struct signal_entry *entry);
int x86_64_frame_pop(struct linux_process *process, struct signal_return *out);

void x86_64_print_cpuinfo(FILE *out, unsigned processor);

/* ------- x86_faults.c ------- */

/* Numbers of registers, which i386 has, too. */
struct x86_fault_regs {
	uint8_t pc, status, control, mxcsr;
};

void x86_fault(struct vm *vm, const struct vm_stop *stop, bool is_present,
	       const struct x86_fault_regs *regs, struct guest_fault *out);

#endif
