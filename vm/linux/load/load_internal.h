/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load_internal.h - the files of load/, for each other */
#ifndef CPREC_VM_LINUX_LOAD_LOAD_INTERNAL_H
#define CPREC_VM_LINUX_LOAD_LOAD_INTERNAL_H

#include "vm/linux/load/load.h"

/* As Linux has them: BINPRM_BUF_SIZE, and interpreters of interpreters. */
#define SCRIPT_LINE 256
#define SCRIPTS_MOST 5

/* ------- script.c ------- */

/* A first line that begins with `#!`. */
struct script {
	char text[SCRIPT_LINE + 1];
	char *interpreter;	/* "" if the line names none */
	char *argument;		/* NULL if there is none */
};

/*
 * Reads the first line of a file: 1, or 0 if the file is no script; a negative
 * errno.  The names lie in `out`.
 */
int script_read(struct script *out, int fd);

/* Whether a file that is no script may be text: no NUL is at its start. */
bool script_may_be_text(int fd);

/* ------- program.c ------- */

/*
 * What program_find() does for execve(2), which does not search.  `process`
 * executes the program.
 */
int program_at(struct program *out, const struct linux_process *process,
	       const char *name, char *const *argv, struct failure *why);

/*
 * Where the interpreter is that a script names: beside the script, in the
 * sysroot (NULL: none) if that is there.  Else as the process finds files; NULL:
 * as cprec itself does.  `path` has room for PATH_MAX bytes.
 */
void interpreter_place(char *path, const char *sysroot, const char *script,
		       const struct linux_process *process, const char *name);

/* Checks that a file can be executed and opens it. */
int program_open(const char *path, int *fd, struct failure *why);

#endif
