/* SPDX-License-Identifier: GPL-2.0-or-later */
/* segment_index.c - the page level of the index as bytes; see key_frame.h */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "formats/error.h"
#include "formats/key_frame.h"

#define HOW_BITS 3
#define HOW_MASK ((1u << HOW_BITS) - 1)

/* What one item is coded against. */
struct before {
	uint64_t page;
	uint64_t doubt;
	uint64_t id;
};

/* Whether `touch` may stand behind an item of the same page. */
static bool is_after(const struct page_touch *touch,
		     const struct page_touch *before)
{
	return touch->page > before->page ||
	       (touch->page == before->page && touch->doubt > before->doubt);
}

static bool is_valid(const struct page_touch *touch, uint64_t steps)
{
	if (touch->page >= GUEST_PAGES || touch->how < 1 || touch->how > HOW_MASK)
		return false;
	if (touch->write_time > steps)
		return false;
	if (!(touch->how & PAGE_WAS_WRITTEN) && touch->write_time)
		return false;
	if (!(touch->how & PAGE_WAS_RESOLVED))
		return !touch->doubt && !touch->resolved_id;
	return touch->doubt >= 1 && touch->resolved_id < PAGE_ID_END;
}

static void put_touch(struct output *out, struct before *before,
		      const struct page_touch *touch)
{
	output_varint(out, (touch->page - before->page) << HOW_BITS |
				   touch->how);
	before->page = touch->page;
	if (touch->how & PAGE_WAS_WRITTEN)
		output_varint(out, touch->write_time);
	if (!(touch->how & PAGE_WAS_RESOLVED))
		return;
	output_signed(out, (int64_t)(touch->doubt - before->doubt));
	output_signed(out, (int64_t)(touch->resolved_id - before->id));
	before->doubt = touch->doubt;
	before->id = touch->resolved_id;
}

size_t page_touches_find(const struct page_touch *list, size_t count,
			 uint64_t page)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[middle].page < page)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void segment_index_encode(struct output *out,
			  const struct segment_index *index)
{
	struct before before = { 0 };

	assert(index->page_count <= KEY_FRAME_LIST_MAX);
	output_varint(out, index->steps);
	output_varint(out, index->page_count);
	for (size_t i = 0; i < index->page_count; i++) {
		assert(is_valid(&index->pages[i], index->steps));
		assert(!i || is_after(&index->pages[i], &index->pages[i - 1]));
		put_touch(out, &before, &index->pages[i]);
	}
}

static void take_touch(struct input *in, struct before *before,
		       struct page_touch *touch)
{
	uint64_t coded = input_varint(in);

	touch->how = coded & HOW_MASK;
	touch->page = before->page + (coded >> HOW_BITS);
	before->page = touch->page;
	if (touch->how & PAGE_WAS_WRITTEN)
		touch->write_time = input_varint(in);
	if (!(touch->how & PAGE_WAS_RESOLVED))
		return;
	touch->doubt = before->doubt + (uint64_t)input_signed(in);
	touch->resolved_id = before->id + (uint64_t)input_signed(in);
	before->doubt = touch->doubt;
	before->id = touch->resolved_id;
}

static int take_touches(struct input *in, struct segment_index *index)
{
	struct before before = { 0 };

	for (size_t i = 0; i < index->page_count; i++) {
		struct page_touch *touch = &index->pages[i];

		take_touch(in, &before, touch);
		if (in->error)
			return in->error;
		if (!is_valid(touch, index->steps))
			return ERR_CORRUPT;
		if (i && !is_after(touch, touch - 1))
			return ERR_CORRUPT;
	}
	return input_left(in) ? ERR_CORRUPT : 0;
}

int segment_index_decode(struct segment_index *out, const uint8_t *bytes,
			 size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	struct segment_index index = { 0 };
	int rc;

	index.steps = input_varint(&in);
	index.page_count = input_count(&in, KEY_FRAME_LIST_MAX);
	if (in.error)
		return in.error;
	if (index.page_count > input_left(&in))
		return ERR_TRUNCATED;
	if (index.page_count) {
		index.pages = calloc(index.page_count, sizeof(*index.pages));
		if (!index.pages)
			return ERR_NO_MEMORY;
	}
	rc = take_touches(&in, &index);
	if (rc) {
		segment_index_release(&index);
		return rc;
	}
	*out = index;
	return 0;
}

void segment_index_release(struct segment_index *index)
{
	free(index->pages);
	*index = (struct segment_index){ 0 };
}
