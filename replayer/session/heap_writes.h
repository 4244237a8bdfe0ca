/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_writes.h - what is written to a heap while it is replayed
 *
 * Writes of instructions and of the kernel that nobody but the allocator has a
 * reason for are errors, unless their thread is in the allocator.  Memory that
 * is mapped or unmapped is no heap any more.  What a child of vfork() has
 * written before its parent went on may be blocks that nobody knows of.
 *
 * Ownership:  everything is borrowed, from heap_writes_begin() to
 *             heap_writes_end().
 * Errors:     those of replayer.h; what is told in between cannot fail: then
 *             `rc` is not 0.
 */
#ifndef CPREC_REPLAYER_SESSION_HEAP_WRITES_H
#define CPREC_REPLAYER_SESSION_HEAP_WRITES_H

#include "replayer/replayer.h"
#include "replayer/session/heap_blocks.h"
#include "replayer/session/heap_errors.h"

struct heap_writes {
	struct heap_blocks *blocks;
	struct heap_errors *errors;
	struct recording *recording;
	struct replayer *replayer;
	const bool *is_allocating;	/* by stream */
	bool wants_errors;
	bool *has_others;	/* set if another process has written to it */
	int rc;

	struct replay_observer observer;
	guest_addr event_pc;	/* of an event under way */
};

int heap_writes_begin(struct heap_writes *writes, struct failure *why);
void heap_writes_end(struct heap_writes *writes);

#endif
