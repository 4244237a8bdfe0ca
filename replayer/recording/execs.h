/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * execs.h - which stream is which thread: an exec can change it
 *
 * When a thread executes a program, the others end.  It goes on in its stream,
 * but as the first thread of the process, whose number it gets.
 */
#ifndef CPREC_REPLAYER_RECORDING_EXECS_H
#define CPREC_REPLAYER_RECORDING_EXECS_H

#include <stdbool.h>
#include <stdint.h>

struct recording;

/* The stream of a thread at time `t`; of one that has ended, the last. */
uint32_t recording_stream_of(struct recording *recording, uint32_t thread,
			     uint64_t t);

/* The thread of a stream at time `t`; the same. */
uint32_t recording_thread_of(struct recording *recording, uint32_t stream,
			     uint64_t t);

/* Whether another thread's exec has ended the stream's thread. */
bool recording_was_replaced(struct recording *recording, uint32_t stream,
			    uint64_t t);

#endif
