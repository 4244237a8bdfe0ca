/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ipc_internal.h - what semctl(2), msgctl(2) and shmctl(2) have in common
 *
 * Each has commands that ask for an object, or change it, and that ask what
 * the system allows and has; they differ in the numbers and sizes.
 */
#ifndef CPREC_VM_LINUX_IPC_IPC_INTERNAL_H
#define CPREC_VM_LINUX_IPC_IPC_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"
#include "vm/linux/ipc/ipc.h"

/* One of the three calls: its number, and its commands beside IPC_.... */
struct ipc_kind {
	long number;
	int stat, stat_any, info;
	enum guest_struct object;	/* IPC_STAT gives, IPC_SET takes it */
	enum guest_struct limits;	/* IPC_INFO gives it */
	enum guest_struct usage;	/* `info` gives it */
};

/* A call that does something with an object of System V's. */
struct ipc_control {
	uint64_t id;
	uint64_t number;	/* semctl(2): of the semaphore */
	int command;
	guest_addr buffer;
	/* What goes in, or comes out on success: a structure, or bytes. */
	enum guest_struct type_in, type_out;
	size_t in, out;
};

/* Performs one on a copy of the buffer, which is taken if something goes in. */
int64_t ipc_control(struct linux_process *process, long number,
		    const struct ipc_control *control, void *bytes);

/* The result, when the guest was given what comes out, unless it failed. */
int64_t ipc_copy_result(struct linux_process *process,
			const struct ipc_control *control, const void *bytes,
			int64_t result);

/* Whether it asks for an object. */
bool ipc_is_stat(const struct ipc_control *control,
		 const struct ipc_kind *kind);

/*
 * All of a call whose arguments are `arg`; it is found out here how much goes
 * in and comes out.
 */
int64_t ipc_perform(struct linux_process *process,
		    const struct ipc_kind *kind, struct ipc_control *control,
		    const uint64_t *arg);

/* ------- shm_count.c ------- */

/* How a segment's mapping is called, before its key; by Linux too. */
#define SHM_NAME_START "/SYSV"

/*
 * Makes the host's count of attachments the guest's.  False if not all that the
 * host counts was found, because something was just attached or detached.
 */
bool shm_count(struct linux_process *process, int id, uint64_t *count);

#endif
