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
	uint64_t linked;	/* that in its file: it may have moved itself;
				   kernel_names_read() alone finds it */
};

/* Both as of the last segment's key frame. */
int kernel_image_read(struct kernel_image *out, struct recording *recording,
		      struct failure *why);

/* With addresses as in the kernel's file, whose name is found as well. */
int kernel_names_read(struct symbols *out, struct kernel_image *kernel,
		      struct recording *recording, struct failure *why);

#endif
