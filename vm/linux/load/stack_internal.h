/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_internal.h - what a program finds on its stack when it starts
 *
 * Errors:     ERR_INPUT (too many arguments), ERR_NO_MEMORY.
 */
#ifndef CPREC_VM_LINUX_LOAD_STACK_INTERNAL_H
#define CPREC_VM_LINUX_LOAD_STACK_INTERNAL_H

#include "formats/region.h"

struct failure;
struct image;
struct linux_process;
struct program;

/*
 * Writes strings, vectors and the auxiliary vector, and notes in the layout
 * where they are.  `base` is where the interpreter was loaded, 0 if none.
 */
int stack_fill(struct linux_process *process, const struct program *program,
	       char *const *envp, const struct image *image, guest_addr base,
	       struct failure *why);

#endif
