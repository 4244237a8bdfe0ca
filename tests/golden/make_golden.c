/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_golden.c - writes the golden traces into a folder
 *
 * Only for renewing them after a change of the format: test_golden.c compares
 * the files that are checked in.  With --examples, prints the contents that
 * trace-format.md shows.  See README.md in this folder.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/prediction.h"
#include "formats/error.h"
#include "formats/key_frame.h"
#include "formats/member.h"
#include "formats/meta.h"
#include "formats/module_files.h"
#include "formats/module_sums.h"
#include "formats/moments.h"
#include "formats/packet.h"
#include "formats/page_items.h"
#include "formats/symbols.h"
#include "formats/trace_layout.h"
#include "tests/golden/examples.h"

static const struct trace_header header = {
	.arch = ARCH_X86_64,
	.id = { 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
		0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f },
};

static _Noreturn void stop(const char *what)
{
	fprintf(stderr, "make_golden: %s\n", what);
	exit(EXIT_FAILURE);
}

static void put_of(struct trace_writer *writer, uint32_t stream,
		   enum chunk_kind kind, uint32_t segment, uint64_t first,
		   struct output *content)
{
	struct failure why;

	if (trace_writer_chunk(writer, kind, stream, segment, first, content,
			       &why))
		stop(why.text);
}

static void put(struct trace_writer *writer, enum chunk_kind kind,
		uint32_t segment, uint64_t first, struct output *content)
{
	put_of(writer, 0, kind, segment, first, content);
}

static struct trace_writer *start_with(const char *name, uint32_t features)
{
	struct trace_header own = header;
	struct trace_writer *writer;
	struct failure why;

	own.features = features;
	unlink(name);
	if (trace_writer_open(&writer, name, &own, 3, &why))
		stop(why.text);
	return writer;
}

static struct trace_writer *start(const char *name)
{
	return start_with(name, 0);
}

static void end(struct trace_writer *writer, bool is_complete)
{
	struct failure why;

	if (is_complete && trace_writer_finish(writer, &why))
		stop(why.text);
	trace_writer_close(writer);
}

/* ------- contents ------- */

static void put_meta_of(struct trace_writer *writer,
			const struct origin *origin)
{
	char *argv[] = { (char[]){ "/bin/true" }, NULL };
	struct meta meta = {
		.argv = argv,
		.argc = 1,
		.path = (char[]){ "/bin/true" },
		.directory = (char[]){ "/" },
		.host = (char[]){ "Linux" },
		.made_by = (char[]){ "cprec" },
		.started = 1000000000,
		.cache_entries = 32768,
		.processor = { "westmere", 1 },
		.run = { 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27,
			 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f },
		.origin = *origin,
	};
	struct output out = { 0 };

	meta_encode(&out, &meta);
	put(writer, CHUNK_META, 0, 0, &out);
}

static void put_meta(struct trace_writer *writer)
{
	put_meta_of(writer, &(struct origin){ 0 });
}

/* The first three, and the last, are new in the second key frame. */
static struct region regions[] = {
	{ 0x20000, 0x21000, MAY_READ, REGION_ANON, 0, "" },
	{ 0x21000, 0x24000, MAY_READ | MAY_WRITE, REGION_ANON, 0, "" },
	{ 0x30000, 0x32000, MAY_READ | MAY_WRITE, REGION_SHARED, 0x1000,
	  "/tmp/shared", COMMON_START + 0x1000 },
	{ 0x400000, 0x401000, MAY_READ | MAY_EXEC, REGION_FILE, 0,
	  "/bin/true" },
	{ 0x401000, 0x402000, MAY_READ | MAY_WRITE, REGION_FILE, 0x1000,
	  "/bin/true" },
	{ 0x7ffffffde000, 0x7ffffffff000, MAY_READ | MAY_WRITE, REGION_ANON, 0,
	  "[stack]" },
	{ COMMON_START, COMMON_START + 0x3000, 0, REGION_SHARED, 0, "" },
};

static void put_key_frame(struct trace_writer *writer, uint32_t segment,
			  struct key_frame *frame)
{
	const struct reg_table *table = reg_table(ARCH_X86_64);
	struct output out = { 0 };

	frame->tid = 1000;
	frame->cache_entries = 32768;
	frame->regions = segment ? regions : regions + 3;
	frame->region_count = segment ? 7 : 3;
	reg_set(table, &frame->regs, X86_RIP, 0x400078 + frame->time);
	reg_set(table, &frame->regs, X86_RSP, 0x7fffffffe000);
	reg_set(table, &frame->regs, X86_RFLAGS, 0x202);
	key_frame_encode(&out, table, frame);
	put(writer, CHUNK_KEY_FRAME, segment, frame->time, &out);
}

/* Page 1: the program's code.  2: what it found at 0x22000.  3: its stack. */
static const struct {
	size_t offset;
	const char *bytes;
	size_t size;
} page_contents[] = {
	{ 0x78, "\x0f\x05\xeb\xfc", 4 },
	{ 100, "changed", 7 },
	{ 0xff4, "\1\2\3\4\5\6\7\10", 8 },
};

/* The first is whole, each other one a patch of that before it. */
static void put_pages(struct trace_writer *writer, uint32_t segment,
		      unsigned first, unsigned count)
{
	uint8_t page[GUEST_PAGE], before[GUEST_PAGE];
	struct page_batch batch = { 0 };
	struct page_patch patch;

	for (unsigned i = first; i < first + count; i++) {
		memset(page, 0, sizeof(page));
		memcpy(page + page_contents[i - 1].offset,
		       page_contents[i - 1].bytes, page_contents[i - 1].size);
		if (i == first)
			page_batch_add(&batch, page);
		else if (page_patch_make(&patch, before, page, PAGE_WORDS))
			page_batch_add_patch(&batch, &patch, 1);
		memcpy(before, page, sizeof(before));
	}
	page_batch_end(&batch);
	put_of(writer, count, CHUNK_PAGES, segment, first, &batch.pages);
}

static void put_packets_of(struct trace_writer *writer, uint32_t stream,
			   uint32_t segment, uint64_t doubt,
			   const struct packet *packets, size_t count)
{
	struct packet_state state = { .doubt = doubt };
	struct output out = { 0 };

	for (size_t i = 0; i < count; i++)
		packet_encode(&out, &state, &packets[i]);
	put_of(writer, stream, CHUNK_EVENTS, segment, 0, &out);
}

static void put_packets(struct trace_writer *writer, uint32_t segment,
			uint64_t doubt, const struct packet *packets,
			size_t count)
{
	put_packets_of(writer, 0, segment, doubt, packets, count);
}

static const uint8_t rcx_value[8] = { 0x80, 0, 0x40 };

static const struct packet first_packets[] = {
	{ PACKET_TOUCH, .number = 1, .addr = 0x400000, .page_id = 1 },
	{ PACKET_SYSCALL, .steps = 40, .number = 318, .result = 8 },
	{ PACKET_REG, .number = X86_RCX, .size = 8, .value = rcx_value },
	{ PACKET_WRITE, .addr = 0x7fffffffdff4, .size = 8 },
	{ PACKET_SYSCALL, .steps = 10, .number = 9, .result = 0x10000 },
	{ PACKET_MAP, .addr = 0x10000, .size = 0x4000,
	  .prot = MAY_READ | MAY_WRITE },
	{ PACKET_MAP, .addr = COMMON_START, .size = 0x3000,
	  .region = REGION_SHARED },
	{ PACKET_MAP, .addr = 0x30000, .size = 0x2000,
	  .prot = MAY_READ | MAY_WRITE, .region = REGION_SHARED,
	  .target = COMMON_START + 0x1000, .offset = 0x1000,
	  .name = "/tmp/shared", .name_size = 11 },
	{ PACKET_SYSCALL, .steps = 10, .number = 25, .result = 0x20000 },
	{ PACKET_MOVE, .addr = 0x10000, .target = 0x20000, .size = 0x4000 },
	{ PACKET_SYSCALL, .steps = 10, .number = 10 },
	{ PACKET_PROTECT, .addr = 0x20000, .size = 0x1000, .prot = MAY_READ },
	{ PACKET_SYSCALL, .steps = 10, .number = 28 },
	{ PACKET_CLEAR, .addr = 0x21000, .size = 0x1000 },
	{ PACKET_SYSCALL, .steps = 10, .number = 0, .result = 0x2000 },
	{ PACKET_DOUBT, .number = 2, .addr = 0x22000, .size = 0x2000 },
	{ PACKET_TOUCH, .number = 2, .addr = 0x22000, .source = TOUCH_READS },
	{ PACKET_VALUE, .steps = 5 },
	{ PACKET_REG, .number = X86_RAX, .size = 8, .value = rcx_value },
	{ PACKET_SIGNAL, .steps = 3, .number = 14 },
	{ PACKET_WRITE, .addr = 0x7fffffffdf00, .size = 3 },
	{ PACKET_FAULT, .steps = 0, .number = 11 },
};

static const struct packet second_packets[] = {
	{ PACKET_SYSCALL, .steps = 1, .number = 1, .result = 3 },
	{ PACKET_OUTPUT, .number = 1, .addr = 0x7fffffffdf00, .size = 3 },
	{ PACKET_SYSCALL, .steps = 1, .number = 11 },
	{ PACKET_UNMAP, .addr = 0x20000, .size = 0x4000 },
	{ PACKET_EXIT, .steps = 0, .result = 7 },
};

/* The read stream that belongs to the WRITE and TOUCH packets above. */
static void put_reads(struct trace_writer *writer)
{
	uint8_t page[GUEST_PAGE] = { 0 };
	struct prediction_writer reads;
	struct cache cache;

	if (cache_init(&cache, 32768))
		stop("out of memory");
	memcpy(page + page_contents[1].offset, page_contents[1].bytes,
	       page_contents[1].size);
	prediction_writer_init(&reads, &cache);
	prediction_record(&reads, 0x7fffffffdff4, "\1\2\3\4\5\6\7\10", 8);
	prediction_record(&reads, 0x22000, page, sizeof(page));
	prediction_record(&reads, 0x7fffffffdf00, "hi\n", 3);
	prediction_finish(&reads);
	put(writer, CHUNK_READS, 0, 0, &reads.stream);
	prediction_writer_release(&reads);
	cache_release(&cache);
}

static void put_index(struct trace_writer *writer)
{
	struct page_touch pages[] = {
		{ 0x20, PAGE_WAS_WRITTEN, 50, 0, 0 },
		{ 0x22, PAGE_WAS_READ | PAGE_WAS_RESOLVED, 0, 2, 0 },
		{ 0x400, PAGE_WAS_READ | PAGE_WAS_RESOLVED, 0, 1, 1 },
		{ 0x7fffffffd, PAGE_WAS_READ | PAGE_WAS_WRITTEN, 40, 0, 0 },
	};
	struct segment_index index = { 98, pages, 4 };
	struct output out = { 0 };

	segment_index_encode(&out, &index);
	put(writer, CHUNK_INDEX, 0, 0, &out);
}

static void put_symbols(struct trace_writer *writer)
{
	struct symbol list[] = {
		{ 0x400078, 8, SYMBOL_FUNCTION, "_start" },
		{ 0x400080, 0, SYMBOL_OTHER, "loop" },
		{ 0x401010, 8, SYMBOL_OBJECT, "counter" },
	};
	struct symbols symbols = {
		.path = (char[]){ "/bin/true" },
		.link_base = 0x400000,
		.link_end = 0x401800,
		.base_offset = 0,
		.list = list,
		.count = 3,
	};
	struct output out = { 0 };

	symbols_encode(&out, &symbols);
	put(writer, CHUNK_SYMBOLS, 0, 0, &out);
}

static void put_summary(struct trace_writer *writer)
{
	struct summary_thread thread = { 1000, 100 };
	struct summary summary = {
		.time = 100,
		.exit_code = 7,
		.threads = &thread,
		.thread_count = 1,
		.cache_hits = 510,
		.cache_misses = 5,
		.touched_pages = 2,
		.stored_pages = 3,
	};
	struct output out = { 0 };

	summary_encode(&out, &summary);
	put(writer, CHUNK_SUMMARY, 0, 0, &out);
}

static void put_snapshot(struct trace_writer *writer, uint32_t segment,
			 const struct page_ref *list, size_t count)
{
	struct output out = { 0 };

	page_refs_encode(&out, list, count);
	put(writer, CHUNK_SNAPSHOT, segment, 0, &out);
}

static void put_segments(struct trace_writer *writer)
{
	struct doubt_range doubt = { 0x400, 2, 1 };
	struct doubt_range doubts[] = { { 0x23, 1, 2 }, { 0x401, 1, 1 } };
	struct page_ref pages[] = {
		{ 0x22, 2 }, { 0x400, 1 }, { 0x7fffffffd, 3 },
	};
	struct key_frame first = {
		.doubt = 1, .doubts = &doubt, .doubt_count = 1,
	};
	struct key_frame second = {
		.time = 98, .steps = 98, .doubt = 2,
		.doubts = doubts, .doubt_count = 2,
		.pages = pages, .page_count = 3,
	};

	put_key_frame(writer, 0, &first);
	put_pages(writer, 0, 1, 1);
	put_reads(writer);
	put_packets(writer, 0, 1, first_packets,
		    sizeof(first_packets) / sizeof(first_packets[0]));
	put_index(writer);
	put_pages(writer, 1, 2, 2);
	put_key_frame(writer, 1, &second);
	put_snapshot(writer, 1, pages, 3);
	put_packets(writer, 1, 2, second_packets,
		    sizeof(second_packets) / sizeof(second_packets[0]));
}

/* ------- two threads ------- */

static const struct packet packets_of_first[] = {
	{ PACKET_TOUCH, .number = 1, .addr = 0x400000, .page_id = 1 },
	{ PACKET_SYSCALL, .steps = 10, .number = 56, .result = 1001 },
	{ PACKET_GIVE_WAY, .steps = 5 },
	{ PACKET_DOUBT, .number = 1, .addr = 0x401000, .size = 0x1000 },
	{ PACKET_GIVE_WAY, .steps = 15 },
	{ PACKET_TOUCH, .number = 1, .addr = 0x401000 },
	{ PACKET_SLICE, .steps = 0, .slices = 2, .skipped = 7, .doubts = 1 },
	{ PACKET_MAP, .addr = 0x20000, .size = 0x4000, .prot = MAY_READ },
	{ PACKET_RETURN, .number = 202 },
	{ PACKET_WRITE, .addr = 0x7fffffffdf00, .size = 3 },
	{ PACKET_EXIT, .steps = 3, .result = 7 },
};

static const struct packet packets_of_second[] = {
	{ PACKET_SLICE, .steps = 0, .slices = 1, .skipped = 30 },
	{ PACKET_SEEN, .addr = 0x7fffffffdff4, .size = 8 },
	{ PACKET_SEEN_PAGE, .addr = 0x7fffffffd000, .page_id = 2 },
	{ PACKET_SYSCALL, .steps = 6, .number = 9, .result = 0x20000 },
	{ PACKET_MAP, .addr = 0x20000, .size = 0x4000, .prot = MAY_READ },
	{ PACKET_DOUBT, .number = 2, .addr = 0x20000, .size = 0x1000 },
	{ PACKET_EXIT, .steps = 1 },
};

static void put_reads_of(struct trace_writer *writer, uint32_t stream,
			 uint64_t addr, const char *bytes, size_t size)
{
	struct prediction_writer reads;
	struct cache cache;

	if (cache_init(&cache, 32768))
		stop("out of memory");
	prediction_writer_init(&reads, &cache);
	prediction_record(&reads, addr, bytes, size);
	prediction_finish(&reads);
	put_of(writer, stream, CHUNK_READS, 0, 0, &reads.stream);
	prediction_writer_release(&reads);
	cache_release(&cache);
}

static void put_second_thread(struct trace_writer *writer)
{
	const struct reg_table *table = reg_table(ARCH_X86_64);
	struct key_frame frame = {
		.time = 10, .doubt = 1, .tid = 1001, .cache_entries = 32768,
	};
	struct output out = { 0 };

	reg_set(table, &frame.regs, X86_RIP, 0x400082);
	reg_set(table, &frame.regs, X86_RSP, 0x7fffffff0000);
	key_frame_encode(&out, table, &frame);
	put_of(writer, 1, CHUNK_KEY_FRAME, 0, frame.time, &out);
}

/* They take turns; the second maps memory, and the first is told of it. */
static void make_threads(void)
{
	struct trace_writer *writer = start("good/threads.cpr");
	struct doubt_range doubt = { 0x400, 2, 1 };
	struct key_frame first = {
		.doubt = 1, .doubts = &doubt, .doubt_count = 1,
	};
	struct summary_thread threads[] = { { 1000, 33 }, { 1001, 7 } };
	struct summary summary = {
		.time = 40, .exit_code = 7,
		.threads = threads, .thread_count = 2,
		.touched_pages = 1, .stored_pages = 2,
	};
	struct output out = { 0 };

	put_meta(writer);
	put_key_frame(writer, 0, &first);
	put_second_thread(writer);
	put_pages(writer, 0, 1, 2);
	put_reads_of(writer, 0, 0x7fffffffdf00, "hi\n", 3);
	put_packets_of(writer, 0, 0, 1, packets_of_first,
		       sizeof(packets_of_first) / sizeof(packets_of_first[0]));
	put_reads_of(writer, 1, 0x7fffffffdff4, "\1\2\3\4\5\6\7\10", 8);
	put_packets_of(writer, 1, 0, 1, packets_of_second,
		       sizeof(packets_of_second) /
			       sizeof(packets_of_second[0]));
	summary_encode(&out, &summary);
	put(writer, CHUNK_SUMMARY, 0, 0, &out);
	end(writer, true);
}

/* ------- a child that becomes another program ------- */

static const struct packet packets_of_child[] = {
	{ PACKET_SYSCALL, .steps = 10, .number = 59 },
	{ PACKET_MAP, .addr = 0x10000, .size = 0x4000, .prot = MAY_READ },
	{ PACKET_SYSCALL, .steps = 5, .number = 231 },
	{ PACKET_EXIT, .steps = 0 },
};

static void put_program(struct trace_writer *writer, uint64_t time)
{
	char *argv[] = { (char[]){ "echo" }, (char[]){ "hi" }, NULL };
	const struct program_image image = {
		.argv = argv,
		.argc = 2,
		.path = (char[]){ "/bin/echo" },
		.directory = (char[]){ "/tmp" },
	};
	struct output out = { 0 };

	program_image_encode(&out, &image);
	put(writer, CHUNK_PROGRAM, 0, time, &out);
}

static void make_programs(void)
{
	struct trace_writer *writer = start("good/programs.cpr");
	struct key_frame first = { .doubt = 1 };
	struct summary_thread thread = { 1000, 15 };
	struct summary summary = {
		.time = 15, .threads = &thread, .thread_count = 1,
		.cache_hits = 1, .cache_misses = 1,
	};
	struct output out = { 0 };

	put_meta_of(writer, &(struct origin){ 999, 998, 4321 });
	put_key_frame(writer, 0, &first);
	put_program(writer, 10);
	put_packets_of(writer, 0, 0, 1, packets_of_child,
		       sizeof(packets_of_child) / sizeof(packets_of_child[0]));
	summary_encode(&out, &summary);
	put(writer, CHUNK_SUMMARY, 0, 0, &out);
	end(writer, true);
}

/* ------- what the clock said ------- */

/* It was set back for a moment. */
static const struct moment moments[] = {
	{ 0, INT64_C(1700000000000000) }, { 5, INT64_C(1700000000010000) },
	{ 5, INT64_C(1700000002000000) }, { 9, INT64_C(1699999999000000) },
	{ 15, INT64_C(1700000004000000) },
};

static void make_moments(void)
{
	struct trace_writer *writer = start("good/moments.cpr");
	struct key_frame first = { .doubt = 1 };
	struct summary_thread thread = { 1000, 15 };
	struct summary summary = {
		.time = 15, .threads = &thread, .thread_count = 1,
	};
	struct output out = { 0 };

	put_meta(writer);
	put_key_frame(writer, 0, &first);
	moments_encode(&out, moments, sizeof(moments) / sizeof(moments[0]));
	put(writer, CHUNK_MOMENTS, 0, 0, &out);
	summary_encode(&out, &summary);
	put(writer, CHUNK_SUMMARY, 0, 0, &out);
	end(writer, true);
}

/* ------- files of modules ------- */

static void put_piece(struct trace_writer *writer, uint64_t number,
		      const char *text)
{
	struct output out = { 0 };

	output_bytes(&out, text, strlen(text));
	put_of(writer, 0, CHUNK_PIECE, 0, number, &out);
}

static void make_kept(void)
{
	struct trace_writer *writer = start("good/kept.cpr");
	const struct module_files modules[] = {
		{ .path = (char[]){ "/bin/true" },
		  .build_id = { { 0xab, 0xcd, 0xef, 0x01 }, 4 },
		  .files = { { 9, 0, 1 }, { 3, 0, 2 } } },
		{ .path = (char[]){ "/lib/plain.so" } },
	};
	struct key_frame first = { .doubt = 1 };
	struct summary_thread thread = { 1000, 15 };
	struct summary summary = {
		.time = 15, .threads = &thread, .thread_count = 1,
	};
	struct output out = { 0 };

	put_meta(writer);
	put_piece(writer, 1, "of two ");
	put_piece(writer, 1, "12");
	put_piece(writer, 2, "abc");
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		module_files_encode(&out, &modules[i]);
	put(writer, CHUNK_MODULE_FILES, 0, 0, &out);
	module_sum_encode(&out, modules[0].path,
			  &(struct module_sum){ 4096, UINT64_C(0x123456789abcdef0) });
	put(writer, CHUNK_MODULE_SUMS, 0, 0, &out);
	put_key_frame(writer, 0, &first);
	summary_encode(&out, &summary);
	put(writer, CHUNK_SUMMARY, 0, 0, &out);
	end(writer, true);
}

/* ------- a child that refers to its parent ------- */

static void put_member(struct trace_writer *writer)
{
	const struct member first = {
		.name = { .pid = 1000 },
		.run = { 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27,
			 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f },
	};
	struct output out = { 0 };

	member_encode(&out, &first);
	put(writer, CHUNK_MEMBER, 0, 1, &out);
}

/* Two that the parent has, one patched, and one that only the child has. */
static void put_shared_pages(struct trace_writer *writer)
{
	uint8_t before[GUEST_PAGE] = { 0 }, page[GUEST_PAGE] = { 0 };
	struct page_batch batch = { 0 };
	struct page_patch patch;

	memcpy(before + page_contents[0].offset, page_contents[0].bytes,
	       page_contents[0].size);
	memcpy(page, before, sizeof(page));
	page[8] = 9;
	page_batch_add_place(&batch, &(struct page_place){ 1, 3 });
	page_batch_add_place(&batch, &(struct page_place){ 1, 1 });
	if (page_patch_make(&patch, before, page, PAGE_WORDS))
		page_batch_add_patch(&batch, &patch, 1);
	memset(page, 0, sizeof(page));
	page[0] = 7;
	page_batch_add(&batch, page);
	page_batch_end(&batch);
	put_of(writer, 4, CHUNK_PAGES, 0, 1, &batch.pages);
}

static void put_place_of_symbols(struct trace_writer *writer)
{
	/* In good/all.cpr. */
	const struct symbols_at at = { .member = 1, .offset = 1192 };
	struct output out = { 0 };

	symbols_at_encode(&out, &at);
	put(writer, CHUNK_SYMBOLS_AT, 0, 0, &out);
}

static void make_member(void)
{
	struct trace_writer *writer =
		start_with("good/member.cpr", FEATURE_MEMBERS);
	struct page_ref pages[] = {
		{ 0x400, 2 }, { 0x401, 3 }, { 0x7fffffffc, 1 },
		{ 0x7fffffffd, 4 },
	};
	struct key_frame first = {
		.doubt = 1, .pages = pages, .page_count = 4,
	};
	struct summary_thread thread = { 1000, 15 };
	struct summary summary = {
		.time = 15, .threads = &thread, .thread_count = 1,
		.stored_pages = 4,
	};
	struct output out = { 0 };

	put_meta_of(writer, &(struct origin){ 1000, 1000, 50 });
	put_member(writer);
	put_place_of_symbols(writer);
	put_shared_pages(writer);
	put_key_frame(writer, 0, &first);
	put_packets_of(writer, 0, 0, 1, packets_of_child,
		       sizeof(packets_of_child) / sizeof(packets_of_child[0]));
	summary_encode(&out, &summary);
	put(writer, CHUNK_SUMMARY, 0, 0, &out);
	end(writer, true);
}

/* ------- damage ------- */

static uint8_t *load(const char *name, size_t *size)
{
	uint8_t *bytes = malloc(1 << 20);
	FILE *file = fopen(name, "rb");

	if (!bytes || !file)
		stop(name);
	*size = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

static void save(const char *name, const void *bytes, size_t size)
{
	FILE *file = fopen(name, "wb");

	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
		stop(name);
}

/* A copy of good/all.cpr with one bit flipped; `at` < 0 is from its end. */
static void flip(const char *name, long at)
{
	size_t size;
	uint8_t *bytes = load("good/all.cpr", &size);

	bytes[at < 0 ? (long)size + at : at] ^= 4;
	save(name, bytes, size);
	free(bytes);
}

static void cut(const char *name, size_t size)
{
	size_t whole;
	uint8_t *bytes = load("good/all.cpr", &whole);

	save(name, bytes, size);
	free(bytes);
}

/* A header that says something else, and nothing behind it. */
static void make_header(const char *name, uint8_t version, uint8_t oldest,
			uint8_t features)
{
	uint8_t bytes[TRACE_HEADER_SIZE];
	uint64_t sum;

	trace_header_encode(bytes, &header);
	bytes[8] = version;
	bytes[12] = oldest;
	bytes[36] = features;
	sum = trace_checksum(bytes, sizeof(bytes) - 8);
	for (unsigned i = 0; i < 8; i++)
		bytes[sizeof(bytes) - 8 + i] = (uint8_t)(sum >> 8 * i);
	save(name, bytes, sizeof(bytes));
}

static void make_headers(void)
{
	const uint8_t now = TRACE_VERSION;

	make_header("bad/newer.cpr", now + 1, now + 1, 0);
	make_header("bad/older.cpr", 6, 6, 0);
	make_header("bad/parallel.cpr", now, now, FEATURE_PARALLEL);
	make_header("bad/devices.cpr", now, now,
		    FEATURE_DEVICES | FEATURE_PHYSICAL);
	make_header("bad/physical.cpr", now, now, FEATURE_PHYSICAL);
	make_header("bad/ring.cpr", now, now, FEATURE_RING);
	make_header("bad/feature.cpr", now, now, 0x40);
}

/* A chunk that is sound, but its content is not. */
static void make_wrong(const char *name, enum chunk_kind kind,
		       const void *bytes, size_t size)
{
	struct trace_writer *writer = start(name);
	struct output out = { 0 };

	put_meta(writer);
	output_bytes(&out, bytes, size);
	put(writer, kind, 0, 0, &out);
	end(writer, true);
}

static void make_bad(void)
{
	save("bad/empty.cpr", "", 0);
	save("bad/not-a-trace.cpr", "#!/bin/sh\n", 10);
	cut("bad/cut-in-header.cpr", 40);
	make_headers();
	flip("bad/header.cpr", 20);
	flip("bad/content.cpr", 250);
	flip("bad/chunk-header.cpr", 64 + 8);
	make_wrong("bad/packet.cpr", CHUNK_EVENTS, "\1\0\0\0\16", 5);
	make_wrong("bad/key-frame.cpr", CHUNK_KEY_FRAME, "\0\0\0", 3);
	make_wrong("bad/index.cpr", CHUNK_INDEX, "\1\1\0", 3);
	make_wrong("bad/symbols.cpr", CHUNK_SYMBOLS, "\0\0\0\0\0\0", 6);
}

/* ------- a recording that begins later ------- */

/* As good/all.cpr's end, but nothing tells what was before t=98. */
static void make_later(void)
{
	struct trace_writer *writer = start("good/later.cpr");
	struct key_frame first = { .time = 98, .steps = 90 };
	struct summary_thread thread = { 1000, 92 };
	struct summary summary = {
		.time = 100, .exit_code = 7, .threads = &thread,
		.thread_count = 1,
	};
	struct output out = { 0 };

	put_meta(writer);
	put_key_frame(writer, 0, &first);
	put_packets(writer, 0, 0, second_packets,
		    sizeof(second_packets) / sizeof(second_packets[0]));
	summary_encode(&out, &summary);
	put(writer, CHUNK_SUMMARY, 0, 0, &out);
	end(writer, true);
}

/* ------- files ------- */

/* Meta data and nothing more: the example of trace-format.md. */
static void make_example(void)
{
	struct trace_writer *writer = start("good/example.cpr");

	put_meta(writer);
	end(writer, true);
}

/* One of everything. */
static void make_all(const char *name, bool is_complete)
{
	struct trace_writer *writer = start(name);

	put_meta(writer);
	put_segments(writer);
	put_symbols(writer);
	put_summary(writer);
	end(writer, is_complete);
}

/* Lines for trace-format.md, without words; rows of zeros are left out. */
static void show_example(const struct example *example)
{
	static const uint8_t zeros[16];
	struct output out = { 0 };

	example->encode(&out);
	printf("%s, %zu bytes\n", example->heading, out.size);
	for (size_t i = 0; i < out.size; i += 16) {
		size_t count = out.size - i < 16 ? out.size - i : 16;

		if (!memcmp(out.bytes + i, zeros, count))
			continue;
		printf("    %04zx ", i);
		for (size_t j = 0; j < count; j++)
			printf(" %02x", out.bytes[i + j]);
		putchar('\n');
	}
	output_release(&out);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--examples")) {
		for (size_t i = 0; i < EXAMPLES; i++)
			show_example(&examples[i]);
		return EXIT_SUCCESS;
	}
	if (argc != 2 || chdir(argv[1]))
		stop("usage: make_golden FOLDER (with folders good, bad)");
	make_example();
	make_threads();
	make_programs();
	make_moments();
	make_kept();
	make_member();
	make_later();
	make_all("good/all.cpr", true);
	make_all("good/killed.cpr", false);
	cut("good/cut.cpr", 430);
	flip("good/footer.cpr", -40);
	flip("good/trailer.cpr", -20);
	make_bad();
	return EXIT_SUCCESS;
}
