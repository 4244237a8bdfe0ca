/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program_start.h - what the kernel leaves on the stack of a new program
 *
 * Source: System V ABI, "Process Initialization"; Linux, create_elf_tables().
 */
#ifndef CPREC_REPLAYER_SESSION_PROGRAM_START_H
#define CPREC_REPLAYER_SESSION_PROGRAM_START_H

#include <stdbool.h>
#include <stdint.h>

struct reg_table;
struct replayer;

struct program_start {
	uint64_t argv, envp;	/* addresses of NULL-ended lists */
	uint64_t name;		/* of the file, as it was asked for; 0 */
	bool has_uid;		/* it was told whose it is: */
	uint32_t uid, euid, gid, egid;
};

/* Of a program whose first instruction comes next; false if it is none. */
bool program_start_read(struct replayer *replayer, const struct reg_table *regs,
			struct program_start *out);

#endif
