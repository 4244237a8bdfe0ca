/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * end.h - where a recording ends: also one that was cut short, or is damaged
 *
 * Private to this room.
 */
#ifndef CPREC_REPLAYER_RECORDING_END_H
#define CPREC_REPLAYER_RECORDING_END_H

struct failure;
struct recording;

/*
 * Finds the last time of a recording whose chunks are in order.  Without a
 * summary, what cannot be used is left out: its chunks are put in order anew.
 */
int recording_find_end(struct recording *recording, struct failure *why);

#endif
