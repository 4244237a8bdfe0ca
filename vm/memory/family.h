/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * family.h - which process may use the memory that processes share
 *
 * Each process of the guest runs in a process of cprec of its own, all of them
 * forked from the first: a family.  One of them at a time is inside: it alone
 * touches memory that is shared.  So its instructions are atomic for the
 * others, and nothing changes under it that a recording would have to know.
 *
 * Being inside is a lock that belongs to a process, whichever of its threads
 * calls; the kernel releases it when the process dies.  A process that waits
 * for it says so, and the one that is inside should then leave.
 *
 * Ownership:  the caller of family_create() ends it; a child of a fork has its
 *             own copy.  Leave before a fork.
 * Errors:     ERR_SYSTEM, ERR_NO_MEMORY.
 * Threads:    one at a time.
 */
#ifndef CPREC_VM_MEMORY_FAMILY_H
#define CPREC_VM_MEMORY_FAMILY_H

#include <stdbool.h>

struct failure;
struct family;

/*
 * Begins a family of this process and all that it forks.  `move`, if not
 * NULL, takes the descriptor out of the guest's way and returns its new
 * number, or a negative error.
 */
int family_create(struct family **out, int (*move)(int fd),
		  struct failure *why);
void family_destroy(struct family *family);

/*
 * From now on a thread of the host's calls `call` when this process has been
 * inside for a millisecond or two while others wait, and again until it
 * leaves: for a guest that runs without counting its steps.
 */
void family_watch(struct family *family, void (*call)(void *context),
		  void *context);

/* Waits until this process is inside, if it is not; from a signal handler
 * too. */
void family_enter(struct family *family);

/* Leaves, if it is inside. */
void family_leave(struct family *family);

/* Whether this process is inside, and others wait. */
bool family_is_wanted(const struct family *family);

/* Notes that a file is mapped shared; whether any was, by anybody. */
void family_map_file(struct family *family);
bool family_maps_files(const struct family *family);

#endif
