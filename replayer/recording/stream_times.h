/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream_times.h - when streams run, and when they end */
#ifndef CPREC_REPLAYER_RECORDING_STREAM_TIMES_H
#define CPREC_REPLAYER_RECORDING_STREAM_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct failure;
struct recording;

/* The stream that runs at time `t`, or that will next. */
int recording_running(struct recording *recording, uint64_t t,
		      uint32_t *stream, struct failure *why);

/*
 * Whether all that happens from time `first` to time `last`, events at both
 * included, happens to one stream.  False also if what is left of a segment
 * that was cut short does not tell.
 */
int recording_runs_alone(struct recording *recording, uint64_t first,
			 uint64_t last, bool *alone, struct failure *why);

/* Whether the stream's thread ends by itself, and when. */
int recording_exit(struct recording *recording, uint32_t stream, bool *exits,
		   uint64_t *time, struct failure *why);

/* Whether it has ended before a segment. */
int recording_has_ended(struct recording *recording, uint32_t stream,
			size_t segment, bool *has_ended, struct failure *why);

#endif
