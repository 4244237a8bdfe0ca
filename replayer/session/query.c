/* SPDX-License-Identifier: GPL-2.0-or-later */
/* query.c - what an address held at a time, with as little replay as possible */
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "index/index.h"
#include "replayer/session/query_internal.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

int query_create(struct query **out, struct recording *recording,
		 struct failure *why)
{
	struct query *query = calloc(1, sizeof(*query));
	int rc;

	if (!query)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	query->recording = recording;
	rc = segment_views_init(&query->views, recording, why);
	if (rc) {
		query_destroy(query);
		return rc;
	}
	*out = query;
	return 0;
}

void query_destroy(struct query *query)
{
	if (!query)
		return;
	replayer_destroy(query->replayer);
	segment_views_release(&query->views);
	script_release(&query->script);
	cache_release(&query->cache);
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

/* ------- answers ------- */

static int load_script(struct query *query, size_t segment,
		       struct failure *why)
{
	int rc;

	if (query->has_script && query->script_segment == segment)
		return 0;
	script_release(&query->script);
	rc = script_load(&query->script, query->recording, segment,
			 &query->views.list[segment].frame, &query->cache, why);
	query->has_script = !rc;
	query->script_segment = segment;
	return rc;
}

int query_contents(struct query *query, size_t segment,
		   const struct page_touch *resolved, uint8_t *bytes,
		   struct failure *why)
{
	const struct script_touch *touch;
	int rc;

	if (resolved->resolved_id)
		return recording_page(query->recording, resolved->resolved_id,
				      bytes, why);
	rc = load_script(query, segment, why);
	if (rc)
		return rc;
	touch = script_find_touch(&query->script, resolved->page,
				  resolved->doubt);
	if (touch)
		return script_touch_contents(touch, query->recording, bytes,
					     why);
	return failed(why, ERR_CORRUPT,
		      "'%s': the index of segment %zu names a touch that its "
		      "stream does not have",
		      trace_reader_path(recording_reader(query->recording)),
		      segment);
}

/* Finds what a doubtful page held in what a later touch found. */
static int resolve_later(struct query *query, size_t segment, uint64_t page,
			 uint64_t doubt, bool *found, uint8_t *bytes,
			 struct failure *why)
{
	const struct page_touch *touch;
	int rc = doubts_resolution(&query->views, &segment, page, doubt,
				   &touch, why);

	*found = !rc && touch;
	return *found ? query_contents(query, segment, touch, bytes, why) : rc;
}

/* Where what an alias shows is known. */
static uint64_t common_page(const struct region *region, uint64_t page)
{
	return (region->common >> GUEST_PAGE_SHIFT) + page -
	       (region->start >> GUEST_PAGE_SHIFT);
}

enum answer { ANSWER_PAGE, ANSWER_UNKNOWN, ANSWER_BY_REPLAY, ANSWER_SHARED };

/* Some bytes of a page. */
struct part {
	uint64_t addr;
	uint8_t *bytes, *known;
	size_t size;
	enum query_source source;
	struct shared_part shared;	/* ANSWER_SHARED */
};

static void make_shared(struct part *part, uint64_t page, uint64_t doubt)
{
	part->shared = (struct shared_part){
		.page = page,
		.doubt = doubt,
		.offset = part->addr % GUEST_PAGE,
		.size = part->size,
		.bytes = part->bytes,
		.known = part->known,
		.source = part->source,
	};
}

static int find_doubtful(struct query *query, size_t segment, uint64_t page,
			 uint64_t doubt, enum answer *answer, uint8_t *bytes,
			 struct failure *why)
{
	bool found;
	int rc = resolve_later(query, segment, page, doubt, &found, bytes, why);

	*answer = found ? ANSWER_PAGE : ANSWER_UNKNOWN;
	return rc;
}

/* The whole page, if it is known without executing anything. */
static int find_page(struct query *query, struct part *part,
		     enum answer *answer, uint8_t *bytes, struct failure *why)
{
	size_t segment = query->place.segment;
	uint64_t time = query->place.time -
			recording_time(query->recording, segment);
	uint64_t page = part->addr >> GUEST_PAGE_SHIFT, doubt, id;
	const struct region *region;
	struct segment_view *view;
	int rc = segment_views_packets(&query->views, segment, &view, why);

	*answer = ANSWER_BY_REPLAY;
	if (rc)
		return rc;
	region = segment_view_region(view, page);
	if (segment_view_may_change(view, page, time))
		return 0;
	if (region && region->common)
		page = common_page(region, page);
	if (segment_view_may_change(view, page, time) ||
	    !page_index_is_unchanged(&view->index, page, time))
		return 0;
	*answer = ANSWER_UNKNOWN;
	if (!region)
		return 0;
	part->source = region->kind == REGION_FILE &&
				       (region->prot & MAY_EXEC) ?
			       QUERY_CODE : QUERY_SNAPSHOT;
	doubt = segment_view_doubt(view, page);
	if (doubt && region->kind == REGION_SHARED) {
		*answer = ANSWER_SHARED;
		make_shared(part, page, doubt);
		return 0;
	}
	if (doubt)
		return find_doubtful(query, segment, page, doubt, answer,
				     bytes, why);
	*answer = ANSWER_PAGE;
	rc = recording_snapshot(query->recording, segment, page, &id, why);
	return rc ? rc : recording_page(query->recording, id, bytes, why);
}

/* Whether the replay is in doubt about a page that others share. */
static bool is_shared_doubt(struct query *query, struct part *part)
{
	struct memory *memory = vm_memory(replayer_vm(query->replayer));
	const struct region *region = memory_region_at(memory, part->addr);
	uint64_t page, doubt;

	if (!region || region->kind != REGION_SHARED)
		return false;
	page = memory_home(memory, part->addr) >> GUEST_PAGE_SHIFT;
	doubt = memory_page_doubt(memory, page);
	if (doubt)
		make_shared(part, page, doubt);
	return doubt;
}

static int ask_replay(struct query *query, struct part *part,
		      enum answer *answer, struct failure *why)
{
	struct replayer *replayer;
	int rc = query_replayer(query, &replayer, why);

	part->source = QUERY_REPLAY;
	if (!rc)
		rc = replayer_seek(replayer, &query->position, why);
	if (!rc && is_shared_doubt(query, part)) {
		*answer = ANSWER_SHARED;
		return 0;
	}
	return rc ? rc : replayer_read(replayer, part->addr, part->bytes,
				       part->known, part->size, why);
}

/*
 * A page that became doubtful in this segment and is first touched in a later
 * one, with nothing in between that makes it another page.
 */
static int answer_later(struct query *query, uint64_t page, bool *found,
			uint8_t *contents, struct failure *why)
{
	size_t segment = query->place.segment;
	uint64_t time = query->place.time -
			recording_time(query->recording, segment);
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
	rc = segment_views_packets(&query->views, segment, &view, why);
	if (rc || segment_view_changes_after(view, page, time,
					     query->place.events))
		return rc;
	return resolve_later(query, segment + 1, page, doubt, found, contents,
			     why);
}

static bool is_any_known(const uint8_t *known, size_t size)
{
	return memchr(known, 1, size) != NULL;
}

static void take_page(struct part *part, const uint8_t *contents)
{
	memcpy(part->bytes, contents + part->addr % GUEST_PAGE, part->size);
	memset(part->known, 1, part->size);
}

/* All but pages that others share, for which part->shared is set then. */
static int query_part(struct query *query, struct part *part, bool *is_shared,
		      struct failure *why)
{
	uint8_t contents[GUEST_PAGE];
	enum answer answer;
	bool found;
	int rc = find_page(query, part, &answer, contents, why);

	memset(part->known, 0, part->size);
	if (!rc && answer == ANSWER_PAGE)
		take_page(part, contents);
	if (!rc && answer == ANSWER_BY_REPLAY)
		rc = ask_replay(query, part, &answer, why);
	*is_shared = answer == ANSWER_SHARED;
	if (!rc && answer == ANSWER_BY_REPLAY &&
	    !is_any_known(part->known, part->size)) {
		rc = answer_later(query, part->addr >> GUEST_PAGE_SHIFT,
				  &found, contents, why);
		if (!rc && found)
			take_page(part, contents);
	}
	if (!is_any_known(part->known, part->size))
		part->source = QUERY_UNKNOWN;
	return rc;
}

static void take_source(struct query_answer *answer, enum query_source source)
{
	if (source > answer->source)
		answer->source = source;
}

/* Asks page by page; `shared` has room for all of them. */
static int query_parts(struct query *query, struct part part,
		       struct query_answer *answer, struct shared_part *shared,
		       struct failure *why)
{
	size_t size = part.size, count = 0;
	int rc = 0;

	while (size && !rc) {
		bool is_shared;

		part.size = GUEST_PAGE - part.addr % GUEST_PAGE;
		if (part.size > size)
			part.size = size;
		rc = query_part(query, &part, &is_shared, why);
		if (is_shared)
			shared[count++] = part.shared;
		else
			take_source(answer, part.source);
		part.addr += part.size;
		part.bytes += part.size;
		part.known += part.size;
		size -= part.size;
	}
	if (!rc)
		rc = query_shared(query, shared, count, why);
	for (size_t i = 0; i < count && !rc; i++) {
		take_source(answer, shared[i].source);
		if (shared[i].as_of < answer->as_of)
			answer->as_of = shared[i].as_of;
	}
	return rc;
}

int query_memory(struct query *query, uint64_t addr,
		 const struct position *at, uint8_t *bytes,
		 uint8_t *known, size_t size, struct query_answer *answer,
		 struct failure *why)
{
	const struct part all = { .addr = addr, .bytes = bytes,
				  .known = known, .size = size };
	struct shared_part *shared =
		calloc(size / GUEST_PAGE + 2, sizeof(*shared));
	int rc;

	*answer = (struct query_answer){ QUERY_UNKNOWN, QUERY_CERTAIN };
	if (!shared)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	query->position = *at;
	rc = recording_place(query->recording, at, &query->place, why);
	if (!rc)
		rc = query_parts(query, all, answer, shared, why);
	free(shared);
	return rc;
}
