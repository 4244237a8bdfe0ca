/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapped_files.h - what becomes of mappings when their files change
 *
 * A program writes to a file that it has mapped (mapped_files.c), cuts it, or
 * maps more than there is (eof_tail.c); another process cuts it
 * (lost_pages.c).
 */
#ifndef CPREC_VM_LINUX_MEMORY_MAPPED_FILES_H
#define CPREC_VM_LINUX_MEMORY_MAPPED_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/region.h"

struct linux_process;
struct stat;

/* ------- eof_tail.c ------- */

/* Looks at a file that has just been mapped. */
void eof_tail_note(struct linux_process *process, const struct region *region,
		   const struct stat *file);

/* The same for a mapping whose file has got another size. */
void eof_tail_cut(struct linux_process *process, const struct region *region,
		  const struct stat *file);

/* The range is being unmapped, or gets another protection. */
void eof_tail_forget(struct linux_process *process, guest_addr addr,
		     uint64_t size);
void eof_tail_protect(struct linux_process *process, guest_addr addr,
		      uint64_t size, unsigned prot);
void eof_tail_release(struct linux_process *process);

/*
 * Looks at a fault.  1: the file has grown, go on; 0: no such page; -1: the
 * page is beyond the end, SIGBUS.
 */
int eof_tail_fault(struct linux_process *process, guest_addr addr);

/* Whether there is no such page now. */
bool eof_tail_has(struct linux_process *process, guest_addr addr);

/* The protection that the guest knows of a region, which is all such, or not. */
unsigned eof_tail_prot(struct linux_process *process,
		       const struct region *region);

/* ------- lost_pages.c ------- */

/* The exception that a page fault is, as a signal's context shows it. */
#define TRAP_PAGE 14

/* Learns of pages whose file another process has cut short. */
void lost_pages_catch(struct linux_process *process);

/*
 * When process->lost says so: unmaps what is not there, and raises SIGBUS if it
 * was the guest that touched it.
 */
void lost_pages_mend(struct linux_process *process);

/* ------- mapped_files.c ------- */

/* A file has been mapped under this name; -ENOMEM. */
int mapped_files_note(struct linux_process *process, const char *name,
		      const struct stat *file);
void mapped_files_release(struct linux_process *process);

/* Opens a file that is mapped again; a negative errno. */
int mapped_files_find(struct linux_process *process, dev_t dev, ino_t ino,
		      bool to_write);

/* The same of the file that is mapped at `addr`, for a region like this. */
int mapped_files_open(struct linux_process *process,
		      const struct region *region, guest_addr addr);

/*
 * The guest has written to a file.  `offset` is where; negative: up to where
 * the descriptor stands.
 */
void mapped_files_wrote(struct linux_process *process, int fd, int64_t offset,
			uint64_t size);

/* The guest has cut a file or made it longer. */
void mapped_files_resized(struct linux_process *process, int fd);

#endif
