/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording.h - a recording, opened for reading
 *
 * Puts the chunks of a trace file in order: segments with their key frames
 * and streams, stored pages, symbols.  It executes nothing.
 *
 * Each thread of the guest is a stream, counted from 0 in the order in which
 * they began.  A segment has one key frame of the process, which is that of
 * the thread that runs when it starts, and others for threads.
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
#ifndef CPREC_REPLAYER_RECORDING_RECORDING_H
#define CPREC_REPLAYER_RECORDING_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/key_frame.h"
#include "formats/meta.h"
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

/* The first time there is, which need not be 0: that of the first key frame. */
uint64_t recording_start(const struct recording *recording);

/* The last time there is; also recording_time(recording, segments). */
uint64_t recording_end(const struct recording *recording);

/* The segment that holds time `t` (the last one for the end); start <= t <= end. */
size_t recording_segment_at(const struct recording *recording, uint64_t t);

/*
 * Whether the end of this segment was lost: it is the last one of a recording
 * that was cut short.
 */
bool recording_is_cut(const struct recording *recording, size_t segment);

/* The segment's first key frame: of the process, and the thread that runs. */
int recording_key_frame(struct recording *recording, size_t segment,
			struct key_frame *out, struct failure *why);

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

/* A stored page, and where its contents go. */
struct page_want {
	uint64_t id;		/* not 0 */
	uint8_t *to;
};

/*
 * The contents of many pages, which costs less for each than of one, with the
 * help of other threads.  Sorts the list.
 */
int recording_read_pages(struct recording *recording, struct page_want *list,
			 size_t count, struct failure *why);

/* Whether anything is mapped at `addr` as of time `t`; t <= end. */
int recording_is_mapped(struct recording *recording, uint64_t t, uint64_t addr,
			bool *mapped, struct failure *why);

/*
 * Whether it may be memory that is shared there: the kernel writes to that
 * while it is doubtful, which the page index does not tell.
 */
int recording_may_be_shared(struct recording *recording, uint64_t t,
			    uint64_t addr, bool *shared, struct failure *why);

/*
 * The address under which the contents at `addr` are known as of time `t`:
 * that of a common page, or the same.
 */
int recording_home(struct recording *recording, uint64_t t, uint64_t addr,
		   uint64_t *home, struct failure *why);

/* ------- threads ------- */

struct recording_thread {
	uint32_t tid;		/* the guest's number */
	uint64_t first, last;	/* times: it began, it ended or was last seen;
				   behind the end of a recording that was cut
				   short, if what it did was lost */
	uint64_t steps_before;	/* its own, up to `first`: 0, unless it is older
				   than the recording */
	uint64_t steps;		/* its own, up to `last` */
	bool has_ended;		/* else it was there to the end, or it is not
				   known what became of it */
};

/*
 * How many threads there were, ever: they have the numbers of their streams,
 * from 0 up to that.  But when one executes a program, all others end, and it
 * goes on, in its stream, as the first: thread 0 is what has the process's own
 * number.
 */
size_t recording_threads(const struct recording *recording);

int recording_thread(struct recording *recording, uint32_t thread,
		     struct recording_thread *out, struct failure *why);

/* When a thread, and its stream, began; cheaper than recording_thread(). */
uint64_t recording_first(const struct recording *recording, uint32_t thread);

/* The guest's number of a thread; the same. */
int recording_tid(struct recording *recording, uint32_t thread, uint32_t *tid,
		  struct failure *why);

/*
 * Thread `tid` as of time `t`: of several with this number, the newest that
 * had begun.  ERR_NOT_FOUND if none had.
 */
int recording_find_thread(struct recording *recording, uint32_t tid, uint64_t t,
			  uint32_t *thread, struct failure *why);

/* The stream that performs a thread at time `t`, or did until it ended. */
uint32_t recording_performer(struct recording *recording, uint32_t thread,
			     uint64_t t);

/* The thread that a stream performs at time `t`; the same. */
uint32_t recording_performed(struct recording *recording, uint32_t stream,
			     uint64_t t);

/* Whether another thread's exec has ended what the stream performs. */
bool recording_was_replaced(struct recording *recording, uint32_t stream,
			    uint64_t t);

/* Whether what the stream performs ends by itself, and when. */
int recording_exit(struct recording *recording, uint32_t stream, bool *exits,
		   uint64_t *time, struct failure *why);

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

/* The stream that runs at time `t`, or that will next. */
int recording_running(struct recording *recording, uint64_t t,
		      uint32_t *stream, struct failure *why);

/*
 * Steps of a thread, since it began, before time `t`.  ERR_NOT_FOUND if it has not begun
 * then; if it has ended, all of them.
 */
int recording_steps(struct recording *recording, uint32_t thread, uint64_t t,
		    uint64_t *steps, struct failure *why);

/*
 * The first time at which thread `tid` had retired `steps` instructions.
 * ERR_NOT_FOUND if there is no such thread, or it never had so many.
 */
int recording_time_of(struct recording *recording, uint32_t tid,
		      uint64_t steps, uint64_t *t, struct failure *why);

/* ------- programs ------- */

/* What the process was, from a time on. */
struct recording_program {
	uint64_t time;		/* its first instruction comes next */
	uint32_t stream;	/* of the thread that executed it */
	struct program_image image;
};

/*
 * The programs that the process was, by time; the first is the one of the meta
 * data.
 */
int recording_programs(struct recording *recording,
		       const struct recording_program **list, size_t *count,
		       struct failure *why);

#endif
