/* SPDX-License-Identifier: GPL-2.0-or-later */
/* i386_internal.h - the files of i386's kind of guest, for each other */
#ifndef CPREC_VM_LINUX_ABI_I386_INTERNAL_H
#define CPREC_VM_LINUX_ABI_I386_INTERNAL_H

#include "vm/linux/abi/abi.h"

/* ------- i386_frame.c ------- */

/* Of a frame as frame_push() makes it, with what alignment takes. */
#define I386_FRAME_MOST 1472
/* Where the mask of signals is, as its handler leaves it. */
#define I386_FRAME_MASK 248

int i386_frame_push(struct linux_process *process,
		    const struct signal_entry *entry);
int i386_frame_pop(struct linux_process *process, struct signal_return *out);

/* Code that ends handlers: sigreturn(2), and behind it rt_sigreturn(2). */
extern const uint8_t i386_signal_code[16];

/* ------- i386_calls.c ------- */

/* The segment that a thread begins with is described at that address. */
int i386_take_tls(struct linux_process *process, uint64_t from,
		  struct guest_tls *out);

int64_t i386_fold(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg, int64_t result);

/* ------- i386_folded.c ------- */

int64_t i386_unfold(const struct linux_reader *reader,
		    const struct linux_call **row, uint64_t *arg);

#endif
