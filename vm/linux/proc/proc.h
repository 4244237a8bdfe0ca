/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc.h - what the guest finds in /proc where the host has cprec's own
 *
 * A file that is made for the guest is an empty file of the host's in memory,
 * for its descriptor and its position; process->descriptors knows what it
 * is.  One of text is filled when it is opened, and again whenever it is read
 * from its start, as Linux does.  What stands for memory is not there at all:
 * reads and writes of such a descriptor are performed here.
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
#include "vm/memory.h"

struct linux_process;
struct linux_thread;

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

/* ------- proc.c ------- */

/*
 * Looks at a path, from `dir` on, that is about to be opened.  Returns a
 * descriptor for a file that is made for the guest, or -EACCES for one that is
 * kept from it.
 */
int64_t proc_open(struct linux_process *process, int dir, const char *path,
		  int flags);

/*
 * Replaces /proc/self/exe, or that of another recorded process, by a path that
 * leads to the program's file; `path` has PATH_MAX bytes.
 */
void proc_redirect(struct linux_process *process, int dir, char *path);

/* What such a link says, without a NUL: its length, or -ENOSYS. */
int64_t proc_read_exe(struct linux_process *process, int dir,
		      const char *path, char text[PATH_MAX]);

/* The process executes this program from now on, as others will find. */
void proc_keep_exe(struct linux_process *process, int program);

/*
 * Opens the host's file that stands behind such a descriptor, to ask about it;
 * or a negative errno.
 */
int proc_open_host(struct linux_process *process, int fd);

/* Opens the host's file that one of a thread, or of the process, is made of. */
FILE *proc_host_file(uint32_t tid, const char *name);

/* ------- proc_transfer.c ------- */

/* Fills a file of text with what it has now; -ENOMEM. */
int64_t proc_fill(struct linux_process *process, int fd);

/* read(2) and its kin, of a descriptor that was made here. */
struct proc_transfer {
	int fd;
	enum memory_use use;
	bool has_offset;	/* otherwise: where the descriptor stands */
	int64_t offset;
};

int64_t proc_transfer(struct linux_process *process,
		      const struct proc_transfer *transfer, guest_addr addr,
		      uint64_t size);

/* The same with a guest's array of struct iovec. */
int64_t proc_transfer_vector(struct linux_process *process,
			     const struct proc_transfer *transfer,
			     guest_addr vector, uint64_t count);

/* ------- proc_maps.c, proc_usage.c, proc_stat.c, status.c, cpuinfo.c ------- */

void proc_print_maps(struct linux_process *process, uint32_t tid, FILE *out);
void proc_print_smaps(struct linux_process *process, uint32_t tid, FILE *out);
void proc_print_rollup(struct linux_process *process, uint32_t tid, FILE *out);
void proc_print_stat(struct linux_process *process, uint32_t tid, FILE *out);
void proc_print_statm(struct linux_process *process, uint32_t tid, FILE *out);
void status_print(struct linux_process *process, uint32_t tid, FILE *out);
void cpuinfo_print(struct linux_process *process, uint32_t tid, FILE *out);

/* The thread whose file it is, and the signals of its process. */
const struct linux_thread *status_thread(struct linux_process *process,
					 uint32_t tid);
uint64_t status_ignored(const struct linux_process *process);
uint64_t status_caught(const struct linux_process *process);

/* ------- proc_memory.c: /proc/self/mem and pagemap ------- */

int64_t proc_move_mem(struct linux_process *process, uint64_t at,
		      guest_addr addr, uint64_t size, enum memory_use use);
int64_t proc_move_pagemap(struct linux_process *process, uint64_t at,
			  guest_addr addr, uint64_t size, enum memory_use use);

/* What the host's pagemap says of a page; Linux's documentation has more. */
#define PAGEMAP_EXCLUSIVE (UINT64_C(1) << 56)
#define PAGEMAP_FILE (UINT64_C(1) << 61)	/* or shared memory */
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)

/* The same of guest pages, from `page` on, 0 for those that are not mapped. */
void proc_page_entries(struct linux_process *process, int pagemap,
		       uint64_t page, uint64_t *entries, size_t count);

/* The host's, for this; -1. */
int proc_open_pagemap(void);

/* ------- proc_usage.c: how much memory the guest has, and uses ------- */

#define USAGE_LEVELS 3	/* of a page table; the highest is always there */

/*
 * Pages.  Which of them are in the host's memory the host knows, because
 * guest pages are its own; how many others map one it tells nobody, so a page
 * that is not ours alone counts as two processes'.
 */
struct usage {
	uint64_t size;
	uint64_t data, stack, exec;	/* of which; see proc(5), VmData */
	uint64_t anon, file, shared;	/* present: by what they are */
	uint64_t clean_alone, clean_common, dirty_alone, dirty_common;
	uint64_t swapped;
	uint64_t tables;		/* of the page table */
	uint64_t table[USAGE_LEVELS];	/* 1 + the one counted last */
};

/* Adds those of one mapping. */
void usage_add(struct linux_process *process, int pagemap,
	       const struct region *region, struct usage *usage);

/* Of all. */
void usage_of(struct linux_process *process, struct usage *usage);

uint64_t usage_present(const struct usage *usage);

/* How many pages the program's own code has. */
uint64_t usage_code(const struct linux_process *process);

/* Calls `visit` for each line of /proc/self/maps. */
void each_whole_region(struct linux_process *process,
		       void (*visit)(void *context,
				     const struct region *region),
		       void *context);

#endif
