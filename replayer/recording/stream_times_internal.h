/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream_times_internal.h - slices and steps of streams, for this room */
#ifndef CPREC_REPLAYER_RECORDING_STREAM_TIMES_INTERNAL_H
#define CPREC_REPLAYER_RECORDING_STREAM_TIMES_INTERNAL_H

#include "replayer/recording/slices.h"
#include "replayer/recording/stream_times.h"

/* The slices of a segment, the last one up to the segment's end; kept. */
int recording_slices(struct recording *recording, size_t segment,
		     const struct slices **out, struct failure *why);

/* Steps in a stream before time `t`, of whichever threads. */
int recording_stream_steps(struct recording *recording, uint32_t stream,
			   uint64_t t, uint64_t *steps, struct failure *why);

#endif
