/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_pool.c - several replayers look for what a run backwards meets
 *
 * Each segment can be replayed on its own.  So each processor of the host takes
 * a part, of one segment or some, the last part first, and the next one when it
 * is done.  As soon as something is met in one, those before it do not matter
 * any more; those behind it may still hold what is met last.  The answer is the
 * one that a single replayer finds.
 *
 * A helper has a recording and a replayer of its own, and keeps no checkpoints.
 * It takes little more memory than what its segments touch, which the index
 * says; where that is too much, it leaves.
 */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "formats/error.h"
#include "formats/number_map.h"
#include "replayer/replayer_internal.h"
#include "replayer/run_internal.h"

/* Of all that look; and what a helper takes besides memory of the guest. */
#define POOL_MEMORY (UINT64_C(128) << 20)
#define HELPER_BASE (UINT64_C(24) << 20)
#define HELPERS_MOST 31

/*
 * Segments that one looks through in their order cost less than each alone:
 * memory stays, and what was translated.  But what is met in the last one makes
 * the others needless; so a part is longer as the way gets longer, up to so many
 * steps.
 */
#define PART_MOST (UINT64_C(256) << 20)

struct pool {
	const struct replay_until *until;
	struct recording *recording;	/* of whoever asks */
	pthread_mutex_t lock;
	struct side_file *side;	/* in the meantime, nobody else uses it */
	bool has_end;		/* as of a search: of the part taken first */
	struct position now;	/* nothing before it has been taken */
	struct position left;	/* the end of the last part that was taken and
				   not looked through; or less */
	size_t taken;		/* parts, counted from the last one on */
	unsigned helpers;
	atomic_size_t decided;	/* a part in which there is something, or that
				   has failed; else SIZE_MAX */
	struct meeting found;	/* of it */
	int rc;
	struct failure why;
};

/* ------- parts ------- */

struct part {
	size_t number;
	struct position first, end;
	bool is_empty;		/* nothing can be met in it */
};

static bool is_more(const struct pool *pool)
{
	const struct search any = {
		.until = pool->until, .part = pool->taken,
		.decided = &pool->decided,
	};

	return !run_is_over(&any) &&
	       position_compare(&pool->until->to, &pool->now) < 0;
}

/* From the last key frame before a position, or from where the run ends. */
static int find_first(const struct pool *pool, struct replayer *rep,
		      const struct position *end, struct position *first,
		      struct failure *why)
{
	struct segment_position place;
	int rc = recording_place(rep->recording, end, &place, why);

	if (rc)
		return rc;
	first->time = recording_time(rep->recording, place.segment);
	if (place.segment && place.time == first->time && !place.events)
		first->time = recording_time(rep->recording, --place.segment);
	rc = recording_events_before(rep->recording, place.segment,
				     &first->events, why);
	if (!rc && position_compare(first, &pool->until->to) < 0)
		*first = pool->until->to;
	return rc;
}

/* How many pages one may touch. */
static size_t count_room(const struct pool *pool, bool helps)
{
	uint64_t room = POOL_MEMORY / (pool->helpers + 1);
	uint64_t base = helps ? HELPER_BASE : 0;

	return room < base ? 0 : (size_t)((room - base) >> GUEST_PAGE_SHIFT);
}

/*
 * Whether the segment before `pool->now` can be looked through with so much
 * room, beside others whose pages are in `pages` already.
 */
static bool fits(const struct pool *pool, struct replayer *rep,
		 struct number_map *pages, size_t room)
{
	uint64_t start = recording_start(rep->recording);
	uint64_t t = pool->now.time > start ? pool->now.time - 1 : start;
	struct segment_index index = { 0 };
	bool has_room;

	if (recording_index(rep->recording,
			    recording_segment_at(rep->recording, t), &index,
			    NULL))
		return false;
	has_room = index.steps;		/* 0: it has no index */
	for (size_t i = 0; i < index.page_count && has_room; i++)
		has_room = !number_map_set(pages, index.pages[i].page, 0) &&
			   pages->count <= room;
	segment_index_release(&index);
	return has_room;
}

/* How many steps one takes: no more than are left for others, too. */
static uint64_t count_steps(const struct pool *pool)
{
	size_t workers = pool->helpers + 1;
	size_t turn = pool->taken / workers;
	uint64_t left = (pool->now.time - pool->until->to.time) /
			(2 * workers);
	uint64_t most = PART_MOST >> (turn < 3 ? 3 - turn : 0);

	return left < most ? left : most;
}

/* Adds segments before it, as long as something may be met in them. */
static int choose_part(struct pool *pool, struct search *search,
		       struct number_map *pages, size_t room, struct part *part,
		       struct failure *why)
{
	uint64_t steps = count_steps(pool), from = pool->now.time;
	bool may = true;
	int rc = 0;

	part->number = pool->taken++;
	part->first = part->end = pool->now;
	part->is_empty = true;
	do {
		struct position first, end = pool->now;

		rc = find_first(pool, search->rep, &part->first, &first, why);
		if (!rc)
			rc = run_may_meet(search, &first, &may, why);
		if (!rc && may)
			rc = run_narrow(search, &first, &end, &may, why);
		if (rc)
			break;
		pool->now = first;
		if (!may)
			break;
		if (part->is_empty)
			part->end = end;
		part->first = first;
		part->is_empty = false;
	} while (from - pool->now.time < steps &&
		 position_compare(&pool->until->to, &pool->now) < 0 &&
		 fits(pool, search->rep, pages, room));
	return rc;
}

/* False: there is none, or not for helpers. */
static bool take_part(struct pool *pool, struct search *search, bool helps,
		      struct part *part, int *rc, struct failure *why)
{
	struct number_map pages = { 0 };
	size_t room;
	bool is_taken;

	pthread_mutex_lock(&pool->lock);
	room = count_room(pool, helps);
	is_taken = is_more(pool);
	if (is_taken && !fits(pool, search->rep, &pages, room) && helps) {
		is_taken = false;
		pool->helpers--;
	}
	if (is_taken)
		*rc = choose_part(pool, search, &pages, room, part, why);
	pthread_mutex_unlock(&pool->lock);
	number_map_release(&pages);
	return is_taken;
}

/* Something was met, or went wrong. */
static void decide(struct pool *pool, const struct search *search, int rc,
		   const struct failure *why)
{
	pthread_mutex_lock(&pool->lock);
	if (search->part < atomic_load(&pool->decided)) {
		pool->found = search->found;
		pool->rc = rc;
		if (rc)
			pool->why = *why;
		atomic_store(&pool->decided, search->part);
	}
	pthread_mutex_unlock(&pool->lock);
}

/* It was interrupted in a part. */
static void leave(struct pool *pool, const struct part *part)
{
	pthread_mutex_lock(&pool->lock);
	if (position_compare(&pool->left, &part->end) < 0)
		pool->left = part->end;
	pthread_mutex_unlock(&pool->lock);
}

static void work(struct pool *pool, struct replayer *rep, bool helps)
{
	const struct search begin = {
		.rep = rep, .until = pool->until, .for_last = true,
		.decided = &pool->decided, .side = pool->side,
	};
	struct search search = begin;
	struct failure why;
	struct part part;
	int rc = 0;

	while (take_part(pool, &search, helps, &part, &rc, &why)) {
		search = begin;
		search.part = part.number;
		search.has_end = part.number || pool->has_end;
		if (!rc && !part.is_empty)
			rc = run_part(&search, &part.first, &part.end, &why);
		if (run_is_interrupted(&search, rc))
			leave(pool, &part);
		/* What is behind what it has met was not looked at. */
		if (rc || (search.found.any && !run_is_over(&search)))
			decide(pool, &search, rc, &why);
		rc = 0;
	}
}

/* ------- helpers ------- */

static void *help(void *context)
{
	struct pool *pool = context;
	const char *path = trace_reader_path(recording_reader(pool->recording));
	struct recording *recording;
	struct replayer *rep;

	/* Without this one it takes longer. */
	if (recording_open(&recording, path, NULL))
		return NULL;
	recording_cancel_by(recording, recording_cancelled(pool->recording));
	if (!replayer_create(&rep, recording, NULL)) {
		replayer_keep_points(rep, 0, 0);
		work(pool, rep, true);
		replayer_destroy(rep);
	}
	recording_close(recording);
	return NULL;
}

/* Signals are for others, but for those that its own instructions cause. */
static bool start(pthread_t *thread, struct pool *pool)
{
	sigset_t blocked, before;
	int rc;

	sigfillset(&blocked);
	sigdelset(&blocked, SIGSEGV);
	sigdelset(&blocked, SIGBUS);
	sigdelset(&blocked, SIGFPE);
	sigdelset(&blocked, SIGILL);
	sigdelset(&blocked, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &blocked, &before);
	rc = pthread_create(thread, NULL, help, pool);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !rc;
}

/* How many processors there are for helpers. */
static unsigned count_processors(void)
{
	cpu_set_t set;
	int count = 1;

	if (!sched_getaffinity(0, sizeof(set), &set))
		count = CPU_COUNT(&set);
	return count > HELPERS_MOST ? HELPERS_MOST : (unsigned)count - 1;
}

static bool fits_helper(const struct pool *pool, struct replayer *rep)
{
	struct number_map pages = { 0 };
	bool is_fitting = fits(pool, rep, &pages, count_room(pool, true));

	number_map_release(&pages);
	return is_fitting;
}

int pool_search(struct search *search, struct failure *why)
{
	struct pool pool = {
		.until = search->until, .now = search->passed,
		.decided = SIZE_MAX,
		.has_end = search->has_end,
		.recording = search->rep->recording,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.side = search->side,
	};
	struct replayer *rep = search->rep;
	unsigned count = 0;
	pthread_t threads[HELPERS_MOST];

	pool.helpers = count_processors();
	while (pool.helpers && !fits_helper(&pool, rep))
		pool.helpers--;
	/* Its start points are of little use to a long run. */
	rep->points.side = NULL;
	for (unsigned most = pool.helpers; count < most; count++)
		if (!start(&threads[count], &pool))
			break;
	work(&pool, rep, false);
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	/* What they have freed stays with threads that come later; if any do. */
	if (count)
		malloc_trim(0);
	rep->points.side = search->side;
	search->found = pool.found;
	search->passed = position_compare(&pool.left, &pool.now) > 0 ?
				 pool.left : pool.now;
	return pool.rc ? failed(why, pool.rc, "%s", pool.why.text) : 0;
}
