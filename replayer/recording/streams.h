/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streams.h - the streams of a recording: each is what one thread did
 *
 * Streams are counted from 0 in the order in which their threads began; a
 * thread has the number of its stream.  But when one executes a program, all
 * others end, and it goes on, in its stream, as the first: thread 0 is what has
 * the process's own number (execs.h).
 */
#ifndef CPREC_REPLAYER_RECORDING_STREAMS_H
#define CPREC_REPLAYER_RECORDING_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/key_frame.h"
#include "formats/trace_file.h"

struct failure;
struct recording;

/* How many there were, ever: they have the numbers from 0 up to that. */
size_t recording_threads(const struct recording *recording);

/*
 * The streams that have a key frame or packets in a segment; the first one is
 * that of the segment's first key frame.
 */
const uint32_t *recording_streams(const struct recording *recording,
				  size_t segment, size_t *count);

/*
 * `kind` is CHUNK_EVENTS or CHUNK_READS; the parts are joined; free() it.  A
 * stream that has nothing in the segment is empty.
 */
int recording_stream(struct recording *recording, size_t segment,
		     uint32_t stream, enum chunk_kind kind, uint8_t **bytes,
		     size_t *size, struct failure *why);

/* When a thread, and its stream, began; cheaper than recording_thread(). */
uint64_t recording_first(const struct recording *recording, uint32_t thread);

/* The guest's number of a thread; the same. */
int recording_tid(struct recording *recording, uint32_t thread, uint32_t *tid,
		  struct failure *why);

/* ERR_NOT_FOUND if there is never a thread `tid`. */
int recording_has_tid(struct recording *recording, uint32_t tid,
		      struct failure *why);

/*
 * Whether the stream has a key frame in the segment; it is that of its start
 * if its time is the segment's.
 */
bool recording_has_frame(const struct recording *recording, size_t segment,
			 uint32_t stream);

/*
 * The newest key frame of a stream, of the segment or one before: the thread
 * stands there until it first runs in the segment.  ERR_NOT_FOUND if it begins
 * in a later one.
 */
int recording_thread_frame(struct recording *recording, size_t segment,
			   uint32_t stream, struct key_frame *out,
			   struct failure *why);

#endif
