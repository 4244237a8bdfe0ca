/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query_shared.c - what doubtful pages held that others share
 *
 * Others may have changed such a page since it became doubtful.  Its first
 * touch says what it holds from the event before the touch on, because the
 * process learns of others at events only.  For a time before that, there is
 * what was known when it became doubtful: if both are the same, it is certain;
 * else that is the answer, with the time since which others may have changed
 * it.
 */
#include "replayer/session/query_internal.h"

#include <stdlib.h>
#include <string.h>

#include "index/index.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

/* ------- what a later touch found ------- */

static int take_late(struct query *query, size_t segment,
		     struct shared_part *part, struct failure *why)
{
	struct page_touch touch = { .page = part->page, .doubt = part->doubt };
	const struct page_touch *indexed = page_index_resolution(
		&query->views.list[segment].index, part->page, part->doubt);
	uint8_t contents[GUEST_PAGE];
	int rc = query_contents(query, segment, indexed ? indexed : &touch,
				contents, why);

	if (rc)
		return rc;
	memcpy(part->bytes, contents + part->offset, part->size);
	memset(part->known, 1, part->size);
	part->is_late = true;
	return 0;
}

/* Looks from then on for the touch that ends the doubt. */
static int find_late(struct query *query, struct shared_part *part,
		     struct failure *why)
{
	size_t segment = query->place.segment;
	const struct page_change *touch;
	int rc = doubts_end(&query->views, &segment, part->page, part->doubt,
			    &touch, why);

	if (rc || !touch)
		return rc;
	part->late = recording_time(query->recording, segment) + touch->time;
	return take_late(query, segment, part, why);
}

/* ------- since when it is doubtful ------- */

/* Looks in a segment; the key frame behind it, if it is not there. */
static int find_in(struct query *query, size_t segment,
		   struct shared_part *part, bool *found, struct failure *why)
{
	const struct page_change *change;
	struct segment_view *seen;
	int rc = segment_views_packets(&query->views, segment, &seen, why);

	if (rc)
		return rc;
	change = page_changes_find(&seen->changes, part->page, part->doubt);
	part->segment = segment;
	*found = change != NULL;
	part->since = change ? recording_time(query->recording, segment) +
				       change->time :
			       recording_time(query->recording, segment + 1);
	return 0;
}

static int find_since(struct query *query, struct shared_part *part,
		      struct failure *why)
{
	size_t segment = query->place.segment;
	bool found = false;
	int rc = find_in(query, segment, part, &found, why);

	part->may_be_kept = found;
	if (rc || found)
		return rc;
	rc = doubts_first_known(&query->views, part->doubt, segment, &segment,
				why);
	if (rc || !segment)
		return rc;
	part->may_be_kept = true;
	return find_in(query, segment - 1, part, &found, why);
}

/* ------- what it held then ------- */

enum kept { KEPT_NOTHING, KEPT, KEPT_BY_REPLAY };

/* If that can be told without executing anything. */
static int find_kept(struct query *query, const struct shared_part *part,
		     enum kept *kept, uint8_t *contents, struct failure *why)
{
	const struct segment_view *seen = &query->views.list[part->segment];
	const struct page_touch *touch;
	uint64_t before, id;
	int rc;

	*kept = KEPT_BY_REPLAY;
	if (page_changes_find(&seen->changes, part->page, 0) ||
	    !page_index_is_unchanged(&seen->index, part->page, UINT64_MAX))
		return 0;
	before = page_changes_before(&seen->changes, part->page, part->doubt);
	if (!before)
		before = segment_view_doubt(seen, part->page);
	touch = page_index_resolution(&seen->index, part->page, before);
	*kept = KEPT_NOTHING;
	if ((before && !touch) || !segment_view_region(seen, part->page))
		return 0;
	*kept = KEPT;
	if (before)
		return query_contents(query, part->segment, touch, contents,
				      why);
	rc = recording_snapshot(query->recording, part->segment, part->page,
				&id, why);
	return rc ? rc : recording_page(query->recording, id, contents, why);
}

static int replay_kept(struct query *query, const struct shared_part *part,
		       enum kept *kept, uint8_t *contents, struct failure *why)
{
	uint8_t known[GUEST_PAGE];
	struct replayer *replayer;
	struct memory *memory;
	int rc = query_replayer(query, &replayer, why);

	if (!rc)
		rc = replayer_seek_in(replayer, part->segment, part->since,
				      why);
	if (rc)
		return rc;
	memory = vm_memory(replayer_vm(replayer));
	*kept = KEPT_NOTHING;
	if (memory_page_doubt(memory, part->page) == part->doubt) {
		if (memory_kept(memory, part->page, contents))
			*kept = KEPT;
		return 0;
	}
	rc = replayer_read(replayer, part->page << GUEST_PAGE_SHIFT, contents,
			   known, GUEST_PAGE, why);
	if (!rc && known[0])
		*kept = KEPT;
	return rc;
}

/* Compares what is known of before and after. */
static void settle(struct shared_part *part, enum kept kept,
		   const uint8_t *contents)
{
	contents += part->offset;
	if (kept == KEPT_NOTHING && part->is_late)
		part->as_of = part->late;
	if (kept == KEPT_NOTHING ||
	    (part->is_late && !memcmp(part->bytes, contents, part->size)))
		return;
	memcpy(part->bytes, contents, part->size);
	memset(part->known, 1, part->size);
	part->as_of = part->since;
}

static int answer(struct query *query, struct shared_part *part,
		  struct failure *why)
{
	uint8_t contents[GUEST_PAGE];
	enum kept kept = KEPT_NOTHING;
	int rc = 0;

	if (part->may_be_kept)
		rc = find_kept(query, part, &kept, contents, why);
	if (!rc && kept == KEPT_BY_REPLAY) {
		part->source = QUERY_REPLAY;
		rc = replay_kept(query, part, &kept, contents, why);
	}
	if (!rc)
		settle(part, kept, contents);
	if (!part->known[0])
		part->source = QUERY_UNKNOWN;
	return rc;
}

/* ------- all of them ------- */

static int by_time(const void *left, const void *right)
{
	const struct shared_part *a = left, *b = right;

	if (a->segment != b->segment)
		return a->segment < b->segment ? -1 : 1;
	return a->since < b->since ? -1 : a->since > b->since;
}

int query_shared(struct query *query, struct shared_part *parts, size_t count,
		 struct failure *why)
{
	uint64_t t = query->place.time;
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		parts[i].as_of = QUERY_CERTAIN;
		rc = find_late(query, &parts[i], why);
		if (!rc && !(parts[i].is_late && parts[i].late <= t))
			rc = find_since(query, &parts[i], why);
	}
	if (count)
		qsort(parts, count, sizeof(*parts), by_time);
	for (size_t i = 0; i < count && !rc; i++)
		if (!(parts[i].is_late && parts[i].late <= t))
			rc = answer(query, &parts[i], why);
	return rc;
}
