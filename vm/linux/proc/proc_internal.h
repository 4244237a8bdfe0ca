/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc_internal.h - the files of proc/, for each other: what is printed */
#ifndef CPREC_VM_LINUX_PROC_PROC_INTERNAL_H
#define CPREC_VM_LINUX_PROC_PROC_INTERNAL_H

#include "vm/linux/proc/proc.h"

struct linux_thread;

/* ------- maps.c, stat.c, status.c ------- */

void proc_print_maps(struct linux_process *process, uint32_t tid, FILE *out);
void proc_print_smaps(struct linux_process *process, uint32_t tid, FILE *out);
void proc_print_rollup(struct linux_process *process, uint32_t tid, FILE *out);
void proc_print_stat(struct linux_process *process, uint32_t tid, FILE *out);
void proc_print_statm(struct linux_process *process, uint32_t tid, FILE *out);
void status_print(struct linux_process *process, uint32_t tid, FILE *out);

/* The thread whose file it is. */
const struct linux_thread *status_thread(struct linux_process *process,
					 uint32_t tid);

/* ------- relatives.c: of another recorded process, or of its thread ------- */

void relative_print_status(struct linux_process *process, uint32_t tid,
			   FILE *out);
void relative_print_stat(struct linux_process *process, uint32_t tid,
			 FILE *out);
void relative_print_thread_stat(struct linux_process *process, uint32_t tid,
				FILE *out);

/* ------- own_threads.c ------- */

/* How many threads a folder "/proc/PID/task" has that are not cprec's own. */
unsigned proc_count_threads(struct linux_process *process, const char *path);

/* ------- memory.c: /proc/self/mem and pagemap ------- */

int64_t proc_move_mem(struct linux_process *process, uint64_t at,
		      guest_addr addr, uint64_t size, enum memory_use use);
int64_t proc_move_pagemap(struct linux_process *process, uint64_t at,
			  guest_addr addr, uint64_t size, enum memory_use use);

#endif
