/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program_list.h - what a process was, one program after the other */
#ifndef CPREC_REPLAYER_RECORDING_PROGRAM_LIST_H
#define CPREC_REPLAYER_RECORDING_PROGRAM_LIST_H

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

/* Frees what it gave; for this room. */
void recording_forget_programs(struct recording *recording);

#endif
