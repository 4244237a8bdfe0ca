/* SPDX-License-Identifier: GPL-2.0-or-later */
/* files_internal.h - the files of files/, for each other */
#ifndef CPREC_VM_LINUX_FILES_FILES_INTERNAL_H
#define CPREC_VM_LINUX_FILES_FILES_INTERNAL_H

#include "formats/region.h"
#include "vm/linux/files/files.h"
#include "vm/memory/memory.h"

/* ------- descriptors.c ------- */

/* What is known of a new one; for want of memory it is forgotten. */
void descriptor_set(struct linux_process *process, int fd,
		    const struct descriptor *what);

/* Of a copy it is the same, of a closed one nothing. */
void descriptor_copied(struct linux_process *process, int fd, int from);
void descriptor_closed(struct linux_process *process, int fd);

/* Whether reads of a file may have to wait, as those of plain files never. */
enum waiting { WAITING_UNKNOWN, WAITS_NEVER, WAITS_PERHAPS };

/* Whether a read of the present spans will wait, if no other thread runs. */
bool read_waits(struct linux_process *process, int fd);

/* ------- made.c ------- */

/*
 * Looks at a path, from `dir` on, that is about to be opened.  Returns a
 * descriptor for a file that is made for the guest, or -EACCES for one that is
 * kept from it.
 */
int64_t made_open(struct linux_process *process, int dir, const char *path,
		  int flags);

/*
 * Opens the host's file that stands behind such a descriptor, to ask about it;
 * or a negative errno.
 */
int made_open_host(struct linux_process *process, int fd);

/* read(2) and its kin, of a descriptor that was made here. */
struct made_transfer {
	int fd;
	enum memory_use use;
	bool has_offset;	/* otherwise: where the descriptor stands */
	int64_t offset;
};

int64_t made_transfer(struct linux_process *process,
		      const struct made_transfer *transfer, guest_addr addr,
		      uint64_t size);

/* The same with a guest's array of struct iovec. */
int64_t made_transfer_vector(struct linux_process *process,
			     const struct made_transfer *transfer,
			     guest_addr vector, uint64_t count);

#endif
