/* SPDX-License-Identifier: GPL-2.0-or-later */
/* examples.c - see examples.h */
#include "tests/golden/examples.h"

#include <string.h>

#include "cache/prediction.h"
#include "formats/error.h"
#include "formats/key_frame.h"
#include "formats/packet.h"
#include "formats/page_items.h"
#include "tests/unit/page_items_sample.h"

/* ------- a key frame ------- */

static void encode_key_frame(struct output *out)
{
	const struct reg_table *table = reg_table(ARCH_X86_64);
	struct region regions[] = {
		{ 0x400000, 0x401000, MAY_READ | MAY_EXEC, REGION_FILE, 0,
		  "/bin/true" },
		{ 0x7ffffffde000, 0x7ffffffff000, MAY_READ | MAY_WRITE,
		  REGION_ANON, 0, "[stack]" },
	};
	struct doubt_range doubt = { 0x400, 1, 1 };
	struct page_ref page = { 0x7fffffffd, 1 };
	struct key_frame frame = {
		.doubt = 1, .tid = 1000, .cache_entries = 32768,
		.regions = regions, .region_count = 2,
		.doubts = &doubt, .doubt_count = 1,
		.pages = &page, .page_count = 1,
	};

	reg_set(table, &frame.regs, X86_RIP, 0x400078);
	reg_set(table, &frame.regs, X86_RSP, 0x7fffffffe000);
	reg_set(table, &frame.regs, X86_RFLAGS, 0x202);
	key_frame_encode(out, table, &frame);
}

static int key_frame_again(struct output *out, const uint8_t *bytes,
			   size_t size)
{
	const struct reg_table *table = reg_table(ARCH_X86_64);
	struct key_frame frame;
	int rc = key_frame_decode(&frame, table, bytes, size);

	if (rc)
		return rc;
	key_frame_encode(out, table, &frame);
	key_frame_release(&frame);
	return 0;
}

/* ------- packets ------- */

/* Newest doubt: as in the key frame. */
static const struct packet_state first_state = { .doubt = 1 };

static void encode_packets(struct output *out)
{
	static const uint8_t rcx[8] = { 0x80, 0, 0x40 };
	static const struct packet packets[] = {
		{ PACKET_TOUCH, .number = 1, .addr = 0x400000, .page_id = 2 },
		{ PACKET_SYSCALL, .steps = 200, .number = 318, .result = 8 },
		{ PACKET_REG, .number = X86_RCX, .size = 8, .value = rcx },
		{ PACKET_WRITE, .addr = 0x7fffffffdff4, .size = 8 },
	};
	struct packet_state state = first_state;

	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		packet_encode(out, &state, &packets[i]);
}

static int packets_again(struct output *out, const uint8_t *bytes, size_t size)
{
	struct packet_state before = first_state, again = first_state;
	struct input in = { bytes, bytes + size, 0 };
	int rc = 0;

	while (input_left(&in) && !rc) {
		struct packet packet;

		rc = packet_decode(&in, &before, &packet);
		if (!rc)
			packet_encode(out, &again, &packet);
	}
	return rc;
}

/* ------- a read stream: what the WRITE above wrote ------- */

#define SEEN_AT 0x7fffffffdff4u

/* The first four are what an empty cache predicts. */
static const uint8_t seen[8] = { 0, 0, 0, 0, 5, 6, 7, 8 };

static void encode_reads(struct output *out)
{
	struct prediction_writer reads;
	struct cache cache;

	if (cache_init(&cache, 32768)) {
		out->error = ERR_NO_MEMORY;
		return;
	}
	prediction_writer_init(&reads, &cache);
	prediction_record(&reads, SEEN_AT, seen, sizeof(seen));
	prediction_finish(&reads);
	output_bytes(out, reads.stream.bytes, reads.stream.size);
	prediction_writer_release(&reads);
	cache_release(&cache);
}

static int reads_again(struct output *out, const uint8_t *bytes, size_t size)
{
	struct prediction_reader reads;
	struct prediction_writer again;
	struct cache cache, other;
	uint8_t found[sizeof(seen)] = { 0 };
	int rc;

	if (cache_init(&cache, 32768) || cache_init(&other, 32768))
		return ERR_NO_MEMORY;
	prediction_reader_init(&reads, &cache, bytes, size);
	rc = prediction_replay(&reads, SEEN_AT, found, sizeof(found));
	prediction_writer_init(&again, &other);
	prediction_record(&again, SEEN_AT, found, sizeof(found));
	prediction_finish(&again);
	output_bytes(out, again.stream.bytes, again.stream.size);
	prediction_writer_release(&again);
	cache_release(&cache);
	cache_release(&other);
	return rc || memcmp(found, seen, sizeof(seen)) ? ERR_CORRUPT : 0;
}

/* ------- pages ------- */

static void encode_pages(struct output *out)
{
	uint8_t first[GUEST_PAGE] = { 0 }, second[GUEST_PAGE];
	struct page_batch batch = { 0 };
	struct page_patch patch;

	memcpy(first + 0x78, "\x0f\x05\xeb\xfc", 4);
	memcpy(second, first, sizeof(second));
	second[0x79] = 0x0b;
	page_batch_add(&batch, first);
	if (page_patch_make(&patch, first, second, PAGE_WORDS))
		page_batch_add_patch(&batch, &patch, 1);
	page_batch_end(&batch);
	output_bytes(out, batch.pages.bytes, batch.pages.size);
	output_release(&batch.pages);
}

static int pages_again(struct output *out, const uint8_t *bytes, size_t size)
{
	struct page_item items[PAGE_ITEMS_MOST];
	struct page_batch again = { 0 };
	int rc = page_items_decode(items, 2, 1, bytes, size);

	if (rc)
		return rc;
	for (unsigned i = 0; i < 2; i++)
		batch_add_item(&again, &items[i], 1 + i);
	page_batch_end(&again);
	output_bytes(out, again.pages.bytes, again.pages.size);
	output_release(&again.pages);
	return 0;
}

const struct example examples[EXAMPLES] = {
	{ "A key frame", encode_key_frame, key_frame_again },
	{ "Packets", encode_packets, packets_again },
	{ "A read stream", encode_reads, reads_again },
	{ "A page and a patch", encode_pages, pages_again },
};
