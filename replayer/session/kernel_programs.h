/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_programs.h - names of the programs that run on a machine's kernel
 *
 * At the time where the replay stands, code and data of the process that is
 * present, or whose addresses are asked for, have the names of its program and
 * libraries.  A file is taken out of the kernel's memory, if that has all of it;
 * else from the folders of debug_search.h, if it is as what the kernel has.
 *
 * Ownership:  query and names are borrowed.  The names ask it as long as it is
 *             there.
 * Errors:     ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_SESSION_KERNEL_PROGRAMS_H
#define CPREC_REPLAYER_SESSION_KERNEL_PROGRAMS_H

struct failure;
struct kernel_programs;
struct names;
struct query;

/* Of a program's recording, it does nothing. */
int kernel_programs_create(struct kernel_programs **out, struct query *query,
			   struct names *names, struct failure *why);
void kernel_programs_destroy(struct kernel_programs *programs);

#endif
