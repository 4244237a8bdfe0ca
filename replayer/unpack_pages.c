/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unpack_pages.c - many stored pages at once, on several threads */
#include "replayer/stored_pages.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/error.h"
#include "replayer/recording.h"

enum {
	THREADS_MOST = 4,
	GROUPS_LEAST = 16,	/* fewer are not worth another thread */
	GROUPS_TAKEN = 16,	/* at once: two threads in one huge page wait */
};

/* Wanted pages of one chunk. */
struct group {
	size_t position;	/* of the chunk */
	size_t first, count;	/* in the list */
};

struct work {
	const struct stored_pages *store;
	const struct trace_reader *reader;
	const struct page_want *list;
	struct group *groups;
	size_t group_count;
	atomic_size_t next;	/* group that nobody has taken yet */
};

/* The chunk of a group, and those with its bases. */
#define WORKER_CHUNKS 16

struct worker {
	struct work *work;
	struct unpacker unpacker;
	struct open_chunk {
		size_t position;
		struct page_items *items;	/* or NULL: unused */
	} open[WORKER_CHUNKS];
	unsigned hand;
	int error;
	struct failure why;
};

/* ------- one chunk ------- */

static const struct page_items *open_chunk(void *context, size_t position,
					   int *rc, struct failure *why)
{
	struct worker *worker = context;
	const struct work *work = worker->work;
	struct open_chunk *open;

	*rc = 0;
	if (work->store->chunks[position].items)
		return work->store->chunks[position].items;
	for (unsigned i = 0; i < WORKER_CHUNKS; i++)
		if (worker->open[i].items &&
		    worker->open[i].position == position)
			return worker->open[i].items;
	open = &worker->open[worker->hand++ % WORKER_CHUNKS];
	if (!open->items)
		open->items = malloc(sizeof(*open->items));
	if (!open->items) {
		*rc = failed(why, ERR_NO_MEMORY, "out of memory");
		return NULL;
	}
	open->position = position;
	*rc = stored_pages_unpack(work->store, work->reader, position,
				  &worker->unpacker, open->items, why);
	return *rc ? NULL : open->items;
}

static int unpack_group(struct worker *worker, const struct group *group)
{
	const struct work *work = worker->work;
	const struct page_want *want = &work->list[group->first];
	struct page_source source = {
		work->store, work->reader, open_chunk, worker,
	};
	int rc = 0;

	for (size_t i = 0; i < group->count && !rc; i++)
		rc = page_source_read(&source, want[i].id, want[i].to,
				      &worker->why);
	return rc;
}

/* ------- all of them ------- */

static void *run_worker(void *context)
{
	struct worker *worker = context;
	struct work *work = worker->work;

	while (!worker->error) {
		size_t next = atomic_fetch_add(&work->next, GROUPS_TAKEN);
		size_t end = next + GROUPS_TAKEN;

		if (next >= work->group_count)
			break;
		if (end > work->group_count)
			end = work->group_count;
		for (; next < end && !worker->error; next++)
			worker->error = unpack_group(worker,
						     &work->groups[next]);
	}
	unpacker_release(&worker->unpacker);
	for (unsigned i = 0; i < WORKER_CHUNKS; i++)
		free(worker->open[i].items);
	return NULL;
}

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

static size_t count_workers(const struct work *work)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t most = work->group_count / GROUPS_LEAST + 1;

	if (processors < 1)
		processors = 1;
	if (processors > THREADS_MOST)
		processors = THREADS_MOST;
	return most < (size_t)processors ? most : (size_t)processors;
}

static int run_all(struct work *work, struct failure *why)
{
	size_t count = count_workers(work), started = 0;
	struct worker *workers = calloc(count, sizeof(*workers));
	pthread_t threads[THREADS_MOST];
	int rc = 0;

	if (!workers)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < count; i++)
		workers[i].work = work;
	while (started + 1 < count &&
	       start(&threads[started], &workers[started + 1]))
		started++;
	run_worker(&workers[0]);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < count && !rc; i++) {
		rc = workers[i].error;
		if (rc && why)
			*why = workers[i].why;
	}
	free(workers);
	return rc;
}

static int by_id(const void *left, const void *right)
{
	const struct page_want *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

static void sort(struct page_want *list, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (list[i - 1].id <= list[i].id)
			continue;
		qsort(list, count, sizeof(*list), by_id);
		return;
	}
}

static int make_groups(struct work *work, size_t count, struct failure *why)
{
	const struct stored_pages *store = work->store;
	uint64_t behind = 0;	/* the pages of the group before */

	for (size_t i = 0; i < count; i++) {
		struct group *group = &work->groups[work->group_count];
		uint64_t id = work->list[i].id;
		int rc;

		if (id < behind) {
			group[-1].count++;
			continue;
		}
		rc = stored_pages_find(store, work->reader, id,
				       &group->position, why);
		if (rc)
			return rc;
		group->first = i;
		group->count = 1;
		work->group_count++;
		behind = group->position + 1 < store->count ?
				 store->chunks[group->position + 1].first :
				 store->last + 1;
	}
	return 0;
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
	struct work work = { .store = store, .reader = reader, .list = list };
	int rc;

	sort(list, count);
	/* What is left of their chunks is asked for next. */
	if (count < GROUPS_LEAST * PAGE_ITEMS_MOST)
		return read_each(store, reader, list, count, why);
	work.groups = calloc(count, sizeof(*work.groups));
	if (!work.groups)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = make_groups(&work, count, why);
	if (!rc)
		rc = run_all(&work, why);
	free(work.groups);
	return rc;
}
