/* SPDX-License-Identifier: GPL-2.0-or-later */
/* streams_internal.h - where parts of streams are, for files of this room */
#ifndef CPREC_REPLAYER_RECORDING_STREAMS_INTERNAL_H
#define CPREC_REPLAYER_RECORDING_STREAMS_INTERNAL_H

#include "replayer/recording/recording_data.h"
#include "replayer/recording/streams.h"

/* The stream in a segment, or NULL if it has nothing there. */
const struct stream_part *recording_part(const struct recording *recording,
					 size_t segment, uint32_t stream);

/* The part at a place. */
const struct stream_part *recording_part_at(const struct recording *recording,
					    const struct part_place *place);

/* Where the stream last had something up to a segment, or NULL. */
const struct part_place *
recording_newest_place(const struct recording *recording, size_t segment,
		       uint32_t stream);

#endif
