/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * broken_turns.h - how often a thread's turn ended though it could go on
 *
 * Not by itself, in a system call that waits or at its end, but because its time
 * was up: only there can another thread come between two instructions.
 *
 * Errors:     those of packets.h.
 */
#ifndef CPREC_REPLAYER_RECORDING_BROKEN_TURNS_H
#define CPREC_REPLAYER_RECORDING_BROKEN_TURNS_H

#include <stdint.h>

struct failure;
struct recording;

/* Of those that it got back. */
int recording_broken_turns(struct recording *recording, uint64_t *out,
			   struct failure *why);

#endif
