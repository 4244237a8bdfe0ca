/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mapped.h - what is mapped at an address at a time */
#ifndef CPREC_REPLAYER_RECORDING_MAPPED_H
#define CPREC_REPLAYER_RECORDING_MAPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "replayer/recording/position.h"

struct failure;
struct recording;

/* Whether anything is mapped at `addr` at a position. */
int recording_is_mapped(struct recording *recording,
			const struct position *position, uint64_t addr,
			bool *mapped, struct failure *why);

/*
 * Whether it may be memory that is shared there: the kernel writes to that
 * while it is doubtful, which the page index does not tell.
 */
int recording_may_be_shared(struct recording *recording, uint64_t t,
			    uint64_t addr, bool *shared, struct failure *why);

/*
 * The address under which the contents at `addr` are known as of time `t`:
 * that of a common page, or the same.
 */
int recording_home(struct recording *recording, uint64_t t, uint64_t addr,
		   uint64_t *home, struct failure *why);

#endif
