/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * touches.h - what the first touches of doubtful pages found
 *
 * It stands in the streams of their segments, so nothing is executed.  Those of
 * the segment that was last asked for are kept.
 *
 * Ownership:  touches_destroy() frees; the recording is borrowed.
 * Errors:     ERR_NO_MEMORY, ERR_CORRUPT (there is no such touch), those of
 *             recording.h.
 */
#ifndef CPREC_REPLAYER_TOUCHES_H
#define CPREC_REPLAYER_TOUCHES_H

#include <stddef.h>
#include <stdint.h>

#include "formats/key_frame.h"
#include "formats/region.h"

struct failure;
struct recording;
struct touches;

int touches_create(struct touches **out, struct recording *recording,
		   struct failure *why);
void touches_destroy(struct touches *touches);

/* What the page held that `touch` names, as the index of the segment does. */
int touches_contents(struct touches *touches, size_t segment,
		     const struct page_touch *touch, uint8_t bytes[GUEST_PAGE],
		     struct failure *why);

#endif
