/* SPDX-License-Identifier: GPL-2.0-or-later */
/* segments.c - ending a segment and starting the next with a key frame */
#include "recorder/recorder_internal.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/clock.h"

/*
 * Each thread has a clock of its own.  If another one began the segment, what
 * the steps took is guessed: ns for each, a usual figure.
 */
#define TIME_GUESSED 2

static uint64_t time_taken(const struct recorder *rec, uint64_t steps)
{
	uint64_t now;

	if (!pthread_equal(rec->segment.timed_by, pthread_self()))
		return steps * TIME_GUESSED;
	now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return now > rec->segment.time ? now - rec->segment.time : 0;
}

struct segment_costs segment_costs(const struct recorder *rec)
{
	uint64_t steps = vm_steps(rec->vm) - rec->segment.start;

	return (struct segment_costs) {
		.number = rec->segment.number,
		.steps = steps,
		.time = steps < PACING_TIMED_STEPS ? 0 :
					      time_taken(rec, steps),
		.touched = rec->touched.count,
		.written = rec->touched.written,
		.touches = memory_touches(rec->memory) - rec->segment.touches,
		.targets = vm_targets(rec->vm),
	};
}

/* ------- pages ------- */

int segment_write_pages(struct recorder *rec, bool all, struct failure *why)
{
	struct page_batch *batch = &rec->pages.batch;
	uint32_t count = batch->count;

	if (!count || (!all && !page_batch_is_full(batch)))
		return 0;
	page_batch_end(batch);
	return sharing_write_pages(rec, count, why);
}

/* ------- streams ------- */

static int flush_stream(struct recorder *rec, struct stream *stream, bool end,
			struct failure *why)
{
	int rc = 0;

	if (end)
		prediction_finish(&stream->reads);
	else
		prediction_cut(&stream->reads);
	if (stream->reads.stream.size)
		rc = trace_writer_chunk(rec->trace.writer, CHUNK_READS,
					stream->number, rec->segment.number, 0,
					&stream->reads.stream, why);
	if (!rc && stream->events.size)
		rc = trace_writer_chunk(rec->trace.writer, CHUNK_EVENTS,
					stream->number, rec->segment.number, 0,
					&stream->events, why);
	return rc;
}

int segment_flush(struct recorder *rec, bool end, struct failure *why)
{
	int rc = segment_write_pages(rec, true, why);

	/* First the stream that ran at the last flush: its slice has gone on
	 * since, and a file that ends early must not have the next slice
	 * without the rest of this one. */
	if (!rc && rec->flush.in)
		rc = flush_stream(rec, rec->flush.in, end, why);
	for (size_t i = 0; i < rec->threads.count && !rc; i++)
		if (rec->threads.list[i] != rec->flush.in)
			rc = flush_stream(rec, rec->threads.list[i], end, why);
	if (!rc)
		rc = moments_write(rec, why);
	rec->flush.in = rec->stream;
	clock_gettime(CLOCK_MONOTONIC, &rec->flush.time);
	rec->flush.events = 0;
	return rc;
}

/* ------- the index ------- */

static int by_page(const void *left, const void *right)
{
	const struct page_touch *a = left, *b = right;

	if (a->page != b->page)
		return a->page < b->page ? -1 : 1;
	if (a->doubt != b->doubt)
		return a->doubt < b->doubt ? -1 : 1;
	return 0;
}

/* Joins touches of one page and doubt; the earliest write counts. */
void segment_merge_touches(struct recorder *rec)
{
	size_t out = 0;

	qsort(rec->touched.list, rec->touched.count, sizeof(*rec->touched.list),
	      by_page);
	for (size_t i = 0; i < rec->touched.count; i++) {
		const struct page_touch *touch = &rec->touched.list[i];
		struct page_touch *last = out ? &rec->touched.list[out - 1]
					      : NULL;

		if (!last || last->page != touch->page ||
		    last->doubt != touch->doubt) {
			rec->touched.list[out++] = *touch;
			continue;
		}
		if ((touch->how & PAGE_WAS_WRITTEN) &&
		    (!(last->how & PAGE_WAS_WRITTEN) ||
		     touch->write_time < last->write_time))
			last->write_time = touch->write_time;
		last->how |= touch->how;
	}
	rec->touched.count = out;
}

static int write_index(struct recorder *rec, struct failure *why)
{
	struct segment_index index = {
		.steps = vm_steps(rec->vm) - rec->segment.start,
		.pages = rec->touched.list,
		.page_count = rec->touched.count,
	};
	struct output out = { 0 };

	segment_index_encode(&out, &index);
	if (out.error) {
		output_release(&out);
		return failed(why, out.error, "out of memory");
	}
	return trace_writer_chunk(rec->trace.writer, CHUNK_INDEX,
				  rec->stream->number,
				  rec->segment.number, 0, &out, why);
}

/* ------- the key frame ------- */

struct doubts {
	struct doubt_range *list;
	size_t count, room;
	bool failed;
};

static void add_doubt(void *context, uint64_t page, uint64_t count,
		      uint64_t doubt)
{
	struct doubts *doubts = context;

	if (array_room(doubts->list, doubts->count, doubts->room)) {
		doubts->failed = true;
		return;
	}
	doubts->list[doubts->count++] =
		(struct doubt_range){ page, count, doubt };
}

static size_t words_in_use(const struct cache *cache)
{
	size_t used = 0;

	for (size_t i = 0; i < cache->entries; i++)
		used += cache->words[i] != 0;
	return used;
}

/*
 * The key frame stores the prediction cache, or the cache starts empty.  To
 * store it costs its words in use; to empty it costs at most the hits that they
 * would have brought, estimated by those of the segment before.
 */
static bool pays_to_store(const struct stream *stream)
{
	uint64_t hits = stream->reads.total_hits - stream->hits_before;

	return hits > words_in_use(&stream->cache);
}

/* Adds the thread's own parts to a key frame, and writes it. */
static int write_frame(struct recorder *rec, struct stream *stream,
		       struct key_frame *frame, struct failure *why)
{
	struct output out = { 0 };

	frame->time = vm_steps(rec->vm);
	frame->doubt = memory_doubt(rec->memory);
	frame->steps = stream->steps;
	frame->tid = stream->tid;
	frame->cache_entries = (unsigned)stream->cache.entries;
	if (pays_to_store(stream)) {
		frame->cache = (uint8_t *)stream->cache.words;
		frame->cache_size = stream->cache.entries * 8;
	} else {
		cache_flush(&stream->cache);
	}
	stream->hits_before = stream->reads.total_hits;
	key_frame_encode(&out, rec->regs, frame);
	stream->has_run = false;
	if (out.error) {
		output_release(&out);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	return trace_writer_chunk(rec->trace.writer, CHUNK_KEY_FRAME,
				  stream->number, rec->segment.number,
				  frame->time, &out, why);
}

int segment_write_thread(struct recorder *rec, struct stream *stream,
			 struct failure *why)
{
	struct vm_thread *present = vm_thread_current(rec->vm);
	struct key_frame frame = { 0 };

	vm_thread_switch(rec->vm, stream->vm_thread);
	vm_registers(rec->vm, &frame.regs);
	vm_thread_switch(rec->vm, present);
	return write_frame(rec, stream, &frame, why);
}

/* Threads that have not run since their newest key frame need no other. */
static int write_threads(struct recorder *rec, struct failure *why)
{
	int rc = 0;

	for (size_t i = 0; i < rec->threads.count && !rc; i++) {
		struct stream *stream = rec->threads.list[i];

		if (stream->has_run && !stream->has_ended)
			rc = segment_write_thread(rec, stream, why);
	}
	return rc;
}

static int write_key_frame(struct recorder *rec, const struct snapshot *shot,
			   struct failure *why)
{
	struct key_frame frame = {
		.pages = shot->list,
		.page_count = shot->count,
	};
	struct doubts doubts = { 0 };
	int rc;

	vm_registers(rec->vm, &frame.regs);
	frame.regions = (struct region *)memory_all_regions(
		rec->memory, &frame.region_count);
	memory_each_doubt(rec->memory, add_doubt, &doubts);
	frame.doubts = doubts.list;
	frame.doubt_count = doubts.count;
	rc = doubts.failed ? failed(why, ERR_NO_MEMORY, "out of memory") :
			     write_frame(rec, rec->stream, &frame, why);
	free(doubts.list);
	return rc ? rc : write_threads(rec, why);
}

static void start_lists(struct recorder *rec)
{
	rec->segment.start = vm_steps(rec->vm);
	rec->segment.time = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	rec->segment.timed_by = pthread_self();
	rec->segment.touches = memory_touches(rec->memory);
	rec->flush.in = rec->stream;
	rec->stream->has_run = true;
	moments_look(rec, true);
	vm_count_targets(rec->vm);
	rec->touched.count = 0;
	rec->touched.fresh_count = 0;
	rec->touched.written = 0;
}

int segment_end(struct recorder *rec, struct failure *why)
{
	int rc;

	moments_look(rec, true);
	rc = segment_flush(rec, true, why);
	segment_merge_touches(rec);
	return rc ? rc : write_index(rec, why);
}

int segment_start(struct recorder *rec, struct failure *why)
{
	struct snapshot shot = { 0 };
	bool started = rec->started;
	int rc = 0;

	/*
	 * Memory that other processes may change is in no snapshot.  The key
	 * frame, not a packet of the segment before, says that it is doubtful
	 * from here on.
	 */
	rec->started = false;
	memory_doubt_shared(rec->memory);
	rec->started = started;
	if (rec->started) {
		rc = segment_end(rec, why);
		rec->segment.number++;
	} else {
		segment_merge_touches(rec);
	}
	streams_start_segment(rec);
	if (!rc)
		rc = snapshot_take(rec, &shot, why);
	if (!rc)
		rc = write_key_frame(rec, &shot, why);
	if (!rc)
		rc = snapshot_write(rec, &shot, why);
	free(shot.list);
	if (rc)
		return rc;
	start_lists(rec);
	rec->started = true;
	memory_arm(rec->memory);
	return 0;
}
