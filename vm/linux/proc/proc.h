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
struct stat;
struct statx;

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
	bool is_relatives;	/* another recorded process's */
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

/* ------- own_threads.c: what the guest must not find ------- */

/*
 * Whether a number is that of a thread of cprec's own, in this process or
 * another recorded one.
 */
bool proc_hides_thread(struct linux_process *process, uint32_t tid);

/*
 * A path, from `dir` on, to such a thread's files becomes one that leads
 * nowhere; `path` has PATH_MAX bytes.
 */
void proc_hide(struct linux_process *process, int dir, char *path);

/* Whether that is a folder of threads; `path` as descriptor_path() has it. */
bool proc_is_task_folder(const char *path);

/* Leaves them out of the links that the host counts. */
void proc_mend_stat(struct linux_process *process, int dir, const char *path,
		    struct stat *about);
void proc_mend_statx(struct linux_process *process, int dir, const char *path,
		     struct statx *about);

#endif
