/* SPDX-License-Identifier: GPL-2.0-or-later */
/* key_frame.c - key frames as bytes; see key_frame.h */
#include "formats/key_frame.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

/* Smallest coded sizes of the list items: what bounds a count. */
#define REGION_BYTES 5
#define DOUBT_BYTES 3
#define PAGE_REF_BYTES 2

#define KNOWN_PROT (MAY_READ | MAY_WRITE | MAY_EXEC)

static bool is_cache_entries(uint64_t entries)
{
	return entries == 16384 || entries == 32768 || entries == 65536;
}

/* ------- encoding ------- */

static const char *name_before(const struct region *regions, size_t i)
{
	return i ? regions[i - 1].name : "";
}

/* 0 stands for the name of the region before: files come in rows. */
static void put_name(struct output *out, const char *name, const char *before)
{
	size_t size = strlen(name);

	assert(size <= REGION_NAME_MAX);
	if (!strcmp(name, before)) {
		output_varint(out, 0);
		return;
	}
	output_varint(out, size + 1);
	output_bytes(out, name, size);
}

static bool is_alias(const struct region *region)
{
	return region->kind == REGION_SHARED && region->end <= COMMON_START &&
	       region->common >= COMMON_START &&
	       region->common % GUEST_PAGE == 0 &&
	       region->common < GUEST_ADDR_END &&
	       region->end - region->start <= GUEST_ADDR_END - region->common;
}

static void put_regions(struct output *out, const struct key_frame *frame)
{
	guest_addr end = 0;

	output_varint(out, frame->region_count);
	for (size_t i = 0; i < frame->region_count; i++) {
		const struct region *region = &frame->regions[i];
		enum region_kind kind =
			region->common ? REGION_ALIAS : region->kind;

		assert(end <= region->start && region->start < region->end &&
		       region->end <= GUEST_ADDR_END);
		assert(region->start % GUEST_PAGE == 0 &&
		       region->end % GUEST_PAGE == 0);
		assert(region->prot <= KNOWN_PROT &&
		       region->kind != REGION_ALIAS);
		assert(!region->common || is_alias(region));
		assert(region->offset % GUEST_PAGE == 0 &&
		       region->offset < REGION_OFFSET_END);
		assert(region->kind != REGION_ANON || region->offset == 0);
		output_varint(out, (region->start - end) >> GUEST_PAGE_SHIFT);
		output_varint(out, (region->end - region->start) >>
					   GUEST_PAGE_SHIFT);
		output_uint(out, region->prot | kind << 4, 1);
		if (region->common)
			output_varint(out, (region->common - COMMON_START) >>
						   GUEST_PAGE_SHIFT);
		output_varint(out, region->offset >> GUEST_PAGE_SHIFT);
		put_name(out, region->name, name_before(frame->regions, i));
		end = region->end;
	}
}

static void put_doubts(struct output *out, const struct key_frame *frame)
{
	uint64_t end = 0;

	output_varint(out, frame->doubt_count);
	for (size_t i = 0; i < frame->doubt_count; i++) {
		const struct doubt_range *range = &frame->doubts[i];

		assert(end <= range->page && range->page < GUEST_PAGES);
		assert(range->count >= 1 &&
		       range->count <= GUEST_PAGES - range->page);
		assert(range->number >= 1 && range->number <= frame->doubt);
		output_varint(out, range->page - end);
		output_varint(out, range->count);
		output_varint(out, frame->doubt - range->number);
		end = range->page + range->count;
	}
}

void page_refs_encode(struct output *out, const struct page_ref *list,
		      size_t count)
{
	uint64_t end = 0;
	uint64_t id = 0;

	assert(count <= KEY_FRAME_LIST_MAX);
	output_varint(out, count);
	for (size_t i = 0; i < count; i++) {
		const struct page_ref *ref = &list[i];

		assert(end <= ref->page && ref->page < GUEST_PAGES);
		assert(ref->id < PAGE_ID_END);
		output_varint(out, ref->page - end);
		output_signed(out, (int64_t)(ref->id - id));
		end = ref->page + 1;
		id = ref->id;
	}
}

void key_frame_encode(struct output *out, const struct reg_table *table,
		      const struct key_frame *frame)
{
	assert(is_cache_entries(frame->cache_entries));
	assert(frame->region_count <= KEY_FRAME_LIST_MAX &&
	       frame->doubt_count <= KEY_FRAME_LIST_MAX);
	assert(frame->cache_size == 0 ||
	       frame->cache_size == 8 * (size_t)frame->cache_entries);
	output_varint(out, frame->time);
	output_varint(out, frame->steps);
	output_varint(out, frame->doubt);
	output_varint(out, frame->tid);
	output_varint(out, frame->cache_entries);
	output_bytes(out, frame->regs.bytes, table->bytes);
	put_regions(out, frame);
	put_doubts(out, frame);
	page_refs_encode(out, frame->pages, frame->page_count);
	output_varint(out, frame->cache_size);
	output_bytes(out, frame->cache, frame->cache_size);
}

/* ------- decoding ------- */

/* Notes the first thing that the specification forbids. */
static void check(struct input *in, bool is_good)
{
	if (!is_good && !in->error)
		in->error = ERR_CORRUPT;
}

/*
 * Takes the count of a list whose items need `least` bytes each, and makes
 * room for items of `size` bytes.  NULL if there are none.
 */
static void *take_list(struct input *in, size_t *count, size_t least,
		       size_t size)
{
	uint64_t taken = input_count(in, KEY_FRAME_LIST_MAX);
	void *list;

	*count = 0;
	if (!in->error && taken > input_left(in) / least)
		in->error = ERR_TRUNCATED;
	if (in->error || taken == 0)
		return NULL;
	list = calloc(taken, size);
	if (list)
		*count = taken;
	else
		in->error = ERR_NO_MEMORY;
	return list;
}

/*
 * Takes a range of pages that starts at or after page `end`: the pages
 * between, then the count.
 */
static uint64_t take_range(struct input *in, uint64_t end, uint64_t *count)
{
	uint64_t page = end + input_count(in, GUEST_PAGES - end);

	*count = input_count(in, GUEST_PAGES - page);
	check(in, *count >= 1);
	return page;
}

/* Takes a name into the frame's names, of which `*used` bytes are taken. */
static const char *take_name(struct input *in, struct key_frame *frame,
			     size_t *used, const char *before)
{
	uint64_t coded = input_count(in, REGION_NAME_MAX + 1);
	uint64_t size = coded ? coded - 1 : 0;
	const uint8_t *bytes = input_bytes(in, size);
	char *name = frame->names + *used;

	if (in->error || coded == 0)
		return before;
	if (size)
		memcpy(name, bytes, size);
	name[size] = '\0';
	/* A name has one form: no NUL, and not the one before in full. */
	check(in, strlen(name) == size && strcmp(name, before) != 0);
	*used += size + 1;
	return name;
}

static void take_common(struct input *in, struct region *region)
{
	uint64_t most = (GUEST_ADDR_END - COMMON_START - 1) >> GUEST_PAGE_SHIFT;

	region->kind = REGION_SHARED;
	region->common = COMMON_START +
			 (input_count(in, most) << GUEST_PAGE_SHIFT);
	check(in, is_alias(region));
}

static void take_regions(struct input *in, struct key_frame *frame)
{
	uint64_t end = 0;
	size_t used = 0;
	size_t count = 0;
	const char *name = "";

	frame->regions = take_list(in, &count, REGION_BYTES,
				   sizeof(*frame->regions));
	if (!frame->regions)
		return;
	/* A name and its NUL need at most the bytes that code them. */
	frame->names = malloc(input_left(in));
	if (!frame->names)
		in->error = ERR_NO_MEMORY;
	frame->region_count = count;
	for (size_t i = 0; i < count && !in->error; i++) {
		struct region *region = &frame->regions[i];
		uint64_t pages, page = take_range(in, end, &pages);
		unsigned flags = (unsigned)input_uint(in, 1);

		check(in, (flags & 15) <= KNOWN_PROT &&
			  flags >> 4 <= REGION_DEVICE);
		end = page + pages;
		region->start = page << GUEST_PAGE_SHIFT;
		region->end = end << GUEST_PAGE_SHIFT;
		region->prot = flags & 15;
		region->kind = (enum region_kind)(flags >> 4);
		if (region->kind == REGION_ALIAS)
			take_common(in, region);
		region->offset = input_count(in, (REGION_OFFSET_END - 1) >>
							 GUEST_PAGE_SHIFT)
				 << GUEST_PAGE_SHIFT;
		check(in, region->kind != REGION_ANON || region->offset == 0);
		name = take_name(in, frame, &used, name);
		region->name = name;
	}
}

static void take_doubts(struct input *in, struct key_frame *frame)
{
	uint64_t end = 0;

	frame->doubts = take_list(in, &frame->doubt_count, DOUBT_BYTES,
				  sizeof(*frame->doubts));
	for (size_t i = 0; i < frame->doubt_count && !in->error; i++) {
		struct doubt_range *range = &frame->doubts[i];

		range->page = take_range(in, end, &range->count);
		range->number = frame->doubt - input_count(in, frame->doubt);
		check(in, range->number >= 1);
		end = range->page + range->count;
	}
}

static void take_pages(struct input *in, struct page_ref **list, size_t *count)
{
	uint64_t end = 0;
	uint64_t id = 0;

	*list = take_list(in, count, PAGE_REF_BYTES, sizeof(**list));
	for (size_t i = 0; i < *count && !in->error; i++) {
		struct page_ref *ref = &(*list)[i];

		ref->page = end + input_count(in, GUEST_PAGES - end);
		check(in, ref->page < GUEST_PAGES);
		id += (uint64_t)input_signed(in);
		check(in, id < PAGE_ID_END);
		ref->id = id;
		end = ref->page + 1;
	}
}

int page_refs_decode(struct page_ref **list, size_t *count,
		     const uint8_t *bytes, size_t size)
{
	struct input in = { bytes, bytes + size, 0 };

	take_pages(&in, list, count);
	check(&in, input_left(&in) == 0);
	if (in.error) {
		free(*list);
		*list = NULL;
	}
	return in.error;
}

static void take_cache(struct input *in, struct key_frame *frame)
{
	uint64_t size = input_varint(in);
	const uint8_t *bytes;

	check(in, size == 0 || size == 8 * (uint64_t)frame->cache_entries);
	bytes = input_bytes(in, size);
	if (in->error || size == 0)
		return;
	frame->cache = malloc(size);
	if (!frame->cache) {
		in->error = ERR_NO_MEMORY;
		return;
	}
	memcpy(frame->cache, bytes, size);
	frame->cache_size = size;
}

int key_frame_decode(struct key_frame *out, const struct reg_table *table,
		     const uint8_t *bytes, size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	struct key_frame frame = { 0 };
	const uint8_t *regs;

	frame.time = input_varint(&in);
	frame.steps = input_varint(&in);
	frame.doubt = input_varint(&in);
	frame.tid = (uint32_t)input_count(&in, UINT32_MAX);
	frame.cache_entries = (unsigned)input_count(&in, UINT32_MAX);
	check(&in, is_cache_entries(frame.cache_entries));
	regs = input_bytes(&in, table->bytes);
	if (regs)
		memcpy(frame.regs.bytes, regs, table->bytes);
	take_regions(&in, &frame);
	take_doubts(&in, &frame);
	take_pages(&in, &frame.pages, &frame.page_count);
	take_cache(&in, &frame);
	check(&in, input_left(&in) == 0);
	if (in.error) {
		key_frame_release(&frame);
		return in.error;
	}
	*out = frame;
	return 0;
}

void key_frame_release(struct key_frame *frame)
{
	free(frame->regions);
	free(frame->doubts);
	free(frame->pages);
	free(frame->cache);
	free(frame->names);
	*frame = (struct key_frame){ 0 };
}
