/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap.h - the blocks that a program has on its heap, and what it did wrong
 *
 * Found from the calls of allocators' functions (heap_functions.h): of a
 * thread, the outermost one counts, whatever it calls itself.  A block is there
 * when the call that allocates it returns, and no more when one that frees it
 * begins.
 *
 * A process that another one has forked has that one's blocks, too, and a child
 * of vfork() may leave some to its parent: nobody knows of these here.
 *
 * Ownership:  heap_release() frees; names of functions last until then, too.
 * Errors:     those of replayer.h; ERR_NOT_FOUND: no function of an allocator
 *             is known.
 */
#ifndef CPREC_REPLAYER_SESSION_HEAP_H
#define CPREC_REPLAYER_SESSION_HEAP_H

#include "replayer/session/call_functions.h"
#include "replayer/session/heap_blocks.h"
#include "replayer/session/heap_errors.h"
#include "replayer/session/query.h"

struct heap_question {
	struct query *query;
	struct lines *lines;
	struct position to;
	bool writes;		/* those outside of blocks are errors, too:
				   takes two to three times as long */
};

struct heap {
	struct heap_blocks blocks;
	struct heap_errors errors;
	uint64_t allocations, frees;	/* of this process, of its last program;
					   a block that is resized is both */
	bool has_others;	/* blocks of another process are there, too */
	struct call_functions functions;
};

/* What there is at `to`, and errors from the start to there. */
int heap_follow(struct heap *out, const struct heap_question *question,
		struct failure *why);
void heap_release(struct heap *heap);

#endif
