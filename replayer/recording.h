/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording.h - a recording, opened for reading
 *
 * Puts the chunks of a trace file in order: segments with their key frames
 * and streams, stored pages, symbols.  It executes nothing.
 *
 * A recording that was cut short is usable up to its last whole segment part:
 * a segment counts as soon as its key frame is there.
 *
 * Units:      times and steps are retired instructions; segments count from 0.
 * Ownership:  what a function returns by pointer-to-const belongs to the
 *             recording; what it fills in is the caller's to release.
 * Errors:     those of trace_file.h; ERR_NOT_FOUND.
 * Threads:    one at a time (it keeps a cache of unpacked pages).
 */
#ifndef CPREC_REPLAYER_RECORDING_H
#define CPREC_REPLAYER_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/key_frame.h"
#include "formats/meta.h"
#include "formats/symbols.h"
#include "formats/trace_file.h"

struct failure;
struct recording;

int recording_open(struct recording **out, const char *path,
		   struct failure *why);
void recording_close(struct recording *recording);

const struct trace_reader *recording_reader(const struct recording *recording);
const struct reg_table *recording_reg_table(const struct recording *recording);
const struct meta *recording_meta(const struct recording *recording);

/* NULL if the recording was cut short. */
const struct summary *recording_summary(const struct recording *recording);

size_t recording_segments(const struct recording *recording);

/* Time of a segment's key frame; of its end with segment + 1. */
uint64_t recording_time(const struct recording *recording, size_t segment);

/* The last time there is; also recording_time(recording, segments). */
uint64_t recording_end(const struct recording *recording);

/* The segment that holds time `t` (the last one for the end); t <= end. */
size_t recording_segment_at(const struct recording *recording, uint64_t t);

int recording_key_frame(struct recording *recording, size_t segment,
			struct key_frame *out, struct failure *why);

/* `kind` is CHUNK_EVENTS or CHUNK_READS; the parts are joined; free() it. */
int recording_stream(struct recording *recording, size_t segment,
		     enum chunk_kind kind, uint8_t **bytes, size_t *size,
		     struct failure *why);

/* An empty index with steps 0 means that the recording has none here. */
int recording_index(struct recording *recording, size_t segment,
		    struct segment_index *out, struct failure *why);

/*
 * Which stored page holds `page` as of the key frame of `segment`, by the
 * chain of snapshot lists.  0 if none does (zeros, doubtful or not mapped).
 */
int recording_snapshot(struct recording *recording, size_t segment,
		       uint64_t page, uint64_t *id, struct failure *why);

/* The contents of a stored page; id 0 gives zeros. */
int recording_page(struct recording *recording, uint64_t id,
		   uint8_t bytes[GUEST_PAGE], struct failure *why);

/* Whether anything is mapped at `addr` as of time `t`; t <= end. */
int recording_is_mapped(struct recording *recording, uint64_t t, uint64_t addr,
			bool *mapped, struct failure *why);

/* ------- symbols ------- */

/*
 * Finds `name` in any module that is mapped at the key frame of `segment` or
 * in the segment, the program first.  "MODULE!NAME" looks in that module
 * only.  ERR_NOT_FOUND.
 */
int recording_find_symbol(struct recording *recording, size_t segment,
			  const char *name, uint64_t *addr, uint64_t *size,
			  struct failure *why);

/*
 * Names the code or data at `addr`: "main+0x12" or "libc.so.6!free+0x4" for
 * another module than the program.  False if nothing covers it.
 */
bool recording_name(struct recording *recording, size_t segment,
		    uint64_t addr, char *text, size_t room);

#endif
