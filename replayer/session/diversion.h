/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diversion.h - what would happen if: a copy of a moment that goes its own way
 *
 * The guest's memory and registers, as of a position, may be changed, and the
 * guest may run on from there, to call one of its functions say.  Nothing of
 * that is kept: when the diversion ends, the replayer stands nowhere, and starts
 * again at the recording's own states.
 *
 * The guest's kernel is that of diversion_calls.h then: what that cannot answer
 * is refused.
 *
 * Ownership:  the query is borrowed.  It gives its replayer away until the
 *             diversion ends, and answers what is asked meanwhile with another
 *             one, as recorded.
 * Errors:     those of replayer.h; ERR_INPUT: an address that is not mapped, or
 *             a system call that is refused; ERR_NOT_FOUND: the
 *             contents of a page are not known.
 */
#ifndef CPREC_REPLAYER_SESSION_DIVERSION_H
#define CPREC_REPLAYER_SESSION_DIVERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"
#include "formats/registers.h"
#include "replayer/recording/recording.h"
#include "replayer/session/query.h"

struct diversion;

/* A copy of a position, of which a stream's thread will run. */
int diversion_begin(struct diversion **out, struct query *query,
		    const struct position *at, uint32_t stream,
		    struct failure *why);

/* NULL is allowed. */
void diversion_end(struct diversion *diversion);

/* Another stream's thread will run, with the registers that it had there. */
int diversion_use_thread(struct diversion *diversion, uint32_t stream,
			 struct failure *why);

/* As in mappings.h. */
int diversion_mappings(struct diversion *diversion,
		       int (*visit)(void *context,
				    const struct region *mapping),
		       void *context);

void diversion_registers(struct diversion *diversion, struct reg_file *out);
void diversion_set_registers(struct diversion *diversion,
			     const struct reg_file *regs);
int diversion_read(struct diversion *diversion, uint64_t addr, uint8_t *bytes,
		   uint8_t *known, size_t size, struct failure *why);

/* Whether the program may write there or not. */
int diversion_write(struct diversion *diversion, uint64_t addr,
		    const uint8_t *bytes, size_t size, struct failure *why);

enum diversion_stop_kind {
	DIVERSION_STEPPED,	/* as many instructions as it was to */
	DIVERSION_AT_BREAK,
	DIVERSION_AT_SIGNAL,	/* the kernel would send one: `signal` */
	DIVERSION_EXITED,	/* it would end */
};

struct diversion_run {
	uint64_t most;		/* instructions */
	const guest_addr *breaks;	/* not where it begins */
	size_t break_count;

	/* What it prints: 1 or 2.  May be NULL. */
	void (*printed)(void *context, int descriptor, const uint8_t *bytes,
			size_t size);
	void *context;
};

struct diversion_stop {
	enum diversion_stop_kind kind;
	uint32_t signal;
};

/* If it fails, it stands before what it cannot do. */
int diversion_run(struct diversion *diversion, const struct diversion_run *run,
		  struct diversion_stop *stop, struct failure *why);

#endif
