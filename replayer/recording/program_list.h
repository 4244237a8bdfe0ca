/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program_list.h - what a process was, one program after the other */
#ifndef CPREC_REPLAYER_RECORDING_PROGRAM_LIST_H
#define CPREC_REPLAYER_RECORDING_PROGRAM_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/meta.h"

struct failure;
struct recording;

/* What the process was, from a time on. */
struct recording_program {
	uint64_t time;		/* its first instruction comes next */
	uint32_t stream;	/* of the thread that executed it */
	struct program_image image;
};

/*
 * The programs that the process was, by time; the first is the one of the meta
 * data.
 */
int recording_programs(struct recording *recording,
		       const struct recording_program **list, size_t *count,
		       struct failure *why);

/*
 * Which recorded process has forked this one, if at time `t` it still is the
 * program that it was then: what memory holds may have been written by that.
 */
bool recording_find_parent(struct recording *recording, uint64_t t,
			   struct origin *out);

/* Frees what it gave; for this room. */
void recording_forget_programs(struct recording *recording);

#endif
