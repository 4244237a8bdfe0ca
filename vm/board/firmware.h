/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * firmware.h - what a machine without a kernel executes: an ELF file of 32-bit
 * ARM, or bytes that lie at address 0
 *
 * Errors:     ERR_INPUT.
 */
#ifndef CPREC_VM_BOARD_FIRMWARE_H
#define CPREC_VM_BOARD_FIRMWARE_H

#include "vm/board/board.h"
#include "vm/board/start_file.h"

struct firmware {
	struct start_file file;
	bool is_elf;
	uint64_t entry;		/* of ELF; 0: none */
};

/* All of it must be in these pieces of RAM. */
int firmware_read(struct firmware *out, const char *path,
		  const struct board_ram *rams, unsigned ram_count,
		  struct failure *why);
void firmware_release(struct firmware *firmware);

/* Where it is to be, piece by piece. */
void firmware_load(const struct firmware *firmware,
		   void (*store)(void *context, uint64_t addr,
				 const void *bytes, size_t size),
		   void *context);

#endif
