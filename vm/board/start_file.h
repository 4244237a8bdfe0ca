/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * start_file.h - the files that a machine starts with
 *
 * Source: Linux, Documentation/arch/arm64/booting.rst, for a kernel's header.
 *
 * Ownership:  start_file_release() frees; a zeroed one is empty.
 * Errors:     ERR_INPUT: the file is not there, or is none.
 */
#ifndef CPREC_VM_BOARD_START_FILE_H
#define CPREC_VM_BOARD_START_FILE_H

#include <stddef.h>
#include <stdint.h>

struct failure;

struct start_file {
	const char *path;
	uint8_t *bytes;
	size_t size;

	/* Of a kernel: */
	uint64_t offset;	/* from a multiple of 2 MiB on */
	uint64_t room;		/* that it needs, from there */
};

/* Any file, of at most `most` bytes. */
int start_file_read(struct start_file *out, const char *path, const char *what,
		    uint64_t most, struct failure *why);

/* A kernel of arm64, as "Image". */
int start_file_kernel(struct start_file *out, const char *path, uint64_t most,
		      struct failure *why);
void start_file_release(struct start_file *file);

#endif
