/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_sample.h - small recordings, written part by part
 *
 * Each test program has a file of its own, `path`.
 */
#ifndef CPREC_TESTS_UNIT_RECORDING_SAMPLE_H
#define CPREC_TESTS_UNIT_RECORDING_SAMPLE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/packet.h"
#include "formats/page_items.h"
#include "formats/symbols.h"
#include "replayer/recording/recording.h"
#include "replayer/symbols/names.h"
#include "tests/unit/table.h"

#define LIBRARY 0x7f0000000000u

static char path[] = "/tmp/cprec-recording-XXXXXX";

static inline struct trace_writer *start(void)
{
	struct trace_header header = { .arch = ARCH_X86_64, .id = { 1 } };
	struct trace_writer *writer;
	struct failure why;

	unlink(path);
	assert_int_equal(trace_writer_open(&writer, path, &header, 1, &why), 0);
	return writer;
}

static inline void put(struct trace_writer *writer, enum chunk_kind kind,
		       uint32_t segment, uint64_t first, struct output *content)
{
	struct failure why;

	assert_int_equal(content->error, 0);
	assert_int_equal(trace_writer_chunk(writer, kind, 0, segment, first,
					    content, &why),
			 0);
}

/* Of a process whose parent is not recorded, if `parent` is 0. */
static inline void put_meta_of(struct trace_writer *writer, uint32_t parent)
{
	char name[] = "prog", empty[] = "", file[] = "/bin/prog";
	char *argv[] = { name, NULL };
	struct meta meta = {
		.argv = argv,
		.argc = 1,
		.path = file,
		.directory = empty,
		.host = empty,
		.made_by = empty,
		.cache_entries = 16384,
		.processor = *processor_of(ARCH_X86_64),
		.origin = { parent, parent, parent ? 77 : 0 },
	};
	struct output out = { 0 };

	meta_encode(&out, &meta);
	put(writer, CHUNK_META, 0, 0, &out);
}

static inline void put_meta(struct trace_writer *writer)
{
	put_meta_of(writer, 0);
}

static inline void put_key_frame(struct trace_writer *writer, uint32_t segment,
				 uint64_t time, struct page_ref *pages,
				 size_t count)
{
	struct region regions[] = {
		{ 0x401000, 0x403000, MAY_READ | MAY_EXEC, REGION_FILE, 0x1000,
		  "/bin/prog" },
		{ 0x403000, 0x404000, MAY_READ | MAY_WRITE, REGION_ANON, 0,
		  "" },
	};
	struct key_frame frame = {
		.time = time,
		.steps = time,
		.tid = 7,
		.cache_entries = 16384,
		.regions = regions,
		.region_count = COUNT(regions),
		.pages = pages,
		.page_count = count,
	};
	struct output out = { 0 };

	key_frame_encode(&out, reg_table(ARCH_X86_64), &frame);
	put(writer, CHUNK_KEY_FRAME, segment, time, &out);
}

static inline void put_event(struct trace_writer *writer, uint32_t segment,
			     uint64_t steps)
{
	struct packet packet = {
		.kind = PACKET_SYSCALL,
		.steps = steps,
		.number = 1,
	};
	struct packet_state state = { 0 };
	struct output out = { 0 };

	packet_encode(&out, &state, &packet);
	put(writer, CHUNK_EVENTS, segment, 0, &out);
}

static inline void put_packets(struct trace_writer *writer, uint32_t segment,
			       const struct packet *packets, size_t count)
{
	struct packet_state state = { 0 };
	struct output out = { 0 };

	for (size_t i = 0; i < count; i++)
		packet_encode(&out, &state, &packets[i]);
	put(writer, CHUNK_EVENTS, segment, 0, &out);
}

/* Maps the library and unmaps it again. */
static inline void put_mappings(struct trace_writer *writer, uint32_t segment)
{
	struct packet packets[] = {
		{ .kind = PACKET_SYSCALL, .steps = 10, .number = 9 },
		{ .kind = PACKET_MAP,
		  .addr = LIBRARY,
		  .size = 0x2000,
		  .prot = MAY_READ,
		  .region = REGION_FILE,
		  .name = "/lib/libx.so",
		  .name_size = 12 },
		{ .kind = PACKET_SYSCALL, .steps = 10, .number = 11 },
		{ .kind = PACKET_UNMAP, .addr = LIBRARY, .size = 0x2000 },
		{ .kind = PACKET_SYSCALL, .steps = 10, .number = 25 },
		{ .kind = PACKET_MOVE,
		  .addr = 0x403000,
		  .size = 0x1000,
		  .target = 0x500000 },
	};

	put_packets(writer, segment, packets, COUNT(packets));
}

/* Pages whose bytes are their ids. */
static inline void put_pages(struct trace_writer *writer, uint64_t first,
			     unsigned count)
{
	struct page_batch batch = { 0 };
	uint8_t page[GUEST_PAGE];
	struct failure why;

	for (unsigned i = 0; i < count; i++) {
		memset(page, (int)(first + i), sizeof(page));
		page_batch_add(&batch, page);
	}
	page_batch_end(&batch);
	assert_int_equal(trace_writer_chunk(writer, CHUNK_PAGES, count, 0,
					    first, &batch.pages, &why), 0);
}

/*
 * So many versions of such a page: whole, and then patches, each of the one
 * before it; the last byte tells how many came before.
 */
static inline void put_patches(struct trace_writer *writer, uint64_t first,
			       unsigned count)
{
	struct page_batch batch = { 0 };
	struct page_patch patch;
	uint8_t page[GUEST_PAGE], next[GUEST_PAGE];
	struct failure why;

	memset(page, (int)first, sizeof(page));
	page[GUEST_PAGE - 1] = 0;
	page_batch_add(&batch, page);
	while (batch.count < count) {
		memcpy(next, page, sizeof(next));
		next[GUEST_PAGE - 1]++;
		assert_true(page_patch_make(&patch, page, next, 1));
		page_batch_add_patch(&batch, &patch, 1);
		memcpy(page, next, sizeof(page));
	}
	page_batch_end(&batch);
	assert_int_equal(trace_writer_chunk(writer, CHUNK_PAGES, count, 0,
					    first, &batch.pages, &why), 0);
}

static inline void put_reads(struct trace_writer *writer, uint32_t segment,
			     const char *bytes)
{
	struct output out = { 0 };

	output_bytes(&out, bytes, strlen(bytes));
	put(writer, CHUNK_READS, segment, 0, &out);
}

static inline void put_symbols(struct trace_writer *writer, const char *file,
			       uint64_t link_base, uint64_t base_offset,
			       uint64_t addr, const char *name)
{
	struct symbol symbol = { addr, 8, SYMBOL_OBJECT, name };
	struct symbols symbols = {
		.path = strdup(file),
		.link_base = link_base,
		.link_end = link_base + 0x3000,
		.base_offset = base_offset,
		.list = &symbol,
		.count = 1,
	};
	struct output out = { 0 };

	symbols_encode(&out, &symbols);
	put(writer, CHUNK_SYMBOLS, 0, 0, &out);
	free(symbols.path);
}

static inline void put_summary(struct trace_writer *writer, uint64_t time)
{
	struct summary_thread thread = { 7, time };
	struct summary summary = {
		.time = time,
		.exit_code = 3,
		.threads = &thread,
		.thread_count = 1,
	};
	struct output out = { 0 };

	summary_encode(&out, &summary);
	put(writer, CHUNK_SUMMARY, 0, 0, &out);
}

static inline void finish(struct trace_writer *writer)
{
	struct failure why;

	assert_int_equal(trace_writer_finish(writer, &why), 0);
	trace_writer_close(writer);
}

static inline struct recording *reopen(void)
{
	struct recording *recording;
	struct failure why;

	assert_int_equal(recording_open(&recording, path, &why), 0);
	return recording;
}

/* Gives `path` its name. */
static inline bool make_path(void)
{
	int fd = mkstemp(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

#endif
