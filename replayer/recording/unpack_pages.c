/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unpack_pages.c - many stored pages at once, on several threads
 *
 * The base of a patch comes before it in the file.  So each thread goes through
 * the chunks once, backwards: what it finds of a page changes the page's place,
 * and of a patch, the page then waits for the chunk that has the base.  Threads
 * share no memory of the guest: two of them in one huge page would wait for
 * each other.
 */
#include "replayer/recording/unpack_pages.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/error.h"

enum {
	THREADS_MOST = 4,	/* a choice: more were not measured */
	PAGES_LEAST = 256,	/* fewer are not worth another thread: they are
				   unpacked in a millisecond */
};

/* A page that is being made. */
struct making {
	uint64_t id;		/* what it needs next */
	uint32_t next;		/* 1 + number of the next that waits, or 0 */
	unsigned patch_count;
	struct page_place place;	/* where the rest of it is, if anywhere */
};

struct worker {
	const struct stored_pages *store;
	const struct trace_reader *reader;
	const struct page_want *list;
	size_t count;
	struct making *pages;
	bool is_any_elsewhere;
	uint32_t *waiting;	/* by chunk: 1 + number of the first, or 0 */
	size_t found;		/* chunk that was looked for last */
	struct page_items items;	/* of the chunk that is open */
	struct unpacker unpacker;
	int error;
	struct failure why;
};

/* ------- what one thread does ------- */

static bool is_in(const struct stored_pages *store, size_t position,
		  uint64_t id)
{
	return store->chunks[position].first <= id &&
	       (position + 1 == store->count ? id <= store->last :
		id < store->chunks[position + 1].first);
}

/* Has a page wait for the chunk that it needs next. */
static int wait_for(struct worker *worker, uint32_t number)
{
	struct making *page = &worker->pages[number];

	if (!is_in(worker->store, worker->found, page->id)) {
		int rc = stored_pages_find(worker->store, worker->reader,
					   page->id, &worker->found,
					   &worker->why);

		if (rc)
			return rc;
	}
	page->next = worker->waiting[worker->found];
	worker->waiting[worker->found] = number + 1;
	return 0;
}

/* Takes what a page waited for; that may have it wait again. */
static int take_item(struct worker *worker, uint32_t number, size_t position)
{
	struct making *page = &worker->pages[number];
	uint64_t first = worker->store->chunks[position].first;
	const struct page_item *item = &worker->items.list[page->id - first];
	uint8_t *to = worker->list[number].to;

	if (!item->bytes) {
		page->place = item->place;
		worker->is_any_elsewhere = true;
		return 0;
	}
	if (!item->base && !page->patch_count) {
		memcpy(to, item->bytes, GUEST_PAGE);
		return 0;
	}
	if (!page->patch_count)
		memset(to, 0, GUEST_PAGE);
	page_item_apply(item, to);
	if (!item->base)
		return 0;
	if (page->patch_count++ == PATCHES_MOST)
		return stored_pages_too_many(worker->reader,
					     worker->list[number].id,
					     &worker->why);
	page->id = item->base;
	return wait_for(worker, number);
}

static int use_chunk(struct worker *worker, size_t position)
{
	uint32_t *waiting = &worker->waiting[position];
	int rc = stored_pages_unpack(worker->store, worker->reader, position,
				     &worker->unpacker, &worker->items,
				     &worker->why);

	/* A base may be in the same chunk. */
	while (*waiting && !rc) {
		uint32_t number = *waiting - 1;

		*waiting = worker->pages[number].next;
		rc = take_item(worker, number, position);
	}
	return rc;
}

static int make_pages(struct worker *worker)
{
	size_t highest = 0;
	int rc = 0;

	for (uint32_t i = 0; i < worker->count && !rc; i++) {
		worker->pages[i].id = worker->list[i].id;
		rc = wait_for(worker, i);
		if (worker->found > highest)
			highest = worker->found;
	}
	for (size_t position = highest + 1; position-- > 0 && !rc;)
		if (worker->waiting[position])
			rc = use_chunk(worker, position);
	return rc;
}

static void *run_worker(void *context)
{
	struct worker *worker = context;

	worker->pages = calloc(worker->count, sizeof(*worker->pages));
	worker->waiting = calloc(worker->store->count,
				 sizeof(*worker->waiting));
	worker->error = worker->pages && worker->waiting ?
				make_pages(worker) :
				failed(&worker->why, ERR_NO_MEMORY,
				       "out of memory");
	free(worker->waiting);
	unpacker_release(&worker->unpacker);
	return NULL;
}

/* ------- pages that are elsewhere ------- */

/* A page that is, as a whole, where another process has it. */
struct distant {
	uint32_t member;
	struct page_want want;
};

static int by_member(const void *left, const void *right)
{
	const struct distant *a = left, *b = right;

	if (a->member != b->member)
		return a->member < b->member ? -1 : 1;
	return a->want.id < b->want.id ? -1 : a->want.id > b->want.id;
}

/* Those of one process after the other. */
static int fetch(const struct stored_pages *store, struct distant *list,
		 size_t count, struct failure *why)
{
	struct page_want *wants = calloc(count, sizeof(*wants));
	int rc = 0;

	if (!wants)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	qsort(list, count, sizeof(*list), by_member);
	for (size_t i = 0, next; i < count && !rc; i = next) {
		for (next = i; next < count &&
		     list[next].member == list[i].member; next++)
			wants[next - i] = list[next].want;
		rc = store->elsewhere.pages(store->elsewhere.context,
					    list[i].member, wants, next - i,
					    why);
	}
	free(wants);
	return rc;
}

/* Patches have been applied: they are changes, in any order. */
static int fetch_for(struct worker *worker, struct failure *why)
{
	const struct stored_pages *store = worker->store;
	struct distant *list = calloc(worker->count, sizeof(*list));
	size_t count = 0;
	int rc = 0;

	if (!list)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < worker->count && !rc; i++) {
		const struct making *page = &worker->pages[i];
		struct page_want want = { page->place.id, worker->list[i].to };

		if (page->place.member && !page->patch_count &&
		    store->elsewhere.pages)
			list[count++] = (struct distant){ page->place.member,
							  want };
		else if (page->place.member)
			rc = stored_pages_apply(store, worker->reader, page->id,
						&page->place, want.to, why);
	}
	if (!rc && count)
		rc = fetch(store, list, count, why);
	free(list);
	return rc;
}

/* ------- all of them ------- */

/* Starts a thread that no signal disturbs. */
static bool start(pthread_t *thread, struct worker *worker)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	rc = pthread_create(thread, NULL, run_worker, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc == 0;
}

static size_t count_workers(size_t pages)
{
	static long processors;		/* asking for them reads a file */
	size_t most = pages / PAGES_LEAST + 1;

	if (!processors)
		processors = sysconf(_SC_NPROCESSORS_ONLN);
	if (processors < 1)
		processors = 1;
	if (processors > THREADS_MOST)
		processors = THREADS_MOST;
	return most < (size_t)processors ? most : (size_t)processors;
}

static int run_all(struct worker *workers, size_t count, struct failure *why)
{
	pthread_t threads[THREADS_MOST];
	bool started[THREADS_MOST] = { false };
	int rc = 0;

	for (size_t i = 1; i < count; i++)
		started[i] = start(&threads[i], &workers[i]);
	for (size_t i = 0; i < count; i++)
		if (!started[i])
			run_worker(&workers[i]);
	for (size_t i = 1; i < count; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
	for (size_t i = 0; i < count && !rc; i++) {
		rc = workers[i].error;
		if (rc && why)
			*why = workers[i].why;
	}
	for (size_t i = 0; i < count; i++) {
		if (!rc && workers[i].is_any_elsewhere)
			rc = fetch_for(&workers[i], why);
		free(workers[i].pages);
	}
	return rc;
}

static int by_place(const void *left, const void *right)
{
	const struct page_want *a = left, *b = right;

	return a->to < b->to ? -1 : a->to > b->to;
}

static void sort(struct page_want *list, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (list[i - 1].to <= list[i].to)
			continue;
		qsort(list, count, sizeof(*list), by_place);
		return;
	}
}

static int read_each(struct stored_pages *store,
		     const struct trace_reader *reader,
		     const struct page_want *list, size_t count,
		     struct failure *why)
{
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++)
		rc = stored_pages_read(store, reader, list[i].id, list[i].to,
				       why);
	return rc;
}

int stored_pages_read_all(struct stored_pages *store,
			  const struct trace_reader *reader,
			  struct page_want *list, size_t count,
			  struct failure *why)
{
	size_t each, worker_count;
	struct worker *workers;
	int rc;

	/* What is left of their chunks is asked for next. */
	if (count < PAGES_LEAST)
		return read_each(store, reader, list, count, why);
	worker_count = count_workers(count);
	workers = calloc(worker_count, sizeof(*workers));
	if (!workers)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	sort(list, count);
	each = count / worker_count;
	for (size_t i = 0; i < worker_count; i++) {
		workers[i].store = store;
		workers[i].reader = reader;
		workers[i].list = list + i * each;
		workers[i].count = i + 1 < worker_count ? each :
							  count - i * each;
	}
	rc = run_all(workers, worker_count, why);
	free(workers);
	return rc;
}
