/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diversion_calls_internal.h - a system call, for the files that answer it
 *
 * diversion_calls.c has the table, output, and what other threads would be asked
 * for; diversion_memory.c changes memory; diversion_told.c answers from the
 * recording.
 */
#ifndef CPREC_REPLAYER_SESSION_DIVERSION_CALLS_INTERNAL_H
#define CPREC_REPLAYER_SESSION_DIVERSION_CALLS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/error.h"
#include "formats/registers.h"
#include "replayer/session/diversion_calls.h"
#include "vm/linux/abi/calls.h"

struct memory;

struct diverted_call {
	struct diversion_kernel *kernel;
	const struct linux_call *row;
	struct memory *memory;
	const struct reg_table *regs;
	uint64_t args[KERNEL_ARGS];
	int64_t result;
	enum diversion_call end;
	uint32_t signal;
};

/* "mmap() cannot be answered: ...": ERR_INPUT. */
static inline int divert_refuse(const struct diverted_call *call,
				struct failure *why, const char *because)
{
	return failed(why, ERR_INPUT, "%s() cannot be answered: %s",
		      call->row->name, because);
}

/*
 * Structures that an argument leads to, as the host has them.  False: they
 * cannot be there.  Where an address is 0, nothing is put.
 */
bool divert_put(struct diverted_call *call, unsigned argument,
		const void *host);
bool divert_take(const struct diverted_call *call, unsigned argument,
		 void *host);

/* The same, and that is the call's result. */
int divert_give(struct diverted_call *call, unsigned argument,
		const void *host);

typedef int divert_function(struct diverted_call *call, struct failure *why);

/* ------- diversion_memory.c ------- */

divert_function divert_mmap, divert_munmap, divert_mprotect, divert_mremap,
	divert_madvise, divert_brk;

/* ------- diversion_told.c ------- */

divert_function divert_getpid, divert_gettid, divert_kill, divert_tkill,
	divert_tgkill, divert_getid, divert_getcwd, divert_recall,
	divert_clock_gettime, divert_clock_getres, divert_gettimeofday,
	divert_time, divert_nanosleep, divert_clock_nanosleep;

#endif
