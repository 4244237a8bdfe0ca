/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arm_internal.h - the files of 32-bit ARM's kind of guest, for each other */
#ifndef CPREC_VM_LINUX_ABI_ARM_INTERNAL_H
#define CPREC_VM_LINUX_ABI_ARM_INTERNAL_H

#include "vm/linux/abi/abi.h"

/* ------- arm_frame.c ------- */

/* Of a frame as frame_push() makes it, with what alignment takes. */
#define ARM_FRAME_MOST 896
/* Where the mask of signals is, as its handler leaves it. */
#define ARM_FRAME_MASK 232

int arm_frame_push(struct linux_process *process,
		   const struct signal_entry *entry);
int arm_frame_pop(struct linux_process *process, struct signal_return *out);

/* Code that ends handlers: four pieces, for both sets and both frames. */
extern const uint32_t arm_signal_code[6];

/* ------- arm_faults.c ------- */

void arm_fault(struct vm *vm, const struct vm_stop *stop, bool is_present,
	       struct guest_fault *out);
bool arm_bad_call(struct vm *vm, uint64_t number, struct guest_fault *out);

/* ------- arm_helpers.c ------- */

/* The page of functions that the kernel has for programs. */
#define ARM_HELPERS UINT64_C(0xffff0000)

void arm_fill_helpers(uint8_t page[GUEST_PAGE]);
void arm_print_cpuinfo(FILE *out, unsigned processor);

#endif
