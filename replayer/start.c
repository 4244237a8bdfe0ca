/* SPDX-License-Identifier: GPL-2.0-or-later */
/* start.c - a replay starts at the key frame of a segment */
#include "replayer/replayer_internal.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

int start_script(struct replayer *rep, size_t segment,
		 const struct key_frame *frame, struct failure *why)
{
	int rc;

	if (!rep->has_script || rep->segment != segment) {
		script_release(&rep->script);
		rc = script_load(&rep->script, rep->recording, segment, frame,
				 &rep->cache, why);
		rep->has_script = !rc;
		if (rc)
			return rc;
	}
	rep->segment = segment;
	rep->start = frame->time;
	rep->next = 0;
	return 0;
}

/* Those of a key frame that are aliases, or those that are not. */
static int map_regions(struct replayer *rep, const struct key_frame *frame,
		       bool aliases, struct failure *why)
{
	for (size_t i = 0; i < frame->region_count; i++) {
		const struct region *region = &frame->regions[i];
		int rc = 0;

		if (aliases == (region->common != 0))
			rc = memory_map(rep->memory, region, -1, why);
		if (rc == ERR_NOT_FOUND && aliases)
			return failed(why, ERR_CORRUPT,
				      "'%s': a key frame has an alias of pages "
				      "that are not mapped",
				      trace_reader_path(recording_reader(
					      rep->recording)));
		if (rc)
			return rc;
	}
	return 0;
}

static int map_all(struct replayer *rep, const struct key_frame *frame,
		   struct failure *why)
{
	int rc;

	memory_unmap_all(rep->memory);
	rc = map_regions(rep, frame, false, why);
	if (!rc)	/* aliases, of common pages that are there now */
		rc = map_regions(rep, frame, true, why);
	return rc;
}

static bool has_aliases(const struct region *regions, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (regions[i].common)
			return true;
	return false;
}

static bool is_same(const struct region *a, const struct region *b)
{
	return a->start == b->start && a->end == b->end &&
	       a->prot == b->prot && a->kind == b->kind &&
	       a->offset == b->offset && !strcmp(a->name, b->name);
}

/* Whether a list, sorted, has this region; `*next` is where to go on. */
static bool has_region(const struct region *list, size_t count, size_t *next,
		       const struct region *region)
{
	while (*next < count && list[*next].start < region->start)
		++*next;
	return *next < count && is_same(&list[*next], region);
}

/* Where a replay starts. */
struct new_start {
	struct replayer *rep;
	size_t segment;
};

/* Whether a page would be supplied there with what it was supplied with. */
static bool is_same_page(void *context, uint64_t page)
{
	const struct new_start *start = context;
	const uint64_t *had = number_map_find(&start->rep->supplied, page);
	struct failure why;
	uint64_t id;

	return had && !recording_snapshot(start->rep->recording,
					  start->segment, page, &id, &why) &&
	       id == *had;
}

/*
 * Unmaps and maps only what differs, so that most of what was translated stays.
 */
static int map_changes(struct replayer *rep, size_t segment,
		       const struct key_frame *frame, const struct region *now,
		       size_t count, struct failure *why)
{
	struct new_start start = { rep, segment };
	size_t next = 0;
	int rc = 0;

	for (size_t i = 0; i < count; i++)
		if (!has_region(frame->regions, frame->region_count, &next,
				&now[i]))
			memory_unmap(rep->memory, now[i].start,
				     now[i].end - now[i].start);
	next = 0;
	for (size_t i = 0; i < frame->region_count && !rc; i++)
		if (!has_region(now, count, &next, &frame->regions[i]))
			rc = memory_map(rep->memory, &frame->regions[i], -1,
					why);
	if (!rc)
		memory_restart(rep->memory, is_same_page, &start);
	return rc;
}

static int map_again(struct replayer *rep, size_t segment,
		     const struct key_frame *frame, struct failure *why)
{
	size_t count, size;
	const struct region *regions = memory_all_regions(rep->memory, &count);
	struct region *now;
	int rc;

	size = count * sizeof(*regions);
	now = malloc(size + 1);
	if (!now)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	memcpy(now, regions, size);
	rc = map_changes(rep, segment, frame, now, count, why);
	free(now);
	return rc;
}

/* Aliases come and go with their common pages, in an order of their own. */
static bool is_simple(const struct replayer *rep, const struct key_frame *frame)
{
	size_t count;
	const struct region *regions = memory_all_regions(rep->memory, &count);

	return !has_aliases(regions, count) &&
	       !has_aliases(frame->regions, frame->region_count);
}

/* Page by page, when they are touched. */
static int set_memory(struct replayer *rep, size_t segment,
		      const struct key_frame *frame, struct failure *why)
{
	int rc;

	/* After an error, what was executed may never have been there. */
	rep->refills = !rep->error && !rep->was_diverted &&
		       is_simple(rep, frame);
	rep->was_diverted = false;
	rc = rep->refills ? map_again(rep, segment, frame, why) :
			    map_all(rep, frame, why);
	for (size_t i = 0; i < frame->doubt_count && !rc; i++) {
		const struct doubt_range *range = &frame->doubts[i];

		rc = memory_restore_doubt(rep->memory,
					 range->page << GUEST_PAGE_SHIFT,
					 range->count << GUEST_PAGE_SHIFT,
					 range->number);
		if (rc)
			rc = failed(why, ERR_CORRUPT,
				    "'%s': a key frame doubts pages that are "
				    "not mapped",
				    trace_reader_path(recording_reader(
					    rep->recording)));
	}
	memory_set_doubt(rep->memory, frame->doubt);
	if (!rep->refills)
		memory_set_absent(rep->memory);
	return rc;
}

int start_guest(struct replayer *rep, size_t segment,
		const struct key_frame *frame, struct failure *why)
{
	int rc;

	segment_index_release(&rep->index);
	rc = recording_index(rep->recording, segment, &rep->index, why);
	if (!rc)
		rc = set_memory(rep, segment, frame, why);
	if (rc)
		return rc;
	rep->base = segment;
	rep->error = 0;
	return 0;
}

uint32_t start_stream(const struct replayer *rep, size_t segment)
{
	size_t count;

	return recording_streams(rep->recording, segment, &count)[0];
}

int start_at_frame(struct replayer *rep, size_t segment, struct failure *why)
{
	struct key_frame frame = { 0 };
	int rc = recording_key_frame(rep->recording, segment, &frame, why);

	rep->loaded = false;
	rep->peeked_count = 0;
	if (!rc)
		rc = start_script(rep, segment, &frame, why);
	if (!rc)
		rc = start_guest(rep, segment, &frame, why);
	if (!rc) {
		turns_start(rep, start_stream(rep, segment));
		vm_set_registers(rep->vm, &frame.regs);
		vm_set_steps(rep->vm, frame.time);
		rep->loaded = true;
	}
	key_frame_release(&frame);
	return rc;
}
