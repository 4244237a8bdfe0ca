/* SPDX-License-Identifier: GPL-2.0-or-later */
/* segment_view.c - see segment_view.h */
#include "index/segment_view.h"

#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"
#include "index/lines.h"
#include "replayer/recording/recording.h"

static int add(struct page_changes *changes, const struct page_change *change)
{
	if (array_room(changes->list, changes->count, changes->room))
		return ERR_NO_MEMORY;
	changes->list[changes->count++] = *change;
	return 0;
}

struct change_search {
	struct segment_view *view;
	uint64_t start;		/* of the segment */
};

static int note_change(void *context, const struct packet_place *place,
		       const struct packet *packet)
{
	const struct change_search *search = context;
	struct segment_view *view = search->view;
	struct page_change change = {
		.time = place->time - search->start,
		.events = place->events,
		.addr = packet->addr,
		.size = packet->size,
	};
	int rc = 0;

	if (place->is_told)
		return 0;
	switch (packet->kind) {
	case PACKET_MOVE:
		change.addr = packet->target;
		rc = add(&view->changes, &change);
		change.addr = packet->addr;
		/* fall through */
	case PACKET_MAP:
	case PACKET_UNMAP:
	case PACKET_CLEAR:
		return rc ? rc : add(&view->changes, &change);
	case PACKET_DOUBT:
		change.doubt = packet->number;
		return add(&view->changes, &change);
	case PACKET_TOUCH:
		change.doubt = packet->number;
		change.size = GUEST_PAGE;
		return add(&view->touches, &change);
	default:
		return 0;
	}
}

/* What takes most room is for those who replay. */
static void leave_out(struct key_frame *frame)
{
	free(frame->pages);
	free(frame->cache);
	frame->pages = NULL;
	frame->cache = NULL;
	frame->page_count = frame->cache_size = 0;
}

int segment_view_frame(struct segment_view *view, struct recording *recording,
		       size_t segment, struct failure *why)
{
	int rc;

	if (view->has_frame)
		return 0;
	rc = recording_key_frame(recording, segment, &view->frame, why);
	view->has_frame = !rc;
	if (!rc)
		leave_out(&view->frame);
	return rc;
}

int segment_view_load(struct segment_view *view, struct recording *recording,
		      size_t segment, struct failure *why)
{
	int rc = segment_view_frame(view, recording, segment, why);

	if (rc || view->loaded)
		return rc;
	rc = recording_index(recording, segment, &view->index, why);
	view->loaded = !rc;
	if (rc)
		segment_view_release(view);
	return rc;
}

int segment_view_packets(struct segment_view *view,
			 struct recording *recording, size_t segment,
			 struct failure *why)
{
	struct change_search search = {
		view, recording_time(recording, segment),
	};
	int rc = segment_view_load(view, recording, segment, why);

	if (rc || view->has_packets)
		return rc;
	rc = recording_each_packet(recording, segment, note_change, &search,
				   why);
	view->has_packets = !rc;
	if (rc)
		segment_view_release(view);
	return rc == ERR_NO_MEMORY ? failed(why, rc, "out of memory") : rc;
}

void segment_view_release(struct segment_view *view)
{
	key_frame_release(&view->frame);
	segment_index_release(&view->index);
	free(view->changes.list);
	free(view->touches.list);
	*view = (struct segment_view) { 0 };
}

size_t segment_view_size(const struct segment_view *view)
{
	const struct key_frame *frame = &view->frame;

	return frame->region_count * sizeof(*frame->regions) +
	       frame->doubt_count * sizeof(*frame->doubts) +
	       view->index.page_count * sizeof(*view->index.pages) +
	       view->changes.room * sizeof(*view->changes.list) +
	       view->touches.room * sizeof(*view->touches.list);
}

const struct region *segment_view_region(const struct segment_view *view,
					 uint64_t page)
{
	const struct key_frame *frame = &view->frame;
	guest_addr addr = page << GUEST_PAGE_SHIFT;

	for (size_t i = 0; i < frame->region_count; i++)
		if (frame->regions[i].start <= addr &&
		    addr < frame->regions[i].end)
			return &frame->regions[i];
	return NULL;
}

uint64_t segment_view_doubt(const struct segment_view *view, uint64_t page)
{
	for (size_t i = 0; i < view->frame.doubt_count; i++) {
		const struct doubt_range *range = &view->frame.doubts[i];

		if (page - range->page < range->count)
			return range->number;
	}
	return 0;
}

static bool is_of(const struct page_change *change, uint64_t page)
{
	return (page << GUEST_PAGE_SHIFT) - change->addr < change->size;
}

bool segment_view_may_change(const struct segment_view *view, uint64_t page,
			     uint64_t time)
{
	for (size_t i = 0; i < view->changes.count; i++)
		if (view->changes.list[i].time <= time &&
		    is_of(&view->changes.list[i], page))
			return true;
	return false;
}

bool segment_view_is_remapped(const struct segment_view *view, uint64_t page)
{
	for (size_t i = 0; i < view->changes.count; i++)
		if (!view->changes.list[i].doubt &&
		    is_of(&view->changes.list[i], page))
			return true;
	return false;
}

uint64_t segment_view_epochs(const struct segment_view *view, uint64_t page,
			     unsigned shift)
{
	uint64_t epochs = 0;

	for (size_t i = 0; i < view->changes.count; i++) {
		uint64_t epoch = view->changes.list[i].time >> shift;

		if (is_of(&view->changes.list[i], page))
			epochs |= UINT64_C(1) << (epoch < EPOCHS_MOST ?
							  epoch :
							  EPOCHS_MOST - 1);
	}
	return epochs;
}

bool segment_view_changes_after(const struct segment_view *view, uint64_t page,
				uint64_t time, uint32_t events)
{
	for (size_t i = 0; i < view->changes.count; i++) {
		const struct page_change *change = &view->changes.list[i];

		if ((change->time > time || (change->time == time &&
					     change->events > events)) &&
		    is_of(change, page))
			return true;
	}
	return false;
}

const struct page_change *page_changes_find(const struct page_changes *changes,
					    uint64_t page, uint64_t doubt)
{
	for (size_t i = 0; i < changes->count; i++)
		if (changes->list[i].doubt == doubt &&
		    is_of(&changes->list[i], page))
			return &changes->list[i];
	return NULL;
}

uint64_t page_changes_before(const struct page_changes *changes, uint64_t page,
			     uint64_t doubt)
{
	uint64_t found = 0;

	for (size_t i = 0; i < changes->count; i++)
		if (changes->list[i].doubt < doubt &&
		    changes->list[i].doubt > found &&
		    is_of(&changes->list[i], page))
			found = changes->list[i].doubt;
	return found;
}
