/* SPDX-License-Identifier: GPL-2.0-or-later */
/* segments_internal.h - segments.h, for files of this room */
#ifndef CPREC_REPLAYER_RECORDING_SEGMENTS_INTERNAL_H
#define CPREC_REPLAYER_RECORDING_SEGMENTS_INTERNAL_H

#include "replayer/recording/segments.h"

/* Decodes the key frame in a chunk. */
int recording_frame_in(struct recording *recording, uint32_t chunk,
		       struct key_frame *out, struct failure *why);

#endif
