/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arm64_internal.h - the files of AArch64's kind of guest, for each other */
#ifndef CPREC_VM_LINUX_ABI_ARM64_INTERNAL_H
#define CPREC_VM_LINUX_ABI_ARM64_INTERNAL_H

#include "vm/linux/abi/abi.h"

/* Of a frame as frame_push() makes it, with what alignment takes. */
#define FRAME_MOST 4720
/* Where the mask of signals is, as its handler leaves it. */
#define FRAME_MASK 168

int arm64_frame_push(struct linux_process *process,
		     const struct signal_entry *entry);
int arm64_frame_pop(struct linux_process *process, struct signal_return *out);

void arm64_print_cpuinfo(FILE *out, unsigned processor);

#endif
