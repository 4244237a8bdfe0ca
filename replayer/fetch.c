/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fetch.c - contents of pages, when they are touched, and of many before
 *
 * A page that is fetched when it is touched costs a fault of the host, the
 * change of a mapping and a look-up besides its contents.  Which pages a
 * segment writes before a time, and which it reads at all, its index says;
 * together they cost little more than unpacking, which other threads help with.
 */
#include "replayer/replayer_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/array.h"

enum {
	PAGES_LEAST = 64,	/* fewer may as well be touched: 0.6 ms */
	RUNS_MOST = 4096,	/* each is a mapping of the host, of 65,530 */
	GAP_MOST = 15,		/* pages between two that are needed, which are
				   fetched along: a choice */
	GAPS_SHARE = 8,		/* all of these are at most an eighth of those
				   that are needed: a choice */
};

void replayer_broken(struct replayer *rep, int code, const char *format, ...)
{
	va_list args;

	if (rep->error)
		return;
	rep->error = code;
	va_start(args, format);
	vsnprintf(rep->why.text, sizeof(rep->why.text), format, args);
	va_end(args);
}

/* ------- when they are touched ------- */

static bool want(struct replayer *rep, uint64_t id, uint8_t *to)
{
	if (array_room(rep->wanted, rep->wanted_count, rep->wanted_room)) {
		replayer_broken(rep, ERR_NO_MEMORY, "out of memory");
		return false;
	}
	rep->wanted[rep->wanted_count++] = (struct page_want){ id, to };
	return true;
}

/* Notes what a page is supplied with, zeros too, for the next start. */
static bool note_supplied(struct replayer *rep, uint64_t page, uint64_t id)
{
	if (id ? !number_map_set(&rep->supplied, page, id) :
		 (number_map_remove(&rep->supplied, page), true))
		return true;
	replayer_broken(rep, ERR_NO_MEMORY, "out of memory");
	return false;
}

static void read_wanted(struct replayer *rep)
{
	struct failure why;
	int rc = recording_read_pages(rep->recording, rep->wanted,
				      rep->wanted_count, &why);

	if (rc)
		replayer_broken(rep, rc, "%s", why.text);
	rep->wanted_count = 0;
}

/* Memory that was just mapped holds zeros. */
void replayer_supply(void *context, uint64_t page, uint64_t count,
		     uint8_t *bytes)
{
	struct replayer *rep = context;
	struct failure why;
	uint64_t id;

	for (; count; count--, page++, bytes += GUEST_PAGE) {
		int rc = recording_snapshot(rep->recording, rep->base, page,
					    &id, &why);

		if (rc)
			replayer_broken(rep, rc, "%s", why.text);
		if (!rc && !id && rep->refills)
			memset(bytes, 0, GUEST_PAGE);
		if (rc || !note_supplied(rep, page, id) ||
		    (id && !want(rep, id, bytes)))
			break;
	}
	if (!rep->fetching)
		read_wanted(rep);
}

/* ------- before that ------- */

/* Pages of the index that are close to each other. */
struct run {
	size_t next;		/* entry of the index behind it */
	uint64_t first, last;	/* pages */
};

/* What a replay of so many steps of a segment needs. */
struct need {
	uint64_t steps;
	bool reads;		/* also what it only reads, sooner or later */
};

static bool is_needed(const struct page_touch *touch, const struct need *need)
{
	if (touch->how & PAGE_WAS_WRITTEN)
		return touch->write_time < need->steps;
	return need->reads && (touch->how & PAGE_WAS_READ);
}

/* Finds the run that starts at entry run->next or behind it. */
static bool find_run(const struct segment_index *index,
		     const struct need *need, uint64_t gap, struct run *run)
{
	const struct page_touch *pages = index->pages;
	size_t i = run->next;

	while (i < index->page_count && !is_needed(&pages[i], need))
		i++;
	if (i == index->page_count)
		return false;
	run->first = run->last = pages[i].page;
	for (; i < index->page_count; i++) {
		if (pages[i].page - run->last > gap + 1)
			break;
		if (is_needed(&pages[i], need))
			run->last = pages[i].page;
	}
	run->next = i;
	return true;
}

struct runs {
	size_t count;
	uint64_t pages;
};

static struct runs count_runs(const struct segment_index *index,
			      const struct need *need, uint64_t gap)
{
	struct runs runs = { 0 };

	for (struct run run = { 0 }; find_run(index, need, gap, &run);) {
		runs.count++;
		runs.pages += run.last - run.first + 1;
	}
	return runs;
}

/*
 * Up to how many pages between two that are needed are fetched along.  One large
 * piece takes fewer mappings and faults of the host than several small ones.
 */
static uint64_t choose_gap(const struct segment_index *index,
			   const struct need *need, uint64_t needed)
{
	uint64_t gap = GAP_MOST;
	struct runs runs = count_runs(index, need, gap);

	while (gap && runs.pages - needed > needed / GAPS_SHARE) {
		gap /= 2;
		runs = count_runs(index, need, gap);
	}
	return runs.count > RUNS_MOST ? GAP_MOST : gap;
}

void replayer_fetch(struct replayer *rep, uint64_t steps)
{
	const struct segment_index *index = &rep->index;
	struct need need = { steps, steps >= index->steps / 2 };
	uint64_t needed = count_runs(index, &need, 0).pages;
	struct run run = { 0 };
	uint64_t gap;

	if (needed < PAGES_LEAST)
		return;
	gap = choose_gap(index, &need, needed);
	rep->fetching = true;
	for (size_t i = 0; i < RUNS_MOST && !rep->error &&
			   find_run(index, &need, gap, &run); i++)
		memory_supply(rep->memory, run.first,
			      run.last - run.first + 1);
	rep->fetching = false;
	read_wanted(rep);
}
