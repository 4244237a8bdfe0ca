/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query.c - what an address held at a time, with as little replay as possible
 */
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "index/index.h"
#include "replayer/session/query_internal.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

/*
 * Of a replayer that waits: some 150 MB, of a large program.  To drop them in the
 * engine touches all the room that it has for them, several times as much.  cc1
 * has more than 32,768 after a few questions at different times.
 */
#define TRANSLATIONS_KEPT 131072u

/* Bytes of a region that the program did not use; see module_bytes.h. */
static int read_unused(struct query *query, const struct region *region,
		       uint64_t addr, uint8_t *bytes, uint8_t *known,
		       size_t size, struct failure *why)
{
	int rc = module_bytes_read(&query->files, query->recording,
				   region->name,
				   region->offset + (addr - region->start),
				   bytes, &size, &query->unknown);

	if (rc == ERR_NOT_FOUND)
		return 0;
	if (rc)
		return failed(why, rc, "%s", query->unknown.text);
	memset(known, 1, size);
	return 0;
}

static int on_unused(void *context, const struct region *region, uint64_t addr,
		     uint8_t *bytes, uint8_t *known, size_t size,
		     struct failure *why)
{
	struct query *query = context;

	return query->asks_itself ? 0 : read_unused(query, region, addr, bytes,
						    known, size, why);
}

int query_create(struct query **out, struct recording *recording,
		 struct failure *why)
{
	struct query *query = calloc(1, sizeof(*query));
	int rc;

	if (!query)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	query->recording = query->fine.recording = recording;
	query->cancelled = recording_cancelled(recording);
	query->unused = (struct replay_unused){ on_unused, query };
	rc = segment_views_init(&query->views, recording, why);
	if (!rc)
		rc = touches_create(&query->touches, recording, why);
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
	touches_destroy(query->touches);
	module_bytes_release(&query->files);
	fine_release(&query->fine);
	free(query);
}

const char *query_note(struct query *query)
{
	return query->fine.side ? side_file_note(query->fine.side) : NULL;
}

int query_is_wanted(const struct query *query, struct failure *why)
{
	return query->cancelled && atomic_load_explicit(query->cancelled,
							memory_order_relaxed) ?
		       failed(why, ERR_CANCELLED, "cancelled") : 0;
}

void query_rest(struct query *query)
{
	struct vm *vm = query->replayer ? replayer_vm(query->replayer) : NULL;

	if (!vm || vm_translations(vm) < TRANSLATIONS_KEPT)
		return;
	replayer_destroy(query->replayer);
	query->replayer = NULL;
}

struct recording *query_recording(const struct query *query)
{
	return query->recording;
}

static int use_side_file(struct query *query, struct failure *why)
{
	struct side_file *side;
	int rc = fine_side(&query->fine, &side, why);

	if (!rc)
		replayer_use_side_file(query->replayer, side);
	return rc;
}

int query_replayer(struct query *query, struct replayer **out,
		   struct failure *why)
{
	int rc = 0;

	if (!query->replayer) {
		rc = replayer_create(&query->replayer, query->recording, why);
		if (!rc)
			rc = use_side_file(query, why);
		if (!rc)
			replayer_use_space(query->replayer, &query->space);
		if (!rc)
			replayer_use_unused(query->replayer, &query->unused);
	}
	*out = query->replayer;
	return rc;
}

int query_lend_replayer(struct query *query, struct replayer **out,
			struct failure *why)
{
	int rc = query_replayer(query, out, why);

	if (!rc)
		query->replayer = NULL;
	return rc;
}

void query_take_back(struct query *query, struct replayer *replayer)
{
	replayer_destroy(query->replayer);
	query->replayer = replayer;
}

struct kernel *query_followed(const struct query *query)
{
	return query->follows;
}

void query_use_space(struct query *query, const struct address_space *space)
{
	query->space = *space;
	if (query->replayer)
		replayer_use_space(query->replayer, space);
}

static void use_core(struct query *query, bool has_core, uint32_t stream)
{
	struct address_space space = query->space;

	if (!recording_is_machine(query->recording))
		return;
	space.has_core = has_core;
	space.core = stream;
	query_use_space(query, &space);
}

void query_use_core(struct query *query, uint32_t stream)
{
	use_core(query, true, stream);
}

void query_use_turn(struct query *query)
{
	use_core(query, false, 0);
}

int query_contents(struct query *query, size_t segment,
		   const struct page_touch *touch, uint8_t *bytes,
		   struct failure *why)
{
	return touches_contents(query->touches, segment, touch, bytes, why);
}

/* ------- a part of a question ------- */

/*
 * Some bytes of a page, and where they are at the time of the question: found
 * out once, by what stands in the file, or by the replay that stands there.
 */
struct part {
	uint64_t addr;
	uint64_t place;		/* addr; of a machine, where that is in RAM */
	uint8_t *bytes, *known;
	size_t size;
	enum query_source source;

	const struct region *region;	/* NULL: nothing is mapped */
	uint64_t page;		/* under which its contents are known */
	uint64_t doubt;		/* 0: it is not doubtful */
	bool is_shared;		/* it is for query_shared() to answer: */
	struct shared_part shared;
};

static void take_page(struct part *part, const uint8_t *contents)
{
	memcpy(part->bytes, contents + part->addr % GUEST_PAGE, part->size);
	memset(part->known, 1, part->size);
}

/*
 * Others may have changed it: there is more to find out, of all pages at once.
 */
static void leave_shared(struct part *part)
{
	part->is_shared = true;
	part->shared = (struct shared_part){
		.page = part->page,
		.doubt = part->doubt,
		.offset = part->addr % GUEST_PAGE,
		.size = part->size,
		.bytes = part->bytes,
		.known = part->known,
		.source = part->source,
	};
}

static bool is_doubt_of_others(const struct part *part)
{
	return part->doubt && part->region &&
	       part->region->kind == REGION_SHARED;
}

/* ------- the steps: one of them answers ------- */

/*
 * Code space and snapshot: the page is as at a key frame.  If it was doubtful
 * there, what the first touch finds is what it held.
 */
static int ask_snapshot(struct query *query, size_t segment, struct part *part,
			struct failure *why)
{
	uint8_t contents[GUEST_PAGE];
	uint64_t id;
	int rc = recording_snapshot(query->recording, segment, part->page, &id,
				    why);

	if (!rc)
		rc = recording_page(query->recording, id, contents, why);
	if (!rc)
		take_page(part, contents);
	return rc;
}

/* The touch that ends the doubt, in a segment or one behind it. */
static int ask_touch(struct query *query, size_t segment, struct part *part,
		     struct failure *why)
{
	uint8_t contents[GUEST_PAGE];
	const struct page_touch *touch;
	int rc = doubts_resolution(&query->views, &segment, part->page,
				   part->doubt, &touch, why);

	if (rc || !touch)
		return rc;
	rc = query_contents(query, segment, touch, contents, why);
	if (!rc)
		take_page(part, contents);
	return rc;
}

/* Where the page is, and whether it is doubtful, once the replay is there. */
static void find_in_replay(struct query *query, struct part *part)
{
	struct vm *vm = replayer_vm(query->replayer);
	struct memory *memory;

	if (!vm)
		return;
	memory = vm_memory(vm);
	part->region = memory_region_at(memory, part->addr);
	part->page = memory_home(memory, part->addr) >> GUEST_PAGE_SHIFT;
	part->doubt = memory_page_doubt(memory, part->page);
}

/*
 * The page became doubtful in this segment and is first touched in a later one,
 * if nothing in between makes it another page.
 */
static int ask_later_touch(struct query *query, struct part *part,
			   struct failure *why)
{
	size_t segment = query->place.segment;
	uint64_t time = query->place.time -
			recording_time(query->recording, segment);
	struct segment_view *view;
	int rc = segment_views_packets(&query->views, segment, &view, why);

	if (rc || segment_view_changes_after(view, part->page, time,
					     query->place.events))
		return rc;
	return ask_touch(query, segment + 1, part, why);
}

static bool is_any_known(const struct part *part)
{
	return memchr(part->known, 1, part->size) != NULL;
}

static int ask_replay(struct query *query, struct part *part,
		      struct failure *why)
{
	struct replayer *replayer;
	int rc = query_replayer(query, &replayer, why);

	part->source = QUERY_REPLAY;
	if (!rc)
		rc = replayer_seek(replayer, &query->position, why);
	if (rc)
		return rc;
	find_in_replay(query, part);
	if (is_doubt_of_others(part)) {
		leave_shared(part);
		return 0;
	}
	/* The recording comes first: a later touch may tell. */
	query->asks_itself = true;
	rc = replayer_read(replayer, part->addr, part->bytes, part->known,
			   part->size, why);
	query->asks_itself = false;
	if (rc || !part->doubt || is_any_known(part))
		return rc;
	return ask_later_touch(query, part, why);
}

/*
 * What the file says: the region, the page and its doubt at the key frame, and
 * by the summarization index, whether all that still holds.
 */
static int ask_index(struct query *query, struct part *part, bool *holds,
		     struct failure *why)
{
	size_t segment = query->place.segment;
	uint64_t time = query->place.time -
			recording_time(query->recording, segment);
	uint64_t page = part->place >> GUEST_PAGE_SHIFT;
	struct segment_view *view;
	int rc = segment_views_packets(&query->views, segment, &view, why);

	if (rc || segment_view_may_change(view, page, time))
		return rc;
	part->region = segment_view_region(view, page);
	/* What a device would answer, nobody knows. */
	if (part->region && part->region->kind == REGION_DEVICE)
		part->region = NULL;
	if (part->region && part->region->common)
		page += (part->region->common - part->region->start) >>
			GUEST_PAGE_SHIFT;
	part->page = page;
	part->doubt = segment_view_doubt(view, page);
	*holds = !segment_view_may_change(view, page, time) &&
		 page_index_is_unchanged(&view->index, page, time);
	return 0;
}

static enum query_source source_at_rest(const struct region *region)
{
	return region->kind == REGION_FILE && (region->prot & MAY_EXEC) ?
		       QUERY_CODE : QUERY_SNAPSHOT;
}

/* What the fine level of the index knows of these bytes, if it is there. */
static int ask_lines(struct query *query, struct part *part, bool *holds,
		     struct failure *why)
{
	const struct region *region = part->region;
	const struct settled_question question = {
		.segment = query->place.segment,
		.time = query->place.time -
			recording_time(query->recording, query->place.segment),
		.addr = part->place, .page = part->page, .size = part->size,
	};
	size_t segment;
	int rc;

	*holds = false;
	if (!region || part->doubt)
		return 0;
	part->source = source_at_rest(region);
	rc = query_settled(&segment, holds, query, &question, why);
	return rc || !*holds ? rc : ask_snapshot(query, segment, part, why);
}

/* Without a replay, if that is possible: then it `*is_answered`. */
static int ask_at_rest(struct query *query, struct part *part,
		       bool *is_answered, struct failure *why)
{
	bool holds = false;
	int rc = ask_index(query, part, &holds, why);

	*is_answered = holds;
	if (rc)
		return rc;
	if (!holds)
		return ask_lines(query, part, is_answered, why);
	if (!part->region)
		return 0;
	part->source = source_at_rest(part->region);
	if (is_doubt_of_others(part)) {
		leave_shared(part);
		return 0;
	}
	return part->doubt ? ask_touch(query, query->place.segment, part, why) :
			     ask_snapshot(query, query->place.segment, part,
					  why);
}

int query_word(struct query *query, uint64_t addr, uint64_t *out,
	       enum query_word *how, struct failure *why)
{
	uint8_t bytes[sizeof(*out)], known[sizeof(*out)] = { 0 };
	struct part part = { .addr = addr, .place = addr, .bytes = bytes,
			     .known = known, .size = sizeof(bytes) };
	bool is_answered;
	int rc = ask_at_rest(query, &part, &is_answered, why);

	*how = !is_answered ? WORD_CHANGED :
	       memchr(known, 0, sizeof(known)) ? WORD_UNKNOWN : WORD_KNOWN;
	memcpy(out, bytes, sizeof(bytes));
	return rc;
}

/*
 * Unused bytes of a file's read-only pages are as in the file; what the dynamic
 * linker has written in them is known.
 */
static int ask_file(struct query *query, struct part *part,
		    struct failure *why)
{
	const struct region *region = part->region;
	int rc;

	if (!region || region->kind != REGION_FILE || region->prot & MAY_WRITE)
		return 0;
	rc = read_unused(query, region, part->addr, part->bytes, part->known,
			 part->size, why);
	if (!rc && is_any_known(part))
		part->source = QUERY_FILE;
	return rc;
}

/* The query procedure. */
static int query_part(struct query *query, struct part *part,
		      struct failure *why)
{
	bool has_place, is_answered = false;
	int rc = query_find_place(query, part->addr, &part->place, &has_place,
				  why);

	memset(part->known, 0, part->size);
	part->region = NULL;
	part->doubt = 0;
	if (!rc && has_place)
		rc = ask_at_rest(query, part, &is_answered, why);
	if (!rc && !is_answered)
		rc = ask_replay(query, part, why);
	if (rc || part->is_shared || is_any_known(part))
		return rc;
	part->source = QUERY_UNKNOWN;
	return ask_file(query, part, why);
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
		part.is_shared = false;
		part.size = GUEST_PAGE - part.addr % GUEST_PAGE;
		if (part.size > size)
			part.size = size;
		rc = query_part(query, &part, why);
		if (part.is_shared)
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

const char *query_why_unknown(const struct query *query)
{
	return *query->unknown.text ? query->unknown.text : NULL;
}

int query_home(struct query *query, uint64_t addr, const struct position *at,
	       guest_addr *out, struct failure *why)
{
	struct replayer *replayer;
	bool is_known;
	int rc = recording_place(query->recording, at, &query->place, why);

	segment_views_trim(&query->views);
	if (!rc)
		rc = query_find_place(query, addr, out, &is_known, why);
	if (rc || is_known)
		return rc;
	rc = query_replayer(query, &replayer, why);
	if (!rc)
		rc = replayer_seek(replayer, at, why);
	if (!rc)
		*out = replayer_home(replayer, addr);
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
	query->unknown.text[0] = '\0';
	segment_views_trim(&query->views);
	rc = query_is_wanted(query, why);
	if (!rc)
		rc = recording_place(query->recording, at, &query->place, why);
	if (!rc)
		rc = query_parts(query, all, answer, shared, why);
	free(shared);
	return rc;
}
