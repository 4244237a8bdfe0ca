/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_names.h - the symbols of a machine's Linux kernel, out of its memory
 *
 * A kernel has its own symbols, to print them (CONFIG_KALLSYMS); so nothing is
 * needed but the recording, wherever the kernel has moved itself.
 *
 * Ownership:  symbols_release() frees.
 * Errors:     ERR_NOT_FOUND: there is no such kernel; those of recording.h.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_KERNEL_NAMES_H
#define CPREC_REPLAYER_SYMBOLS_KERNEL_NAMES_H

#include "formats/symbols.h"

struct failure;
struct recording;

/* As of the last key frame but the end's. */
int kernel_names_read(struct symbols *out, struct recording *recording,
		      struct failure *why);

#endif
