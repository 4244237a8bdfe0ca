/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc.h - what the guest finds in /proc where the host has cprec's own
 *
 * Says which paths lead to files that are made for the guest, and what they
 * hold.  This room answers questions and changes nothing of the process; what
 * a program writes into its own memory through `mem` is the exception.  Files
 * are opened, read and written in files/.
 *
 * Files belong to a process or to one thread of it: `tid` is the thread's
 * number, or 0.
 *
 * Errors:     negative errnos; -ENOSYS: it is a matter for the host.
 */
#ifndef CPREC_VM_LINUX_PROC_PROC_H
#define CPREC_VM_LINUX_PROC_PROC_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/region.h"
#include "vm/memory/memory.h"

struct linux_process;

struct proc_file {
	const char *name;
	const char *path;	/* if it is no process's; else NULL */
	/* Writes the contents. */
	void (*print)(struct linux_process *process, uint32_t tid, FILE *out);
	/* Instead of `print`: moves `size` bytes between position `at` of the
	 * file and the guest's `addr`; how many, or a negative errno. */
	int64_t (*move)(struct linux_process *process, uint64_t at,
			guest_addr addr, uint64_t size, enum memory_use use);
	bool is_memory;		/* shows memory or registers */
	bool is_writable;
};

/*
 * Looks at a path, from `dir` on, that is about to be opened: the file, of
 * which thread it is, or -EACCES for one that is kept from the guest.
 */
int proc_find(struct linux_process *process, int dir, const char *path,
	      const struct proc_file **out, uint32_t *tid);

/*
 * Replaces /proc/self/exe, or that of another recorded process, by a path that
 * leads to the program's file; `path` has PATH_MAX bytes.
 */
void proc_redirect(struct linux_process *process, int dir, char *path);

/* What such a link says, without a NUL: its length, or -ENOSYS. */
int64_t proc_read_exe(struct linux_process *process, int dir,
		      const char *path, char text[PATH_MAX]);

#endif
