/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segments.h - what a recording is of, and its segments
 *
 * Times and errors as in recording.h.
 */
#ifndef CPREC_REPLAYER_RECORDING_SEGMENTS_H
#define CPREC_REPLAYER_RECORDING_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/key_frame.h"
#include "formats/meta.h"
#include "formats/trace_file.h"

struct failure;
struct recording;

const struct trace_reader *recording_reader(const struct recording *recording);

const struct reg_table *recording_reg_table(const struct recording *recording);

/* Whether it is of a machine, rather than of a program. */
bool recording_is_machine(const struct recording *recording);

/* ERR_INPUT if it is: what is asked next can be asked of programs only. */
int recording_check_program(const struct recording *recording,
			    struct failure *why);

const struct meta *recording_meta(const struct recording *recording);

/* NULL if the recording was cut short. */
const struct summary *recording_summary(const struct recording *recording);

size_t recording_segments(const struct recording *recording);

/* Time of a segment's key frame; of its end with segment + 1. */
uint64_t recording_time(const struct recording *recording, size_t segment);

/* The first time there is, which need not be 0: that of the first key frame. */
uint64_t recording_start(const struct recording *recording);

/* The last time there is; also recording_time(recording, segments). */
uint64_t recording_end(const struct recording *recording);

/*
 * The segment that holds time `t` (the last one for the end), which is in the
 * recording.
 */
size_t recording_segment_at(const struct recording *recording, uint64_t t);

/*
 * Whether the end of this segment was lost: it is the last one of a recording
 * that was cut short.
 */
bool recording_is_cut(const struct recording *recording, size_t segment);

/* The segment's first key frame: of the process, and the thread that runs. */
int recording_key_frame(struct recording *recording, size_t segment,
			struct key_frame *out, struct failure *why);

/* An empty index with steps 0 means that the recording has none here. */
int recording_index(struct recording *recording, size_t segment,
		    struct segment_index *out, struct failure *why);

#endif
