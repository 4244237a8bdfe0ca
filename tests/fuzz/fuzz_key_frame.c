/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first byte chooses a decoder: key frames (after 518 bytes of registers
 * that the harness puts in), indexes, meta data, summaries or
 * programs.  What is accepted is encoded again to the same bytes, and is
 * sorted.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "formats/key_frame.h"
#include "formats/meta.h"

/* Time 1, steps 1, doubt 5, thread 1, cache of 16384 entries. */
static const uint8_t head[] = { 1, 1, 5, 1, 0x80, 0x80, 1 };

static void check_frame(const struct key_frame *frame)
{
	for (size_t i = 0; i < frame->region_count; i++) {
		assert(frame->regions[i].start < frame->regions[i].end);
		assert(!i || frame->regions[i - 1].end <=
				     frame->regions[i].start);
		assert(strlen(frame->regions[i].name) <= REGION_NAME_MAX);
	}
	for (size_t i = 1; i < frame->page_count; i++)
		assert(frame->pages[i - 1].page < frame->pages[i].page);
}

static void try_key_frame(const uint8_t *data, size_t size)
{
	const struct reg_table *table = reg_table(ARCH_X86_64);
	struct key_frame frame;
	struct output bytes = { 0 };
	struct output again = { 0 };
	int rc;

	output_bytes(&bytes, head, sizeof(head));
	memset(output_space(&bytes, table->bytes), 0x33, table->bytes);
	output_bytes(&bytes, data, size);
	rc = key_frame_decode(&frame, table, bytes.bytes, bytes.size);
	assert(!rc || is_documented(rc));
	if (!rc) {
		check_frame(&frame);
		key_frame_encode(&again, table, &frame);
		assert_same(&again, bytes.bytes, bytes.size);
		key_frame_release(&frame);
	}
	output_release(&bytes);
}

static void try_index(const uint8_t *data, size_t size)
{
	struct segment_index index;
	struct output again = { 0 };
	int rc = segment_index_decode(&index, data, size);

	assert(!rc || is_documented(rc));
	if (rc)
		return;
	for (size_t i = 1; i < index.page_count; i++)
		assert(index.pages[i - 1].page <= index.pages[i].page);
	segment_index_encode(&again, &index);
	assert_same(&again, data, size);
	segment_index_release(&index);
}

static void try_meta(const uint8_t *data, size_t size)
{
	struct meta meta;
	struct output again = { 0 };
	int rc = meta_decode(&meta, data, size);

	assert(!rc || is_documented(rc));
	if (rc)
		return;
	meta_encode(&again, &meta);
	assert_same(&again, data, size);
	meta_release(&meta);
}

static void try_summary(const uint8_t *data, size_t size)
{
	struct summary summary;
	struct output again = { 0 };
	int rc = summary_decode(&summary, data, size);

	assert(!rc || is_documented(rc));
	if (rc)
		return;
	summary_encode(&again, &summary);
	assert_same(&again, data, size);
	summary_release(&summary);
}

static void try_program(const uint8_t *data, size_t size)
{
	struct program_image image;
	struct output again = { 0 };
	int rc = program_image_decode(&image, data, size);

	assert(!rc || is_documented(rc));
	if (rc)
		return;
	program_image_encode(&again, &image);
	assert_same(&again, data, size);
	program_image_release(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const decoders[])(const uint8_t *, size_t) = {
		try_key_frame, try_index, try_meta, try_summary, try_program,
	};

	if (size)
		decoders[data[0] % 5](data + 1, size - 1);
	return 0;
}
