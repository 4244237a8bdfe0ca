/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program.h - from what a user typed to the file and arguments to be loaded
 *
 * Ownership:  program_release() frees what program_find() made; a zeroed
 *             structure with fd -1 is an empty one.
 * Errors:     ERR_NOT_FOUND (there is no such program), ERR_INPUT (it is not
 *             one we can run), ERR_SYSTEM, ERR_NO_MEMORY.
 */
#ifndef CPREC_VM_LINUX_LOAD_PROGRAM_H
#define CPREC_VM_LINUX_LOAD_PROGRAM_H

#include <stddef.h>

#include "vm/linux/linux.h"

struct program {
	char *typed;		/* the first file: a script, or the program */
	char *path;		/* the ELF file */
	int fd;			/* open for reading */
	char **argv;		/* with what `#!` lines add */
	size_t argc;
};

/* Searches PATH and follows `#!` lines. */
int program_find(struct program *out, const struct linux_options *options,
		 struct failure *why);

/* The same for execve(2), which does not search. */
int program_at(struct program *out, const char *path, char *const *argv,
	       struct failure *why);
void program_release(struct program *program);

/* Checks that a file can be executed and opens it. */
int program_open(const char *path, int *fd, struct failure *why);

#endif
