/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mps2.h - Arm's MPS2 boards with Cortex-M processors: AN385, AN386, AN500
 *
 * All addresses and interrupts are those of QEMU's machines of these names.
 * What is at no address of a board's reads as zeros, and is told once.
 *
 * Source: Arm Application Notes AN385, AN386 and AN500.
 */
#ifndef CPREC_VM_BOARD_MPS2_H
#define CPREC_VM_BOARD_MPS2_H

#include <stdint.h>

#define MPS2_DEVICE_FILES 8u

struct mps2_options {
	const char *firmware;	/* path: an ELF file, or bytes for address 0 */
	const char *append;	/* what its program gets as arguments */
	uint64_t clock;		/* seconds since 1970, when it starts */

	/* Files that describe further registers: device_file.h. */
	const char *device_files[MPS2_DEVICE_FILES];
	unsigned device_file_count;
};

#endif
