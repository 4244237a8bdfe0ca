/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host_faults.h - faults of the host that are accesses to a guest's memory
 *
 * A process may have several guests, each run by a thread of its own, and
 * signal handlers that are not ours.  So those whose faults are taken are
 * listed, and the handler finds the one that holds the address.  Any other
 * fault goes to the handler that was there before.
 *
 * Ownership:  what is listed is the caller's, until host_faults_leave().
 * Errors:     ERR_SYSTEM.
 * Threads:    any, at any time.
 */
#ifndef CPREC_VM_MEMORY_HOST_FAULTS_H
#define CPREC_VM_MEMORY_HOST_FAULTS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct failure;

typedef void host_signal(int number, siginfo_t *info, void *context);

/* The calls are made by signal handlers.  `missing` and `sent` may be NULL. */
struct host_faults {
	const uint8_t *start;
	uint64_t size;

	/* The access to a byte there was refused; false: not because of us. */
	bool (*fault)(void *context, const uint8_t *at, bool writes);

	/* Asked first: the host's instruction at `pc` may be the guest's, which
	 * has not ended well; the same. */
	bool (*guest)(void *context, uintptr_t pc, const uint8_t *at,
		      bool writes);
	void *guest_context;

	/* A page is gone from its file, wherever it is; the same. */
	bool (*missing)(void *context, uint8_t *at);

	/* SIGSEGV and SIGBUS that a process has sent. */
	host_signal *sent;
	void *context;
};

int host_faults_catch(struct host_faults *faults, struct failure *why);

/* No longer, if it was listed. */
void host_faults_leave(struct host_faults *faults);

#endif
