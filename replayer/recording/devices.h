/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * devices.h - what a machine's devices were at key frames
 *
 * For whoever lets the machine go on; a replay needs none of it.
 */
#ifndef CPREC_REPLAYER_RECORDING_DEVICES_H
#define CPREC_REPLAYER_RECORDING_DEVICES_H

#include <stddef.h>
#include <stdint.h>

#include "replayer/recording/page_want.h"

struct failure;
struct recording;

/* Their state at the key frame of a segment; NULL: that is not there. */
int recording_devices(struct recording *recording, size_t segment,
		      uint8_t **bytes, size_t *size, struct failure *why);

/*
 * The blocks of disks that were written before that key frame, as they were at the
 * next key frame: a later call for the same block is the newer one.
 */
int recording_disks(struct recording *recording, size_t segment,
		    void (*block)(void *context, unsigned disk, uint64_t block,
				  const uint8_t bytes[GUEST_PAGE]),
		    void *context, struct failure *why);

#endif
