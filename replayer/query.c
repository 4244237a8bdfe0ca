/* SPDX-License-Identifier: GPL-2.0-or-later */
/* query.c - what an address held at a time, with as little replay as possible */
#include "replayer/query.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "index/page_index.h"
#include "replayer/packets.h"
#include "replayer/script.h"
#include "vm/memory.h"
#include "vm/vm.h"

/* Pages whose mapping or doubt changed in a segment. */
struct change {
	uint64_t time;		/* steps into the segment */
	guest_addr addr;
	uint64_t size;
};

/* What is known of one segment without executing it. */
struct segment_view {
	bool loaded;
	struct key_frame frame;
	struct segment_index index;
	struct change *changes;
	size_t change_count, change_room;
};

struct query {
	struct recording *recording;
	struct replayer *replayer;	/* made when first needed */
	struct segment_view *views;
};

int query_create(struct query **out, struct recording *recording,
		 struct failure *why)
{
	struct query *query = calloc(1, sizeof(*query));

	if (query) {
		query->recording = recording;
		query->views = calloc(recording_segments(recording),
				      sizeof(*query->views));
	}
	if (!query || !query->views) {
		free(query);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	*out = query;
	return 0;
}

static void forget_view(struct segment_view *view)
{
	key_frame_release(&view->frame);
	segment_index_release(&view->index);
	free(view->changes);
	*view = (struct segment_view) { 0 };
}

void query_destroy(struct query *query)
{
	if (!query)
		return;
	replayer_destroy(query->replayer);
	for (size_t i = 0; i < recording_segments(query->recording); i++)
		forget_view(&query->views[i]);
	free(query->views);
	free(query);
}

int query_replayer(struct query *query, struct replayer **out,
		   struct failure *why)
{
	int rc = 0;

	if (!query->replayer)
		rc = replayer_create(&query->replayer, query->recording, why);
	*out = query->replayer;
	return rc;
}

/* ------- looking at a segment ------- */

static int add_change(struct segment_view *view, uint64_t time,
		      guest_addr addr, uint64_t size)
{
	if (view->change_count == view->change_room) {
		size_t room = view->change_room ? view->change_room * 2 : 64;
		struct change *more =
			realloc(view->changes, room * sizeof(*more));

		if (!more)
			return ERR_NO_MEMORY;
		view->changes = more;
		view->change_room = room;
	}
	view->changes[view->change_count++] =
		(struct change){ time, addr, size };
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
	uint64_t time = place->time - search->start;
	int rc = 0;

	if (place->is_told)
		return 0;
	switch (packet->kind) {
	case PACKET_MOVE:
		rc = add_change(view, time, packet->target, packet->size);
		/* fall through */
	case PACKET_MAP:
	case PACKET_UNMAP:
	case PACKET_CLEAR:
	case PACKET_DOUBT:
		if (!rc)
			rc = add_change(view, time, packet->addr,
					packet->size);
		break;
	default:
		break;
	}
	return rc;
}

static int find_changes(struct segment_view *view, struct recording *recording,
			size_t segment, struct failure *why)
{
	struct change_search search = {
		view, recording_time(recording, segment),
	};
	int rc = recording_each_packet(recording, segment, note_change,
				       &search, why);

	if (rc == ERR_NO_MEMORY)
		return failed(why, rc, "out of memory");
	return rc;
}

static int view_segment(struct query *query, size_t segment,
			struct segment_view **out, struct failure *why)
{
	struct segment_view *view = &query->views[segment];
	struct recording *recording = query->recording;
	int rc;

	*out = view;
	if (view->loaded)
		return 0;
	rc = recording_key_frame(recording, segment, &view->frame, why);
	if (!rc)
		rc = recording_index(recording, segment, &view->index, why);
	if (!rc)
		rc = find_changes(view, recording, segment, why);
	view->loaded = !rc;
	if (rc)
		forget_view(view);
	return rc;
}

static const struct region *region_at(const struct key_frame *frame,
				      guest_addr addr)
{
	for (size_t i = 0; i < frame->region_count; i++)
		if (frame->regions[i].start <= addr &&
		    addr < frame->regions[i].end)
			return &frame->regions[i];
	return NULL;
}

static uint64_t doubt_at(const struct key_frame *frame, uint64_t page)
{
	for (size_t i = 0; i < frame->doubt_count; i++) {
		const struct doubt_range *range = &frame->doubts[i];

		if (page - range->page < range->count)
			return range->number;
	}
	return 0;
}

/* Whether the page's mapping or doubt may have changed by then. */
static bool may_be_other(const struct segment_view *view, uint64_t page,
			 uint64_t time)
{
	guest_addr addr = page << GUEST_PAGE_SHIFT;

	for (size_t i = 0; i < view->change_count; i++)
		if (view->changes[i].time <= time &&
		    addr - view->changes[i].addr < view->changes[i].size)
			return true;
	return false;
}

/*
 * Whether the page was mapped anew or doubted again anywhere in the segment:
 * then a later resolution is not of the contents asked for.
 */
static bool is_other(const struct segment_view *view, uint64_t page)
{
	return may_be_other(view, page, UINT64_MAX);
}

/* ------- answers ------- */

/* The page that a touch in this segment found, out of its streams. */
static int find_contents(struct query *query, size_t segment,
			 const struct page_touch *resolved, uint8_t *bytes,
			 struct failure *why)
{
	const struct script_touch *touch;
	struct script script;
	struct cache cache = { 0 };
	int rc;

	if (resolved->resolved_id)
		return recording_page(query->recording, resolved->resolved_id,
				      bytes, why);
	rc = script_load(&script, query->recording, segment,
			 &query->views[segment].frame, &cache, why);
	if (rc)
		goto end;
	touch = script_find_touch(&script, resolved->page, resolved->doubt);
	if (touch)
		rc = script_touch_contents(touch, query->recording, bytes,
					   why);
	else
		rc = failed(why, ERR_CORRUPT,
			    "'%s': the index of segment %zu names a touch that "
			    "its stream does not have",
			    trace_reader_path(
				    recording_reader(query->recording)),
			    segment);
end:
	script_release(&script);
	cache_release(&cache);
	return rc;
}

/* Finds what a doubtful page held in what a later touch found. */
static int resolve_later(struct query *query, size_t segment, uint64_t page,
			 uint64_t doubt, bool *found, uint8_t *bytes,
			 struct failure *why)
{
	*found = false;
	for (; segment < recording_segments(query->recording); segment++) {
		const struct page_touch *touch;
		struct segment_view *view;
		int rc = view_segment(query, segment, &view, why);

		if (rc)
			return rc;
		touch = page_index_resolution(&view->index, page, doubt);
		if (touch) {
			*found = true;
			return find_contents(query, segment, touch, bytes,
					     why);
		}
		if (is_other(view, page))
			return 0;
	}
	return 0;
}

/* Where what an alias shows is known. */
static uint64_t common_page(const struct region *region, uint64_t page)
{
	return (region->common >> GUEST_PAGE_SHIFT) + page -
	       (region->start >> GUEST_PAGE_SHIFT);
}

enum answer { ANSWER_PAGE, ANSWER_UNKNOWN, ANSWER_BY_REPLAY };

/* The whole page, if it is known without executing anything. */
static int find_page(struct query *query, uint64_t page, uint64_t t,
		     enum answer *answer, uint8_t *bytes,
		     enum query_source *source, struct failure *why)
{
	size_t segment = recording_segment_at(query->recording, t);
	uint64_t time = t - recording_time(query->recording, segment);
	const struct region *region;
	struct segment_view *view;
	uint64_t doubt, id;
	bool found;
	int rc = view_segment(query, segment, &view, why);

	*answer = ANSWER_BY_REPLAY;
	if (rc)
		return rc;
	region = region_at(&view->frame, page << GUEST_PAGE_SHIFT);
	if (may_be_other(view, page, time))
		return 0;
	if (region && region->common)
		page = common_page(region, page);
	if (may_be_other(view, page, time) ||
	    !page_index_is_unchanged(&view->index, page, time))
		return 0;
	*answer = ANSWER_UNKNOWN;
	if (!region)
		return 0;
	*source = region->kind == REGION_FILE && (region->prot & MAY_EXEC) ?
			  QUERY_CODE : QUERY_SNAPSHOT;
	doubt = doubt_at(&view->frame, page);
	if (doubt) {
		rc = resolve_later(query, segment, page, doubt, &found, bytes,
				   why);
		if (found)
			*answer = ANSWER_PAGE;
		return rc;
	}
	*answer = ANSWER_PAGE;
	rc = recording_snapshot(query->recording, segment, page, &id, why);
	return rc ? rc : recording_page(query->recording, id, bytes, why);
}

static int ask_replay(struct query *query, uint64_t addr, uint64_t t,
		      uint8_t *bytes, uint8_t *known, size_t size,
		      struct failure *why)
{
	struct replayer *replayer;
	int rc = query_replayer(query, &replayer, why);

	if (!rc)
		rc = replayer_seek(replayer, t, why);
	if (!rc)
		rc = replayer_read(replayer, addr, bytes, known, size, why);
	return rc;
}

/*
 * A page that became doubtful in this segment and is first touched in a later
 * one, with nothing in between that makes it another page.
 */
static int answer_later(struct query *query, uint64_t page, uint64_t t,
			bool *found, uint8_t *contents, struct failure *why)
{
	size_t segment = recording_segment_at(query->recording, t);
	uint64_t time = t - recording_time(query->recording, segment);
	struct memory *memory = vm_memory(replayer_vm(query->replayer));
	guest_addr addr = memory_home(memory, page << GUEST_PAGE_SHIFT);
	struct segment_view *view;
	uint64_t doubt;
	int rc;

	*found = false;
	page = addr >> GUEST_PAGE_SHIFT;
	doubt = memory_page_doubt(memory, page);
	if (!doubt)
		return 0;
	rc = view_segment(query, segment, &view, why);
	for (size_t i = 0; i < view->change_count && !rc; i++)
		if (view->changes[i].time > time &&
		    addr - view->changes[i].addr < view->changes[i].size)
			return 0;
	return rc ? rc : resolve_later(query, segment + 1, page, doubt, found,
				       contents, why);
}

static bool is_any_known(const uint8_t *known, size_t size)
{
	return memchr(known, 1, size) != NULL;
}

/* `size` bytes of one page. */
static int query_part(struct query *query, uint64_t addr, uint64_t t,
		      uint8_t *bytes, uint8_t *known, size_t size,
		      enum query_source *source, struct failure *why)
{
	uint8_t contents[GUEST_PAGE];
	enum answer answer;
	int rc = find_page(query, addr >> GUEST_PAGE_SHIFT, t, &answer,
			   contents, source, why);

	memset(known, 0, size);
	if (rc)
		return rc;
	switch (answer) {
	case ANSWER_UNKNOWN:
		*source = QUERY_UNKNOWN;
		return 0;
	case ANSWER_PAGE:
		memcpy(bytes, contents + addr % GUEST_PAGE, size);
		memset(known, 1, size);
		return 0;
	case ANSWER_BY_REPLAY:
		break;
	}
	rc = ask_replay(query, addr, t, bytes, known, size, why);
	if (!rc && !is_any_known(known, size)) {
		bool found;

		rc = answer_later(query, addr >> GUEST_PAGE_SHIFT, t, &found,
				  contents, why);
		if (!rc && found) {
			memcpy(bytes, contents + addr % GUEST_PAGE, size);
			memset(known, 1, size);
		}
	}
	*source = is_any_known(known, size) ? QUERY_REPLAY : QUERY_UNKNOWN;
	return rc;
}

int query_memory(struct query *query, uint64_t addr, uint64_t t,
		 uint8_t *bytes, uint8_t *known, size_t size,
		 enum query_source *source, struct failure *why)
{
	int rc = 0;

	*source = QUERY_UNKNOWN;
	while (size && !rc) {
		size_t span = GUEST_PAGE - addr % GUEST_PAGE;
		enum query_source part;

		if (span > size)
			span = size;
		rc = query_part(query, addr, t, bytes, known, span, &part,
				why);
		if (!rc && part > *source)
			*source = part;
		addr += span;
		bytes += span;
		known += span;
		size -= span;
	}
	return rc;
}
