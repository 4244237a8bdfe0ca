/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_modules.h - symbols of the modules of a machine's Linux kernel
 *
 * As kallsyms has them: a module keeps its symbols in memory.  Those are found
 * that are there at the recording's end, which stay where they are.
 *
 * Errors:     those of query.h; none if there are no modules.
 */
#ifndef CPREC_REPLAYER_SESSION_KERNEL_MODULES_H
#define CPREC_REPLAYER_SESSION_KERNEL_MODULES_H

struct failure;
struct names;
struct query;

/* Adds them to names, by a replayer of its own. */
int kernel_modules_add(struct query *query, struct names *names,
		       struct failure *why);

#endif
