/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_entry.h - what an exception on a machine has interrupted
 *
 * The code where exceptions enter a Linux kernel for AArch64 keeps all
 * registers on the kernel's stack, and calls a function.
 *
 * Ownership:  nothing is kept.
 * Errors:     false: it is not that.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_KERNEL_ENTRY_H
#define CPREC_REPLAYER_SYMBOLS_KERNEL_ENTRY_H

#include <stdbool.h>

#include "replayer/symbols/cfi.h"

/* From code of this name that called a function, to what was interrupted. */
bool kernel_entry_unwind(const char *name, const struct guest_reader *memory,
			 struct unwind_state *state);

#endif
