/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device_file.h - registers that a text file describes, one a line:
 *
 *	ADDRESS NAME [VALUE [read-only]]
 *
 * Each has 32 bits, VALUE at first (0), and keeps what is written, unless it is
 * read-only.  What follows a '#' is a comment.
 *
 * Ownership:  device_registers_release() frees; a zeroed list is empty.
 * Errors:     ERR_INPUT, ERR_NO_MEMORY.
 */
#ifndef CPREC_VM_BOARD_DEVICE_FILE_H
#define CPREC_VM_BOARD_DEVICE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct failure;
struct state;

#define DEVICE_NAME_MOST 32u

struct device_register {
	uint32_t addr, value;
	uint32_t first;		/* what it is after a reset */
	bool is_read_only;
	char name[DEVICE_NAME_MOST];
};

struct device_registers {
	struct device_register *list;	/* sorted by address */
	size_t count, room;
};

/* Adds those of a file. */
int device_registers_read(struct device_registers *out, const char *path,
			  struct failure *why);
void device_registers_reset(struct device_registers *registers);
void device_registers_release(struct device_registers *registers);

/* What it says is all of them, without their names. */
void device_registers_state(struct device_registers *registers,
			    struct state *state);

/* The one at an address; NULL: there is none. */
struct device_register *
device_registers_find(const struct device_registers *registers, uint64_t addr);

#endif
