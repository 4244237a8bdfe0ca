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
	size_t object;		/* bytes that IPC_STAT gives, and IPC_SET takes */
	size_t limits;		/* ... that IPC_INFO gives */
	size_t usage;		/* ... that `info` does */
};

/* A call that does something with an object of System V's. */
struct ipc_control {
	uint64_t id;
	uint64_t number;	/* semctl(2): of the semaphore */
	int command;
	guest_addr buffer;
	size_t in, out;		/* bytes that go in, or come out on success */
};

/* Performs one on a copy of the buffer, of which `in` bytes are taken. */
int64_t ipc_control(struct linux_process *process, long number,
		    const struct ipc_control *control, void *bytes);

/* The result, when `out` bytes were given to the guest, unless it failed. */
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

#endif
