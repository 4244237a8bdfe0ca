/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load.h - from a program's name to the guest at its first instruction
 *
 * Finds the file, follows `#!` lines, checks the ELF file, maps it, fills the
 * stack: for the first program, and for each that an exec starts.  This room
 * asks all others to make way for a program; none of them asks it.
 *
 * Ownership:  program_release() frees what program_find() made; a zeroed
 *             structure with fd -1 is an empty one.
 * Errors:     ERR_NOT_FOUND (there is no such program), ERR_INPUT (it is not
 *             one we can run), ERR_SYSTEM, ERR_NO_MEMORY.
 */
#ifndef CPREC_VM_LINUX_LOAD_LOAD_H
#define CPREC_VM_LINUX_LOAD_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/registers.h"
#include "vm/linux/kernel.h"

struct failure;
struct linux_abi;
struct linux_options;
struct linux_process;

struct loaded {
	bool aslr;
	struct reg_file first;	/* registers when a program starts */
};

struct program {
	char *typed;		/* the first file: a script, or the program */
	char *name;		/* the ELF file, as it is called */
	char *path;		/* where it is: see host/sysroot.c */
	int fd;			/* open for reading */
	char **argv;		/* with what `#!` lines add */
	size_t argc;
};

/* ------- program.c ------- */

/* Searches PATH and follows `#!` lines; /bin/sh reads other text: execvp(3). */
int program_find(struct program *out, const struct linux_options *options,
		 struct failure *why);
void program_release(struct program *program);

/* The kind of guest that a file's program is for; NULL. */
const struct linux_abi *program_abi(int fd);

/* ------- loader.c ------- */

/* Loads a program into memory that is empty, and shows it to the host. */
int load_program(struct linux_process *process, const struct program *program,
		 const struct linux_options *options, struct failure *why);

/* ------- calls ------- */

syscall_handler sys_execve;
syscall_handler sys_execveat;

#endif
