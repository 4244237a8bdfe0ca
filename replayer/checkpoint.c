/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checkpoint.c - the state inside a segment, kept so that a replay can start
 * there
 *
 * It is little more than the pages that were written since the segment's key
 * frame.  Which these are, the index says.  All else comes from the recording,
 * as at the key frame: what is mapped and what is doubtful follows from the
 * events up to here, whose other effects are left out; pages that were only
 * read come from the snapshots or from their first touch.
 */
#include "replayer/replayer_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/array.h"
#include "formats/error.h"

/* A larger one takes more mappings of the host than are left for others. */
#define RUNS_MOST 4096

/*
 * So many pages are a mapping of their own: it is gone when they are.  Among
 * others' blocks they would leave holes that nothing fits into.
 */
#define PAGES_MAPPED 32

struct pages {
	uint64_t *list;
	size_t count, room;
};

/* ------- which pages ------- */

static int add_pages(struct pages *pages, uint64_t first, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		if (array_room(pages->list, pages->count, pages->room))
			return ERR_NO_MEMORY;
		pages->list[pages->count++] = first + i;
	}
	return 0;
}

static int add_written(struct pages *pages, const struct segment_index *index,
		       uint64_t steps)
{
	int rc = 0;

	for (size_t i = 0; i < index->page_count && !rc; i++) {
		const struct page_touch *touch = &index->pages[i];

		if (touch->how & PAGE_WAS_WRITTEN && touch->write_time <= steps)
			rc = add_pages(pages, touch->page, 1);
	}
	return rc;
}

/* What was moved may have been written before that, elsewhere. */
static int add_moved(struct pages *pages, const struct replayer *rep)
{
	size_t end = rep->next ? rep->script.events[rep->next - 1].first +
				 rep->script.events[rep->next - 1].count : 0;
	int rc = 0;

	for (size_t i = 0; i < end && !rc; i++) {
		const struct packet *packet = &rep->script.effects[i].packet;

		if (packet->kind == PACKET_MOVE)
			rc = add_pages(pages,
				       packet->target >> GUEST_PAGE_SHIFT,
				       packet->size >> GUEST_PAGE_SHIFT);
	}
	return rc;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

/* Sorts them, and leaves each once. */
static void sort(struct pages *pages)
{
	size_t kept = 0;

	if (pages->count)
		qsort(pages->list, pages->count, sizeof(*pages->list),
		      by_number);
	for (size_t i = 0; i < pages->count; i++)
		if (!kept || pages->list[i] != pages->list[kept - 1])
			pages->list[kept++] = pages->list[i];
	pages->count = kept;
}

/*
 * Leaves those whose contents are there: absent and doubtful pages will be so
 * again.  False if there are too many, or if any is shared: of those, what was
 * known before a doubt counts, too.
 */
static bool keep_known(struct pages *pages, struct memory *memory)
{
	size_t kept = 0, runs = 0;

	for (size_t i = 0; i < pages->count; i++) {
		uint64_t page = pages->list[i];
		const struct region *region =
			memory_region_at(memory, page << GUEST_PAGE_SHIFT);

		if (region && region->kind == REGION_SHARED)
			return false;
		if (!memory_peek(memory, page))
			continue;
		runs += !kept || page != pages->list[kept - 1] + 1;
		pages->list[kept++] = page;
	}
	pages->count = kept;
	return runs <= RUNS_MOST;
}

/* `*possible`: whether they are all that a checkpoint needs. */
static int find_pages(struct replayer *rep, struct pages *pages,
		      bool *possible, struct failure *why)
{
	struct segment_index index = { 0 };
	int rc = recording_index(rep->recording, rep->segment, &index, why);

	*possible = false;
	if (rc)
		return rc;
	rc = add_written(pages, &index, vm_steps(rep->vm) - rep->start);
	if (!rc)
		rc = add_moved(pages, rep);
	if (rc)
		failed(why, rc, "out of memory");
	sort(pages);
	/* A recording that ends early has a segment without an index. */
	*possible = !rc && index.steps && keep_known(pages, rep->memory);
	segment_index_release(&index);
	return rc;
}

/* ------- taking one ------- */

int checkpoint_make_room(struct checkpoint *point)
{
	size_t size = point->page_count << GUEST_PAGE_SHIFT;

	if (point->page_count < PAGES_MAPPED) {
		point->bytes = malloc(size + 1);
	} else {
		point->bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (point->bytes == MAP_FAILED)
			point->bytes = NULL;
	}
	return point->bytes ? 0 : ERR_NO_MEMORY;
}

static void leave_room(struct checkpoint *point)
{
	if (point->page_count < PAGES_MAPPED)
		free(point->bytes);
	else if (point->bytes)
		munmap(point->bytes, point->page_count << GUEST_PAGE_SHIFT);
}

static int copy_pages(struct checkpoint *point, struct memory *memory)
{
	if (checkpoint_make_room(point))
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < point->page_count; i++)
		memcpy(point->bytes + (i << GUEST_PAGE_SHIFT),
		       memory_peek(memory, point->pages[i]), GUEST_PAGE);
	return 0;
}

static int fill_in(struct replayer *rep, struct checkpoint *point,
		   const struct pages *pages, struct failure *why)
{
	int rc;

	point->at = (struct segment_position){
		rep->segment, vm_steps(rep->vm), events_done(rep),
	};
	point->next = rep->next;
	point->pages = pages->list;
	point->page_count = pages->count;
	rc = turns_save(rep, &point->turns);
	if (!rc)
		rc = copy_pages(point, rep->memory);
	point->size = sizeof(*point) +
		      point->turns.count * sizeof(*point->turns.list) +
		      point->page_count * (GUEST_PAGE + sizeof(*point->pages));
	return rc ? failed(why, rc, "out of memory") : 0;
}

int checkpoint_take(struct replayer *rep, uint64_t most,
		    struct checkpoint **out, struct failure *why)
{
	struct checkpoint *point = NULL;
	struct pages pages = { 0 };
	bool possible;
	int rc;

	*out = NULL;
	doubtful_forget_peeks(rep);
	rc = find_pages(rep, &pages, &possible, why);
	if (!rc && possible && pages.count <= most >> GUEST_PAGE_SHIFT) {
		point = calloc(1, sizeof(*point));
		if (!point)
			rc = failed(why, ERR_NO_MEMORY, "out of memory");
	}
	if (!point) {
		free(pages.list);
		return rc;
	}
	rc = fill_in(rep, point, &pages, why);
	if (rc)
		checkpoint_release(point);
	else
		*out = point;
	return rc;
}

void checkpoint_release(struct checkpoint *point)
{
	if (!point)
		return;
	free(point->turns.list);
	free(point->pages);
	free(point->encoded);
	leave_room(point);
	free(point);
}

/* ------- starting at one ------- */

static void fill_pages(struct replayer *rep, const struct checkpoint *point)
{
	size_t i = 0;

	while (i < point->page_count) {
		size_t first = i++;

		/* Of a file, it may say what is not true. */
		if (!memory_region_at(rep->memory,
				      point->pages[first] << GUEST_PAGE_SHIFT))
			continue;
		while (i < point->page_count &&
		       memory_region_at(rep->memory,
					point->pages[i] << GUEST_PAGE_SHIFT) &&
		       point->pages[i] == point->pages[i - 1] + 1)
			i++;
		memory_fill(rep->memory, point->pages[first], i - first,
			    point->bytes + (first << GUEST_PAGE_SHIFT));
	}
}

int checkpoint_start(struct replayer *rep, const struct checkpoint *point,
		     struct failure *why)
{
	int rc = start_at_frame(rep, point->at.segment, why);

	if (!rc && point->next > rep->script.event_count)
		rc = failed(why, ERR_CORRUPT, "a start point is damaged");
	for (; !rc && rep->next < point->next; rep->next++)
		rc = effects_remap(rep, &rep->script.events[rep->next], why);
	if (!rc)
		rc = turns_restore(rep, &point->turns, why);
	rep->loaded = !rc;
	if (rc)
		return rc;
	fill_pages(rep, point);
	vm_set_steps(rep->vm, point->at.time);
	return 0;
}
