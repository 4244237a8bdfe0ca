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

/* What a kernel was loaded from, and its variables: one piece of memory. */
struct kernel_image {
	uint8_t *bytes;		/* the caller's to free */
	size_t size;
	uint64_t physical;
	uint64_t base;		/* by which it calls itself; 0: not known */
};

/* Both as of the last segment's key frame. */
int kernel_image_read(struct kernel_image *out, struct recording *recording,
		      struct failure *why);
int kernel_names_read(struct symbols *out, struct recording *recording,
		      struct failure *why);

#endif
