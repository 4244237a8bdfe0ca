/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_memory.h - the guest's memory as its kernel reads and writes it
 *
 * Small arguments are copied.  Large ones become spans: host addresses of
 * guest memory, which the host's kernel reads and writes itself.
 *
 * Units:      sizes are bytes.
 * Errors:     negative errnos; -EFAULT, where nothing else is said.
 */
#ifndef CPREC_VM_LINUX_GUEST_MEMORY_H
#define CPREC_VM_LINUX_GUEST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "vm/linux/abi/structs.h"
#include "vm/memory/memory.h"

struct linux_process;

enum { SPANS = 1024 };		/* as many as a host call takes (IOV_MAX) */

/* Guest memory as host addresses, for one host call. */
struct spans {
	struct iovec host[SPANS];
	guest_addr guest[SPANS];
	int count;
	uint8_t *detached;	/* see spans_detach() */
};

int copy_in(struct linux_process *process, void *to, guest_addr from,
	    size_t size);
int copy_out(struct linux_process *process, guest_addr to, const void *from,
	     size_t size);

/*
 * Structures in the layout of the guest, for the host in its own; `count` of
 * them in a row.  struct_size() is that of one, for the guest.
 */
int struct_in(struct linux_process *process, enum guest_struct type,
	      void *host, guest_addr from);
int struct_out(struct linux_process *process, enum guest_struct type,
	       guest_addr to, const void *host);
int structs_in(struct linux_process *process, enum guest_struct type,
	       void *host, guest_addr from, uint64_t count);
int structs_out(struct linux_process *process, enum guest_struct type,
		guest_addr to, const void *host, uint64_t count);
size_t struct_size(const struct linux_process *process,
		   enum guest_struct type);

/* A pointer, a long or a size_t of the guest's. */
int word_in(struct linux_process *process, uint64_t *out, guest_addr from);
int word_out(struct linux_process *process, guest_addr to, uint64_t value);

/* Also -ENAMETOOLONG; `text` holds PATH_MAX bytes. */
int copy_path(struct linux_process *process, char *text, guest_addr from);

/* Says that the host wrote here through memory_at(). */
void guest_wrote(struct linux_process *process, guest_addr addr,
		 uint64_t size);

/*
 * Appends guest memory to process->spans, as much as is accessible and fits.
 * -EFAULT if not even the first byte is.
 */
int add_spans(struct linux_process *process, guest_addr addr, uint64_t size,
	      enum memory_use use);

/* The same for a guest's array of struct iovec; -EINVAL if it is bad. */
int add_vector(struct linux_process *process, guest_addr vector,
	       uint64_t count, enum memory_use use);

/* How many bytes they are; makes them at most so many. */
uint64_t spans_size(const struct spans *spans);
void spans_cut(struct spans *spans, uint64_t size);

/* Says that the first `size` bytes of the spans were written by the host. */
void spans_wrote(struct linux_process *process, uint64_t size);

/* Tells the observer that the first `size` bytes were output, if they were. */
void spans_output(struct linux_process *process, int fd, uint64_t size);

/*
 * Whether a transfer between the spans and a descriptor will not wait, as far
 * as can be told.
 */
bool spans_ready(const struct linux_process *process, int fd,
		 enum memory_use use);

/* Whether a call writes there, and other processes may look. */
bool spans_others_see(const struct linux_process *process,
		      enum memory_use use);

/*
 * For a call that may wait, or writes where others may look: the spans are
 * copied, or get room to be filled.
 * spans_attach() copies back what a call has written there, the first `size`
 * bytes, and frees.  -ENOMEM.
 */
int spans_detach(struct linux_process *process, enum memory_use use);
void spans_attach(struct linux_process *process, enum memory_use use,
		  uint64_t size);

#endif
