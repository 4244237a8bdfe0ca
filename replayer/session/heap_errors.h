/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_errors.h - what a program did to its heap that it must not do
 *
 * What the same code, called by the same callers, does again and again, to blocks
 * that the same code has allocated, is one error with a count: the first time is
 * told.  So is what a function of the C library writes, as memcpy(), by whatever
 * instructions and to whatever blocks, when the same code of others calls it.
 *
 * Zeroed, there are none.
 *
 * Ownership:  heap_errors_release() frees; names of functions are borrowed.
 * Errors:     ERR_NO_MEMORY; those of replayer.h.
 */
#ifndef CPREC_REPLAYER_SESSION_HEAP_ERRORS_H
#define CPREC_REPLAYER_SESSION_HEAP_ERRORS_H

#include "replayer/session/heap_blocks.h"
#include "replayer/session/query.h"

struct call_functions;

enum heap_error_kind {
	HEAP_WRITTEN_BEHIND,	/* a block */
	HEAP_WRITTEN_BEFORE,
	HEAP_WRITTEN_FREED,	/* into a block that is freed */
	HEAP_FREED_TWICE,
	HEAP_FREED_INSIDE,	/* not where a block begins */
	HEAP_FREED_NOTHING,	/* where no block is known to have been */
};

struct heap_error {
	enum heap_error_kind kind;
	struct position at;	/* before the instruction or call */
	uint32_t stream, tid;
	guest_addr pc;		/* of what wrote; in what called a function: */
	const char *function;	/* "free"; NULL: it was a write */
	bool by_kernel;		/* in this system call: */
	uint64_t number;
	guest_addr addr;	/* what was to be freed; or what must not be */
	uint64_t size;		/* written, and was */
	bool has_block;		/* HEAP_FREED_NOTHING has none */
	struct heap_block block;	/* as it was then */
	uint64_t count;
	uint64_t callers;	/* a hash of them, after heap_errors_check(), */
	uint64_t users;		/* ... without those of the C library further in
				   than others; 0: none is */
};

/* More are counted only: nobody reads them. */
#define HEAP_ERRORS_MOST 1000u

struct heap_errors {
	struct heap_error *list;
	size_t count, room;
	uint64_t all;		/* each time, also of those not in the list */
	size_t last;		/* of them, the one that happened last */
	uint64_t last_end;	/* what it had written ends here */
};

void heap_errors_release(struct heap_errors *errors);

/* Adds one with `count` 1. */
int heap_errors_add(struct heap_errors *errors, const struct heap_error *error);

/*
 * Joins what the same callers have done, and removes what allocators do by
 * themselves when a thread ends: all frames are in modules that have functions of
 * an allocator, and none is in the program.  Moves the query's replayer.
 */
int heap_errors_check(struct heap_errors *errors, struct query *query,
		      const struct call_functions *functions,
		      struct failure *why);

#endif
