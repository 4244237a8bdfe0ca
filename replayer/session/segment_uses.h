/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segment_uses.h - which segments may have accessed some memory
 *
 * Units:      times are retired instructions of the recording.
 * Errors:     those of recording.h.
 */
#ifndef CPREC_REPLAYER_SESSION_SEGMENT_USES_H
#define CPREC_REPLAYER_SESSION_SEGMENT_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"
#include "replayer/recording/recording.h"
#include "replayer/session/query.h"

/* Where a segment begins, before what happens in it; or the recording's end. */
int segment_begin(struct query *query, size_t segment, struct position *out,
		  struct failure *why);

struct segment_use {
	guest_addr addr;
	uint64_t size;		/* at least 1 */
	bool reads;		/* not only writes */
};

/*
 * Whether the summarization index leaves open that there is such an access.
 * `*everywhere` if the memory may have another home meanwhile.
 */
int segment_may_access(struct query *query, size_t segment,
		       const struct segment_use *use, bool *may,
		       bool *everywhere, struct failure *why);

#endif
