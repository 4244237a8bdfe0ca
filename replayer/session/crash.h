/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crash.h - how a signal ended a program
 *
 * What the recording says of it is found without a replay; what the processor
 * found wrong, by executing the instruction again.
 *
 * Ownership:  everything is borrowed.
 * Errors:     ERR_NOT_FOUND (no signal ended it, or nobody knows), those of
 *             replayer.h.
 */
#ifndef CPREC_REPLAYER_SESSION_CRASH_H
#define CPREC_REPLAYER_SESSION_CRASH_H

#include <stdbool.h>
#include <stdint.h>

#include "replayer/recording/recording.h"
#include "vm/vm.h"

struct failure;
struct replayer;

struct crash {
	uint64_t signal;
	struct position at;	/* before the signal: registers and memory are
				   as the thread had them */
	uint32_t stream;	/* of the thread that got it */
	uint32_t tid;
	bool is_fault;		/* an instruction of its own is why */
	bool has_call;		/* a system call had just retired: */
	uint64_t call;		/* number */
};

int crash_find(struct crash *out, struct recording *recording,
	       struct failure *why);

/*
 * Executes the instruction of a crash that `is_fault`, from where the replayer
 * stands: crash.at.  Then it stands behind.
 */
int crash_explain(const struct crash *crash, struct replayer *replayer,
		  struct vm_stop *out, struct failure *why);

#endif
