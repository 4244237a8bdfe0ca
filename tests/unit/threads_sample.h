/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads_sample.h - a recording of two threads, written by hand
 *
 *	thread 100, stream 0		thread 101, stream 1, begins at t=5
 *	A: inc rax			B: inc rbx
 *	   lock inc dword [DATA]	   syscall (its result goes to rax)
 *	   jmp A			   inc dword [DATA + 4]
 *					   jmp B
 *
 * The turns are in `turns`.  Thread 101 gives the processor away inside its
 * system calls at t=9 and t=28; the second comes back two segments later.
 * Each call that comes back writes 8 bytes at DATA + 8.
 */
#ifndef CPREC_TESTS_UNIT_THREADS_SAMPLE_H
#define CPREC_TESTS_UNIT_THREADS_SAMPLE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/prediction.h"
#include "formats/error.h"
#include "formats/key_frame.h"
#include "formats/meta.h"
#include "formats/packet.h"
#include "formats/page_items.h"
#include "formats/trace_file.h"
#include "tests/unit/table.h"

#define CODE 0x401000u
#define CODE_B 0x401100u
#define DATA 0x403000u
#define END 60u
#define BEGIN_B 5u		/* t at which thread 101 begins */
#define EXIT_B 50u
#define SEGMENTS 3u

static const uint64_t segment_times[SEGMENTS + 1] = { 0, 30, 40, END };

/* Whose turn it is from a time on; slices, the segments' starts among them. */
static const struct turn {
	uint64_t t;
	uint32_t stream;
} turns[] = {
	{ 0, 0 }, { 7, 1 }, { 9, 0 }, { 19, 1 }, { 25, 0 }, { 26, 1 },
	{ 28, 0 }, { 45, 1 }, { 50, 0 },
};

/* Whose turn it is at time t: the instruction that comes next is its. */
static inline uint32_t running_at(uint64_t t)
{
	uint32_t stream = 0;

	for (size_t i = 0; i < COUNT(turns) && turns[i].t <= t; i++)
		stream = turns[i].stream;
	return stream;
}

/* Steps of a thread before time t. */
static inline uint64_t steps_before(uint32_t stream, uint64_t t)
{
	uint64_t steps = 0;

	for (uint64_t i = 0; i < t; i++)
		steps += running_at(i) == stream;
	return steps;
}

static inline uint64_t rax_of_a(uint64_t steps)
{
	return (steps + 2) / 3;
}

static inline uint64_t rbx_of_b(uint64_t steps)
{
	return (steps + 3) / 4;
}

static inline uint32_t data_of_a(uint64_t steps)
{
	return (uint32_t)((steps + 1) / 3);
}

static inline uint32_t data_of_b(uint64_t steps)
{
	return (uint32_t)((steps + 1) / 4);
}

static inline uint64_t pc_of_a(uint64_t steps)
{
	static const unsigned at[] = { 0, 3, 11 };

	return CODE + at[steps % 3];
}

static inline uint64_t pc_of_b(uint64_t steps)
{
	static const unsigned at[] = { 0, 3, 5, 12 };

	return CODE_B + at[steps % 4];
}

/* ------- writing ------- */

static char path[] = "/tmp/cprec-threads-XXXXXX";

/* Key frames of the segments: registers, in the order of segments, streams. */
struct sample {
	struct reg_file regs[SEGMENTS][2];
	unsigned segments;	/* how many to write the recording in */
	bool is_cut;		/* without a summary */
	struct trace_writer *writer;
	struct cache cache;	/* of stream 1 */
};

static inline void put(struct sample *sample, enum chunk_kind kind,
		       uint32_t stream, uint32_t segment, uint64_t first,
		       struct output *content)
{
	struct failure why;

	assert_int_equal(content->error, 0);
	assert_int_equal(trace_writer_chunk(sample->writer, kind, stream,
					    segment, first, content, &why), 0);
}

static inline void put_meta(struct sample *sample)
{
	char name[] = "prog", empty[] = "", file[] = "/bin/prog";
	char *argv[] = { name, NULL };
	struct meta meta = {
		.argv = argv, .argc = 1, .path = file, .directory = empty,
		.host = empty, .made_by = empty, .cache_entries = 16384,
		.processor = *processor_of(ARCH_X86_64),
	};
	struct output out = { 0 };

	meta_encode(&out, &meta);
	put(sample, CHUNK_META, 0, 0, 0, &out);
}

static inline void put_page(struct sample *sample, uint64_t id,
			    const uint8_t *page)
{
	struct page_batch batch = { 0 };

	page_batch_add(&batch, page);
	page_batch_end(&batch);
	put(sample, CHUNK_PAGES, 1, 0, id, &batch.pages);
}

static inline void put_code(struct sample *sample)
{
	static const uint8_t a[] = {
		0x48, 0xff, 0xc0,
		0xf0, 0xff, 0x04, 0x25, 0x00, 0x30, 0x40, 0x00,
		0xeb, 0xf3,
	};
	static const uint8_t b[] = {
		0x48, 0xff, 0xc3,
		0x0f, 0x05,
		0xff, 0x04, 0x25, 0x04, 0x30, 0x40, 0x00,
		0xeb, 0xf2,
	};
	uint8_t page[GUEST_PAGE];

	memset(page, 0x90, GUEST_PAGE);
	memcpy(page, a, sizeof(a));
	memcpy(page + (CODE_B - CODE), b, sizeof(b));
	put_page(sample, 1, page);
}

/* The page of data as of a key frame. */
static inline void put_data(struct sample *sample, uint64_t id, uint64_t t)
{
	uint8_t page[GUEST_PAGE] = { 0 };

	page[0] = (uint8_t)data_of_a(steps_before(0, t));
	page[4] = (uint8_t)data_of_b(steps_before(1, t));
	memcpy(page + 8, "abcdefgh", 8);
	put_page(sample, id, page);
}

static inline void put_frame(struct sample *sample, uint32_t stream,
			     uint32_t segment, uint64_t t)
{
	struct region regions[] = {
		{ CODE, CODE + 0x1000, MAY_READ | MAY_EXEC, REGION_ANON, 0, "" },
		{ DATA, DATA + 0x1000, MAY_READ | MAY_WRITE, REGION_ANON, 0,
		  "" },
	};
	struct page_ref pages[] = { { CODE >> 12, 1 }, { DATA >> 12, segment } };
	struct key_frame frame = {
		.time = t, .steps = steps_before(stream, t),
		.tid = 100 + stream, .cache_entries = 16384,
		.regs = sample->regs[segment][stream],
	};
	struct output out = { 0 };

	if (segment)
		pages[1].id = segment + 1;
	if (stream == 0) {
		frame.regions = regions;
		frame.region_count = COUNT(regions);
		frame.pages = pages;
		frame.page_count = COUNT(pages);
	} else if (segment) {
		frame.cache = (uint8_t *)sample->cache.words;
		frame.cache_size = sample->cache.entries * 8;
	}
	key_frame_encode(&out, reg_table(ARCH_X86_64), &frame);
	put(sample, CHUNK_KEY_FRAME, stream, segment, t, &out);
}

/* A stream of packets, and its reads if it has any. */
static inline void put_packets(struct sample *sample, uint32_t stream,
			       uint32_t segment, const struct packet *packets,
			       size_t count)
{
	struct prediction_writer reads;
	struct packet_state state = { 0 };
	struct output out = { 0 };

	prediction_writer_init(&reads, &sample->cache);
	for (size_t i = 0; i < count; i++) {
		packet_encode(&out, &state, &packets[i]);
		if (packets[i].kind == PACKET_WRITE)
			prediction_record(&reads, packets[i].addr, "abcdefgh",
					  8);
	}
	prediction_finish(&reads);
	if (reads.stream.size)
		put(sample, CHUNK_READS, stream, segment, 0, &reads.stream);
	put(sample, CHUNK_EVENTS, stream, segment, 0, &out);
	prediction_writer_release(&reads);
}

#define TURN(after, more, others) { .kind = PACKET_SLICE, .steps = after, \
				    .slices = more, .skipped = others }
#define CALL(after, value) { .kind = PACKET_SYSCALL, .steps = after, \
			     .number = 1, .result = value }
#define BACK(value) { .kind = PACKET_RETURN, .number = 1, .result = value }
#define TELL { .kind = PACKET_WRITE, .addr = DATA + 8, .size = 8 }
/* From t=45 on, where the call of t=28 comes back. */
#define LAST_B BACK(44), TELL, CALL(4, 45), TELL, \
	       { .kind = PACKET_EXIT, .steps = 1 }

/* Up to t=30, where slice 6 is under way. */
#define FIRST_A TURN(7, 2, 2), TURN(10, 2, 6)
#define FIRST_B TURN(0, 1, 7), TURN(2, 2, 10), BACK(42), TELL, \
		CALL(4, 43), TELL, TURN(2, 2, 1)

static inline void put_segments(struct sample *sample)
{
	static const struct packet first_a[] = { FIRST_A, TURN(1, 2, 2) };
	static const struct packet first_b[] = { FIRST_B };
	static const struct packet third_a[] = { TURN(5, 2, 5) };
	static const struct packet third_b[] = {
		TURN(0, 1, 5), LAST_B,
	};

	put_frame(sample, 0, 0, 0);
	put_frame(sample, 1, 0, BEGIN_B);
	put_packets(sample, 0, 0, first_a, COUNT(first_a));
	put_packets(sample, 1, 0, first_b, COUNT(first_b));
	put_data(sample, 2, segment_times[1]);
	put_frame(sample, 0, 1, segment_times[1]);
	put_frame(sample, 1, 1, segment_times[1]);
	put_data(sample, 3, segment_times[2]);
	put_frame(sample, 0, 2, segment_times[2]);
	put_packets(sample, 0, 2, third_a, COUNT(third_a));
	put_packets(sample, 1, 2, third_b, COUNT(third_b));
}

/* The same in one segment. */
static inline void put_all(struct sample *sample)
{
	static const struct packet all_a[] = {
		FIRST_A, TURN(1, 2, 2), TURN(17, 2, 5),
	};
	static const struct packet all_b[] = {
		FIRST_B, TURN(2, 2, 17), LAST_B,
	};

	put_frame(sample, 0, 0, 0);
	put_frame(sample, 1, 0, BEGIN_B);
	put_packets(sample, 0, 0, all_a, COUNT(all_a));
	put_packets(sample, 1, 0, all_b, COUNT(all_b));
}

static inline void put_summary(struct sample *sample)
{
	struct summary_thread threads[] = {
		{ 100, steps_before(0, END) }, { 101, steps_before(1, END) },
	};
	struct summary summary = {
		.time = END, .exit_signal = 9, .threads = threads,
		.thread_count = 2,
	};
	struct output out = { 0 };

	summary_encode(&out, &summary);
	put(sample, CHUNK_SUMMARY, 0, 0, 0, &out);
}

static inline void start_registers(struct sample *sample)
{
	const struct reg_table *table = reg_table(ARCH_X86_64);

	for (unsigned i = 0; i < 2; i++) {
		struct reg_file *regs = &sample->regs[0][i];

		memset(regs, 0, sizeof(*regs));
		reg_set(table, regs, table->pc, i ? CODE_B : CODE);
		reg_set(table, regs, X86_CS, 0x33);
		reg_set(table, regs, X86_SS, 0x2b);
		reg_set(table, regs, X86_RFLAGS, 0x202);
		reg_set(table, regs, X86_FPCW, 0x37f);
		reg_set(table, regs, X86_FPTAG, 0xffff);
		reg_set(table, regs, X86_MXCSR, 0x1f80);
	}
}

/* Writes it to `path`; more than one segment needs the registers. */
static inline void write_sample(struct sample *sample)
{
	struct trace_header header = { .arch = ARCH_X86_64, .id = { 1 } };
	struct failure why;

	unlink(path);
	start_registers(sample);
	assert_int_equal(cache_init(&sample->cache, 16384), 0);
	assert_int_equal(trace_writer_open(&sample->writer, path, &header, 1,
					   &why), 0);
	put_meta(sample);
	put_code(sample);
	if (sample->segments == 1)
		put_all(sample);
	else
		put_segments(sample);
	if (!sample->is_cut)
		put_summary(sample);
	assert_int_equal(trace_writer_finish(sample->writer, &why), 0);
	trace_writer_close(sample->writer);
	cache_release(&sample->cache);
}

#endif
