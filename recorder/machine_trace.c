/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_trace.c - see machine_trace.h */
#include "recorder/machine_trace.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "formats/array.h"
#include "formats/elf_symbols.h"
#include "formats/error.h"
#include "formats/moments.h"
#include "formats/processor.h"
#include "formats/symbols.h"
#include "formats/trace_file.h"
#include "vm/vm.h"

#define LEVEL_DEFAULT 1		/* as of programs */

/*
 * Replaying a segment takes some 0.1 s.  Measured: a kernel that is idle or
 * computes writes 200 pages in one.
 */
#define SEGMENT_STEPS UINT64_C(50000000)

/* As of programs: what a replay unpacks before it starts, at most. */
#define STREAM_MOST (UINT64_C(16) << 20)

/* What is lost at most when the recorder is killed, in bytes and seconds. */
#define FLUSH_BYTES (1u << 20)
#define FLUSH_SECONDS 1

static int no_memory(struct failure *why)
{
	return failed(why, ERR_NO_MEMORY, "out of memory");
}

/* Writes what was encoded. */
static int write_of(struct machine_trace *trace, unsigned stream,
		    enum chunk_kind kind, uint64_t first, struct output *out,
		    struct failure *why)
{
	if (out->error) {
		output_release(out);
		return no_memory(why);
	}
	return trace_writer_chunk(trace->writer, kind, stream,
				  kind == CHUNK_META ? 0 : trace->segment,
				  first, out, why);
}

static int write_chunk(struct machine_trace *trace, enum chunk_kind kind,
		       uint64_t first, struct output *out, struct failure *why)
{
	return write_of(trace, 0, kind, first, out, why);
}

/* ------- how it begins ------- */

static int64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static int write_meta(struct machine_trace *trace, const char *image,
		      const uint8_t *run, struct failure *why)
{
	const struct machine_options *options = trace->options;
	char host[220], directory[PATH_MAX], made_by[128];
	const struct live_kind *kind = options->live.kind;
	struct output out = { 0 };
	struct utsname name = { 0 };
	struct meta meta = {
		.argv = (char **)(uintptr_t)options->argv,
		.path = (char *)(uintptr_t)image,
		.directory = directory,
		.host = host,
		.made_by = made_by,
		.started = (uint64_t)time(NULL),
		.cache_entries = options->cache_entries,
		.processor = *processor_find(kind->arch,
					     kind->model(&options->live)),
	};

	while (meta.argv[meta.argc])
		meta.argc++;
	uname(&name);
	snprintf(host, sizeof(host), "%s %s %s", name.sysname, name.release,
		 name.machine);
	snprintf(made_by, sizeof(made_by), "%s, %s", options->made_by,
		 vm_engine());
	if (!getcwd(directory, sizeof(directory)))
		directory[0] = '\0';
	memcpy(meta.run, run, sizeof(meta.run));
	meta_encode(&out, &meta);
	return write_chunk(trace, CHUNK_META, 0, &out, why);
}

/* Of what is executed first, if it is an ELF file.  Names are a help. */
static int write_symbols(struct machine_trace *trace, const char *image,
			 struct failure *why)
{
	struct symbols symbols = { 0 };
	struct output out = { 0 };

	if (elf_symbols(&symbols, image, -1))
		return 0;
	symbols_encode(&out, &symbols);
	symbols_release(&symbols);
	return write_chunk(trace, CHUNK_SYMBOLS, 0, &out, why);
}

static int write_begin(struct machine_trace *trace, const uint8_t *run,
		       struct failure *why)
{
	const struct machine_options *options = trace->options;
	const char *image = options->live.kind->image(&options->live);
	char *path = realpath(image, NULL);
	int rc = write_meta(trace, path ? path : image, run, why);

	if (!rc && path)
		rc = write_symbols(trace, path, why);
	free(path);
	return rc;
}

static int add_stream(struct machine_trace *trace)
{
	struct machine_stream *stream = &trace->streams[trace->stream_count++];

	/* All have a key frame at the start. */
	stream->has_run = true;
	prediction_writer_init(&stream->reads, &stream->cache);
	return cache_init(&stream->cache, trace->options->cache_entries);
}

int machine_trace_open(struct machine_trace *trace,
		       const struct machine_options *options, unsigned cores,
		       struct failure *why)
{
	struct trace_header header = { .arch = options->live.kind->arch,
				       .features = FEATURES_OF_MACHINES };
	uint8_t run[RUN_ID_SIZE];
	int rc;

	*trace = (struct machine_trace){ .options = options };
	if (cores > 1)
		header.features |= FEATURE_CORES;
	rc = page_store_init(&trace->pages);
	for (unsigned i = 0; i < cores && !rc; i++)
		rc = add_stream(trace);
	if (rc)
		return no_memory(why);
	if (getrandom(header.id, sizeof(header.id), 0) < 0 ||
	    getrandom(run, sizeof(run), 0) < 0)
		return failed(why, ERR_SYSTEM, "cannot get random bytes");
	rc = trace_writer_open(&trace->writer, options->path, &header,
			       options->level ? options->level : LEVEL_DEFAULT,
			       why);
	return rc ? rc : write_begin(trace, run, why);
}

void machine_trace_close(struct machine_trace *trace)
{
	trace_writer_close(trace->writer);
	page_store_release(&trace->pages);
	for (unsigned i = 0; i < trace->stream_count; i++) {
		prediction_writer_release(&trace->streams[i].reads);
		cache_release(&trace->streams[i].cache);
		output_release(&trace->streams[i].events);
	}
	free(trace->touches);
	*trace = (struct machine_trace){ 0 };
}

/* ------- what happens ------- */

static struct machine_stream *present(struct machine_trace *trace)
{
	return &trace->streams[trace->stream];
}

static uint64_t own_steps(const struct machine_trace *trace, uint64_t steps)
{
	return trace->streams[trace->stream].steps +
	       (steps - trace->turn_start);
}

/* Who asks for thread 0 means the present one, if there are several. */
static uint32_t thread_of(const struct machine_trace *trace, unsigned core)
{
	return trace->stream_count > 1 ? core + 1 : core;
}

static void encode(struct machine_trace *trace, const struct packet *packet)
{
	struct machine_stream *stream = present(trace);

	packet_encode(&stream->events, &stream->state, packet);
}

void machine_trace_read(struct machine_trace *trace, uint64_t addr,
			uint64_t value, unsigned size)
{
	uint8_t bytes[sizeof(value)];

	for (unsigned i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	prediction_record(&present(trace)->reads, addr, bytes, size);
}

void machine_trace_event(struct machine_trace *trace, struct packet *packet,
			 uint64_t steps)
{
	uint64_t own = own_steps(trace, steps);

	packet->steps = own - present(trace)->event_steps;
	present(trace)->event_steps = own;
	if (packet->kind == PACKET_DMA)
		trace->dma_steps = steps;
	encode(trace, packet);
}

void machine_trace_turn(struct machine_trace *trace, unsigned core,
			uint64_t steps)
{
	struct packet packet = { .kind = PACKET_SLICE };
	struct machine_stream *stream;

	present(trace)->steps = own_steps(trace, steps);
	trace->stream = core;
	trace->turn_start = steps;
	stream = present(trace);
	stream->has_run = true;
	packet.slices = ++trace->slice - stream->state.slice;
	packet.steps = stream->steps - stream->event_steps;
	packet.skipped = (steps - trace->start) -
			 (stream->steps - stream->start) - stream->skipped;
	stream->skipped += packet.skipped;
	stream->event_steps = stream->steps;
	encode(trace, &packet);
}

void machine_trace_register(struct machine_trace *trace, unsigned reg,
			    uint64_t value)
{
	uint8_t bytes[sizeof(value)];
	enum arch arch = trace->options->live.kind->arch;
	const struct packet packet = {
		.kind = PACKET_REG, .number = reg,
		.size = reg_table(arch)->regs[reg].size, .value = bytes,
	};

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	encode(trace, &packet);
}

void machine_trace_write(struct machine_trace *trace, uint64_t addr,
			 const uint8_t *bytes, uint64_t size)
{
	const struct packet packet = {
		.kind = PACKET_WRITE, .addr = addr, .size = size,
	};

	encode(trace, &packet);
	prediction_record(&present(trace)->reads, addr, bytes, size);
}

void machine_trace_output(struct machine_trace *trace, uint64_t addr,
			  uint64_t size)
{
	const struct packet packet = {
		.kind = PACKET_OUTPUT, .number = 1, .addr = addr, .size = size,
	};

	encode(trace, &packet);
}

/* ------- writing it ------- */

static size_t waiting(const struct machine_trace *trace)
{
	size_t size = 0;

	for (unsigned i = 0; i < trace->stream_count; i++)
		size += trace->streams[i].events.size +
			prediction_waiting(&trace->streams[i].reads);
	return size;
}

bool machine_trace_is_due(const struct machine_trace *trace)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return waiting(trace) >= FLUSH_BYTES ||
	       now.tv_sec > trace->flush.tv_sec + FLUSH_SECONDS;
}

/* The time until which all is in the file. */
static int write_moment(struct machine_trace *trace, uint64_t steps,
			struct failure *why)
{
	const struct moment moment = { steps, clock_now() };
	struct output out = { 0 };

	moments_encode(&out, &moment, 1);
	return write_chunk(trace, CHUNK_MOMENTS, 0, &out, why);
}

/* Pages that wait; unless all are wanted, when they fill a chunk. */
static int write_stored(struct machine_trace *trace, bool all,
			struct failure *why)
{
	struct page_store *store = &trace->pages;
	uint32_t count = store->batch.count;
	uint64_t first = store->batch_first;

	if (!count || (!all && !page_batch_is_full(&store->batch)))
		return 0;
	page_batch_end(&store->batch);
	if (store->batch.pages.error)
		return no_memory(why);
	return trace_writer_chunk(trace->writer, CHUNK_PAGES, count,
				  trace->segment, first, &store->batch.pages,
				  why);
}

int machine_trace_stored(struct machine_trace *trace, uint64_t addr,
			 const uint8_t *bytes, struct failure *why)
{
	struct packet packet = {
		.kind = PACKET_STORED, .addr = addr, .source = TOUCH_STORED,
	};

	if (page_store_add(&trace->pages, addr >> GUEST_PAGE_SHIFT, bytes,
			   &packet.page_id))
		return no_memory(why);
	encode(trace, &packet);
	return write_stored(trace, false, why);
}

/* What is read comes before the events that it belongs to. */
static int write_stream(struct machine_trace *trace, unsigned number, bool ends,
			struct failure *why)
{
	struct machine_stream *stream = &trace->streams[number];
	int rc = 0;

	if (ends)
		prediction_finish(&stream->reads);
	else
		prediction_cut(&stream->reads);
	if (stream->reads.stream.size)
		rc = write_of(trace, number, CHUNK_READS, 0,
			      &stream->reads.stream, why);
	if (!rc && stream->events.size)
		rc = write_of(trace, number, CHUNK_EVENTS, 0, &stream->events,
			      why);
	return rc;
}

/*
 * So do pages.  The turn of the stream that was present at the last flush has
 * gone on since: a file that ends early must not have the next turn without the
 * rest of that one.
 */
static int write_streams(struct machine_trace *trace, bool ends,
			 struct failure *why)
{
	unsigned first = trace->flushed_in;
	int rc = write_stored(trace, true, why);

	trace->flushed += waiting(trace);
	if (!rc)
		rc = write_stream(trace, first, ends, why);
	for (unsigned i = 0; i < trace->stream_count && !rc; i++)
		if (i != first)
			rc = write_stream(trace, i, ends, why);
	trace->flushed_in = trace->stream;
	clock_gettime(CLOCK_MONOTONIC, &trace->flush);
	return rc;
}

int machine_trace_flush(struct machine_trace *trace, const struct board *board,
			struct failure *why)
{
	int rc = write_streams(trace, false, why);

	return rc ? rc : write_moment(trace, board_steps(board), why);
}

/* ------- segments ------- */

static uint64_t segment_steps(const struct machine_trace *trace)
{
	return trace->options->segment_steps ? trace->options->segment_steps :
					       SEGMENT_STEPS;
}

uint64_t machine_trace_segment_end(const struct machine_trace *trace)
{
	return trace->start + segment_steps(trace);
}

bool machine_trace_ends_segment(const struct machine_trace *trace,
				uint64_t steps)
{
	if (steps == trace->dma_steps)
		return false;
	return steps >= machine_trace_segment_end(trace) ||
	       trace->flushed + waiting(trace) > STREAM_MOST;
}

static int by_page(const void *left, const void *right)
{
	const struct page_touch *a = left, *b = right;

	return a->page < b->page ? -1 : a->page > b->page;
}

/* The pages that were written in the segment, sorted. */
static int list_touches(struct machine_trace *trace, const struct board *board,
			size_t *count, struct failure *why)
{
	const struct board_write *writes = board_writes(board, count);

	if (array_reserve(trace->touches, *count, trace->touch_room))
		return no_memory(why);
	for (size_t i = 0; i < *count; i++)
		trace->touches[i] = (struct page_touch){
			.page = writes[i].page,
			.how = PAGE_WAS_WRITTEN,
			.write_time = trace->started ?
				writes[i].steps - trace->start : 0,
		};
	if (*count)
		qsort(trace->touches, *count, sizeof(*trace->touches), by_page);
	return 0;
}

static int end_segment(struct machine_trace *trace, const struct board *board,
		       size_t touches, struct failure *why)
{
	struct segment_index index = {
		.steps = board_steps(board) - trace->start,
		.pages = trace->touches,
		.page_count = touches,
	};
	struct output out = { 0 };
	int rc = write_streams(trace, true, why);

	if (!rc)
		rc = write_moment(trace, board_steps(board), why);
	if (rc)
		return rc;
	segment_index_encode(&out, &index);
	rc = write_chunk(trace, CHUNK_INDEX, 0, &out, why);
	trace->segment++;
	return rc;
}

/* ------- key frames ------- */

/* Whose pages are listed. */
struct taking {
	struct machine_trace *trace;
	const struct board *board;
};

static const uint8_t *contents(void *context, uint64_t page)
{
	const struct taking *taking = context;

	return board_bytes(taking->board, page << GUEST_PAGE_SHIFT, GUEST_PAGE);
}

static int write_pages(void *context, bool all, struct failure *why)
{
	const struct taking *taking = context;

	return write_stored(taking->trace, all, why);
}

static const struct listing_calls listing_calls = {
	.contents = contents, .write = write_pages,
};

static int write_frame(struct machine_trace *trace, unsigned core,
		       struct key_frame *frame, const struct board *board,
		       struct failure *why)
{
	struct machine_stream *stream = &trace->streams[core];
	struct output out = { 0 };

	frame->time = board_steps(board);
	frame->steps = stream->steps;
	frame->tid = thread_of(trace, core);
	frame->cache_entries = (unsigned)stream->cache.entries;
	board_core_registers(board, core, &frame->regs);
	cache_flush(&stream->cache);
	key_frame_encode(&out, reg_table(trace->options->live.kind->arch),
			 frame);
	return write_of(trace, core, CHUNK_KEY_FRAME, frame->time, &out, why);
}

/* Of the cores that had a turn since the one before; the first one, that of the
 * present core, has what belongs to the machine. */
static int write_frames(struct machine_trace *trace, struct key_frame *frame,
			const struct board *board, struct failure *why)
{
	int rc = write_frame(trace, trace->stream, frame, board, why);

	for (unsigned i = 0; i < trace->stream_count && !rc; i++) {
		struct key_frame own = { 0 };

		if (i != trace->stream && trace->streams[i].has_run)
			rc = write_frame(trace, i, &own, board, why);
	}
	return rc;
}

static void start_streams(struct machine_trace *trace, uint64_t steps)
{
	trace->start = trace->turn_start = steps;
	trace->slice = 0;
	for (unsigned i = 0; i < trace->stream_count; i++) {
		struct machine_stream *stream = &trace->streams[i];

		stream->start = stream->event_steps = stream->steps;
		stream->skipped = 0;
		stream->has_run = i == trace->stream;
		stream->state = (struct packet_state){ 0 };
	}
}

static int write_all(struct machine_trace *trace, struct failure *why)
{
	if (!listing_all_is_due(&trace->pages, trace->listed))
		return 0;
	trace->listed = 0;
	return listing_write_all(&trace->pages, trace->writer, trace->segment,
				 why);
}

int machine_trace_segment(struct machine_trace *trace, struct board *board,
			  const struct region *regions, size_t count,
			  struct failure *why)
{
	struct taking taking = { trace, board };
	struct snapshot shot = { 0 };
	struct listing listing = { &trace->pages, &shot, &listing_calls,
				   &taking };
	struct key_frame frame = {
		.regions = (struct region *)(uintptr_t)regions,
		.region_count = count,
	};
	size_t touches;
	int rc = list_touches(trace, board, &touches, why);

	present(trace)->steps = own_steps(trace, board_steps(board));
	trace->turn_start = board_steps(board);
	if (!rc && trace->started)
		rc = end_segment(trace, board, touches, why);
	bases_next_turn(&trace->pages.bases);
	if (!rc)
		rc = listing_written(&listing, trace->touches, touches, why);
	if (!rc)
		rc = listing_end(&listing, why);
	frame.pages = shot.list;
	frame.page_count = shot.count;
	trace->listed += shot.count;
	if (!rc)
		rc = write_frames(trace, &frame, board, why);
	if (!rc)
		rc = write_all(trace, why);
	free(shot.list);
	board_close(board);
	trace->started = true;
	start_streams(trace, board_steps(board));
	trace->flushed = 0;
	return rc;
}

/* ------- devices ------- */

int machine_trace_keep(struct machine_trace *trace, uint64_t block,
		       const uint8_t *bytes, uint64_t *id, struct failure *why)
{
	if (page_store_add(&trace->pages, block, bytes, id))
		return no_memory(why);
	return write_stored(trace, false, why);
}

int machine_trace_disk(struct machine_trace *trace, unsigned disk,
		       const struct page_ref *list, size_t count,
		       struct failure *why)
{
	struct output out = { 0 };
	int rc = write_stored(trace, true, why);

	if (rc)
		return rc;
	page_refs_encode(&out, list, count);
	if (out.error) {
		output_release(&out);
		return no_memory(why);
	}
	return trace_writer_chunk(trace->writer, CHUNK_DISK, disk,
				  trace->segment, 0, &out, why);
}

int machine_trace_devices(struct machine_trace *trace, struct output *state,
			  struct failure *why)
{
	return write_chunk(trace, CHUNK_DEVICES, 0, state, why);
}

/* ------- how it ends ------- */

int machine_trace_finish(struct machine_trace *trace,
			 const struct board *board, unsigned end,
			 struct failure *why)
{
	struct summary_thread cores[BOARD_CORES_MOST];
	struct summary summary = {
		.time = board_steps(board),
		.exit_code = end,
		.threads = cores,
		.thread_count = trace->stream_count,
		.stored_pages = trace->pages.next_id - 1,
	};
	struct output out = { 0 };
	int rc;

	present(trace)->steps = own_steps(trace, board_steps(board));
	trace->turn_start = board_steps(board);
	for (unsigned i = 0; i < trace->stream_count; i++) {
		const struct machine_stream *stream = &trace->streams[i];

		cores[i] = (struct summary_thread){
			thread_of(trace, i), stream->steps,
		};
		summary.cache_hits += stream->reads.total_hits;
		summary.cache_misses += stream->reads.total_misses;
	}
	summary_encode(&out, &summary);
	rc = write_chunk(trace, CHUNK_SUMMARY, 0, &out, why);
	return rc ? rc : trace_writer_finish(trace->writer, why);
}
