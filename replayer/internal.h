/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * internal.h - a replayer's state, for the files that make it up
 *
 * replayer.c goes to a time; check.c compares with the recording.
 */
#ifndef CPREC_REPLAYER_INTERNAL_H
#define CPREC_REPLAYER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "formats/error.h"
#include "replayer/replayer.h"
#include "replayer/script.h"
#include "vm/memory.h"
#include "vm/vm.h"

/* A doubtful page that somebody looked at without the guest's doing. */
struct peeked {
	uint64_t page, doubt;
};

struct replayer {
	struct recording *recording;
	struct vm *vm;
	struct memory *memory;
	const struct reg_table *regs;
	struct cache cache;

	bool loaded;		/* stands somewhere */
	bool in_order;		/* never jumps forwards */
	size_t base;		/* absent pages are as of this segment */
	struct segment_index index;	/* of the segment `base` */
	size_t segment;
	uint64_t start;		/* time of the segment's key frame */
	struct script script;
	size_t next;		/* event that comes next */

	replayer_output *output;
	void *output_context;

	bool running;
	struct peeked *peeked;
	size_t peeked_count, peeked_room;

	int error;		/* first failure inside an observer */
	struct failure why;
};

/* Makes the guest, without a program in it. */
int replayer_make_vm(struct replayer *rep, struct failure *why);

#endif
