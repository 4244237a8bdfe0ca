/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_crash.h - a line about a recorded program that a signal ended
 *
 * While it is still there, its registers and the end of its stack are copied;
 * when the recording is complete, its symbols tell where that was.  Nothing is
 * replayed.  Only signals that mean a mistake are told of.
 *
 * Ownership:  cprec ends soon after: nothing is freed.
 * Errors:     none: what is not known is left out.
 */
#ifndef CPREC_TOOLS_RECORD_CRASH_H
#define CPREC_TOOLS_RECORD_CRASH_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/registers.h"
#include "recorder/recorder.h"
#include "vm/vm.h"

/* Memory as it was. */
struct crash_copy {
	uint64_t addr;
	size_t size;
	uint8_t *bytes;
};

enum { COPY_STACK, COPY_PC, COPY_CALLER, COPIES };

struct record_crash {
	atomic_uint *told;	/* of how many children, by all of them */
	uint64_t signal;	/* 0: there was none */
	bool is_fault;
	struct vm_stop fault;
	struct reg_file registers;
	uint64_t sp;
	struct crash_copy copies[COPIES];
	char path[PATH_MAX];	/* of the recording */
	char shown[PATH_MAX];	/* the same for the user */
};

/* Before the program is started. */
void record_crash_prepare(struct record_crash *crash);

/*
 * Called when it dies.  The recording of the first process is `first`, and
 * `typed` is what the user called it.
 */
void record_crash_note(struct record_crash *crash,
		       const struct recorder_death *death, const char *first,
		       const char *typed);

/*
 * Prints the line, if there is to be one.  Where it was is only told of the
 * first process: looking for it would delay a program that tries out many.  Of
 * its children, only so many are told of.
 */
#define CHILDREN_TOLD 4u
void record_crash_say(const struct record_crash *crash, bool is_first);

#endif
