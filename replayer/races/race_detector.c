/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_detector.c - see race_detector.h */
#include "replayer/races/race_detector.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"

/* A word that more places use forgets those that used it longest ago. */
#define ENTRIES_MOST 64

/* One access, or the part of it in one word. */
struct visit {
	struct race_detector *detector;
	struct race_word *word;
	uint64_t addr;		/* of the word */
	uint32_t thread;
	const struct race_access *access;
	uint8_t bytes;
};

int race_detector_init(struct race_detector *detector, uint32_t threads,
		       race_found *found, void *context)
{
	*detector = (struct race_detector) {
		.threads = threads, .found = found, .context = context,
	};
	detector->clocks = calloc(threads, sizeof(*detector->clocks));
	if (!detector->clocks)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < threads; i++)
		if (clock_set(&detector->clocks[i], i, 1))
			return ERR_NO_MEMORY;
	return 0;
}

void race_detector_release(struct race_detector *detector)
{
	race_words_release(&detector->words);
	for (uint32_t i = 0; i < detector->threads && detector->clocks; i++)
		clock_release(&detector->clocks[i]);
	free(detector->clocks);
	*detector = (struct race_detector) { 0 };
}

/* ------- what orders threads ------- */

/* What the thread does from now on is not published yet. */
static void move_on(struct race_detector *detector, uint32_t thread)
{
	detector->clocks[thread].counts[thread]++;
}

int race_detector_publish(struct race_detector *detector, uint32_t thread,
			  struct clock *from)
{
	int rc = clock_join(from, &detector->clocks[thread]);

	move_on(detector, thread);
	return rc;
}

int race_detector_acquire(struct race_detector *detector, uint32_t thread,
			  const struct clock *from)
{
	return clock_join(&detector->clocks[thread], from);
}

/* The half of its word that an address is in. */
static unsigned half_of(uint64_t addr)
{
	return addr % RACE_WORD / 4;
}

int race_detector_publish_at(struct race_detector *detector, uint32_t thread,
			     uint64_t addr)
{
	struct race_word *word;
	int rc = race_words_find(&detector->words, addr, &word);

	if (rc || !word)
		return rc;
	return race_detector_publish(detector, thread,
				     &word->released[half_of(addr)]);
}

int race_detector_acquire_at(struct race_detector *detector, uint32_t thread,
			     uint64_t addr)
{
	struct race_word *word;
	int rc = race_words_find(&detector->words, addr, &word);

	if (rc || !word)
		return rc;
	return race_detector_acquire(detector, thread,
				     &word->released[half_of(addr)]);
}

/* A load acquires, a store releases; both halves if it has bytes of both. */
static int synchronize(const struct visit *visit, uint8_t bytes)
{
	struct race_detector *detector = visit->detector;
	struct clock *own = &detector->clocks[visit->thread];
	const struct race_access *access = visit->access;
	bool released = false;
	int rc = 0;

	for (unsigned half = 0; half < 2 && !rc; half++) {
		struct clock *clock = &visit->word->released[half];

		if (!(bytes >> half * 4 & 0xf))
			continue;
		if (!access->writes || access->is_atomic)
			rc = clock_join(own, clock);
		if (!rc && access->writes && !access->changes_nothing) {
			rc = clock_copy(clock, own);
			released = true;
		}
	}
	if (released)
		move_on(detector, visit->thread);
	return rc;
}

/* ------- judging ------- */

static bool is_ordered(const struct visit *visit,
		       const struct race_entry *entry)
{
	const struct clock *own = &visit->detector->clocks[visit->thread];

	return entry->thread == visit->thread ||
	       clock_of(own, entry->thread) >= entry->count;
}

static void report(const struct visit *visit, const struct race_entry *before,
		   const struct race_access *now, uint8_t bytes)
{
	unsigned first = (unsigned)__builtin_ctz(bytes);

	visit->word->raced = true;
	visit->detector->found(visit->detector->context, before, visit->thread,
			       now, visit->addr + first);
}

static void compare(const struct visit *visit, uint8_t bytes)
{
	const struct race_access *access = visit->access;

	for (unsigned i = 0; i < visit->word->count; i++) {
		const struct race_entry *entry = &visit->word->entries[i];

		if (!(entry->bytes & bytes) || entry->is_atomic ||
		    (!entry->writes && !access->writes) ||
		    (entry->is_library && access->is_library) ||
		    is_ordered(visit, entry))
			continue;
		report(visit, entry, access, entry->bytes & bytes);
	}
}

/* ------- remembering ------- */

static struct race_entry make_entry(const struct visit *visit, uint8_t bytes)
{
	const struct race_access *access = visit->access;

	return (struct race_entry) {
		.pc = access->pc,
		.place = access->place,
		.time = access->time,
		.thread = visit->thread,
		.count = clock_of(&visit->detector->clocks[visit->thread],
				  visit->thread),
		.bytes = bytes,
		.writes = access->writes,
		.is_library = access->is_library,
		.is_atomic = access->is_atomic,
		.keeps_value = access->keeps_value,
	};
}

static bool is_same_place(const struct race_entry *a,
			  const struct race_entry *b)
{
	return a->thread == b->thread && a->pc == b->pc &&
	       a->place == b->place && a->writes == b->writes &&
	       a->keeps_value == b->keeps_value && a->is_blind == b->is_blind;
}

/* Takes a newer access of the same place in, if nothing is lost. */
static bool renew(struct race_entry *entry, const struct race_entry *newer)
{
	if (!is_same_place(entry, newer))
		return false;
	if (entry->count != newer->count && (entry->bytes & ~newer->bytes))
		return false;
	entry->bytes = entry->count == newer->count ?
			       entry->bytes | newer->bytes : newer->bytes;
	entry->count = newer->count;
	entry->time = newer->time;
	return true;
}

static unsigned oldest(const struct race_word *word)
{
	unsigned found = 0;

	for (unsigned i = 1; i < word->count; i++)
		if (word->entries[i].time < word->entries[found].time)
			found = i;
	return found;
}

static int remember(struct race_word *word, const struct race_entry *entry)
{
	for (unsigned i = 0; i < word->count; i++) {
		if (renew(&word->entries[i], entry)) {
			word->last = (uint16_t)i;
			return 0;
		}
	}
	if (word->count == ENTRIES_MOST) {
		word->last = (uint16_t)oldest(word);
		word->entries[word->last] = *entry;
		return 0;
	}
	if (word->count == word->room) {
		uint16_t room = word->room ? word->room * 2 : 2;
		struct race_entry *more =
			realloc(word->entries, room * sizeof(*more));

		if (!more)
			return ERR_NO_MEMORY;
		word->entries = more;
		word->room = room;
	}
	word->last = word->count;
	word->entries[word->count++] = *entry;
	return 0;
}

/*
 * Whether the thread has done the same before, and has published nothing, nor
 * has anybody else been here since: then it races with nothing that is not
 * known.
 */
static bool is_again(const struct visit *visit, uint8_t bytes)
{
	const struct race_access *access = visit->access;
	const struct clock *own = &visit->detector->clocks[visit->thread];
	struct race_word *word = visit->word;

	if (word->raced || word->owner != visit->thread)
		return false;
	for (unsigned i = 0; i < word->count; i++) {
		struct race_entry *entry = &word->entries[i];

		if (entry->pc != access->pc || entry->place != access->place ||
		    entry->thread != visit->thread ||
		    entry->writes != access->writes ||
		    entry->keeps_value != access->keeps_value ||
		    entry->is_blind)
			continue;
		if (entry->count != clock_of(own, visit->thread) ||
		    entry->time < word->owned || (bytes & ~entry->bytes))
			return false;
		entry->time = access->time;
		word->last = (uint16_t)i;
		return true;
	}
	return false;
}

static void note_owner(const struct visit *visit)
{
	if (visit->word->owner == visit->thread)
		return;
	visit->word->owner = visit->thread;
	visit->word->owned = visit->access->time;
}

static int visit_plain(const struct visit *visit, uint8_t bytes)
{
	struct race_entry entry;

	if (is_again(visit, bytes))
		return 0;
	note_owner(visit);
	compare(visit, bytes);
	entry = make_entry(visit, bytes);
	entry.is_atomic = false;	/* of bytes that are none */
	return remember(visit->word, &entry);
}

/* ------- changes of synchronizing bytes that are not indivisible ------- */

/*
 * Whether what the bytes themselves have told is behind a blind store: they
 * were released again by the thread that stored.
 */
static bool is_released(const struct visit *visit,
			const struct race_entry *entry, uint8_t bytes)
{
	for (unsigned half = 0; half < 2; half++)
		if ((bytes >> half * 4 & 0xf) &&
		    clock_of(&visit->word->released[half], entry->thread) >
			    entry->count)
			return true;
	return false;
}

/* A change by another thread that is not ordered before this. */
static const struct race_entry *unordered(const struct visit *visit,
					  uint8_t bytes, bool is_atomic)
{
	for (unsigned i = 0; i < visit->word->count; i++) {
		const struct race_entry *entry = &visit->word->entries[i];

		if (entry->is_atomic == is_atomic && entry->writes &&
		    (entry->bytes & bytes) && !is_ordered(visit, entry) &&
		    !(entry->is_blind && is_released(visit, entry, bytes)))
			return entry;
	}
	return NULL;
}

/* What is kept of the last load by the thread; NULL: it was never late. */
static struct race_load *find_load(const struct visit *visit)
{
	for (size_t i = 0; i < visit->word->load_count; i++)
		if (visit->word->loads[i].thread == visit->thread)
			return &visit->word->loads[i];
	return NULL;
}

static void end_load(const struct visit *visit)
{
	struct race_load *load = find_load(visit);

	if (load)
		load->is_late = false;
}

/* The same, made if there is none. */
static struct race_load *make_load(const struct visit *visit)
{
	struct race_word *word = visit->word;
	struct race_load *load = find_load(visit);

	if (load)
		return load;
	if (array_room(word->loads, word->load_count, word->load_room))
		return NULL;
	load = &word->loads[word->load_count++];
	*load = (struct race_load) { .thread = visit->thread };
	return load;
}

/* It reads first, and then knows what was before: judged by its read. */
static int visit_atomic(const struct visit *visit, uint8_t bytes)
{
	struct race_access change = *visit->access;
	const struct race_entry *before;
	struct race_entry entry;
	struct race_load *load;

	if (visit->access->writes) {
		entry = make_entry(visit, bytes);
		return visit->access->changes_nothing ?
			       0 : remember(visit->word, &entry);
	}
	end_load(visit);
	if (unordered(visit, bytes, true)) {
		load = make_load(visit);
		if (!load)
			return ERR_NO_MEMORY;
		load->learned = visit->access->time;
	}
	before = unordered(visit, bytes, false);
	change.writes = true;
	if (before)
		report(visit, before, &change, before->bytes & bytes);
	return 0;
}

static int visit_load(const struct visit *visit, uint8_t bytes)
{
	const struct race_entry *before = unordered(visit, bytes, true);
	struct race_load *load;

	if (!before) {
		end_load(visit);
		return 0;
	}
	load = make_load(visit);
	if (!load)
		return ERR_NO_MEMORY;
	load->is_late = true;
	load->before = *before;
	load->learned = visit->access->time;
	return 0;
}

/* ------- stores ------- */

/* The last indivisible change; NULL if there was none. */
static const struct race_entry *last_change(const struct race_word *word,
					    uint8_t bytes)
{
	const struct race_entry *last = NULL;

	for (unsigned i = 0; i < word->count; i++) {
		const struct race_entry *entry = &word->entries[i];

		if (entry->is_atomic && !entry->keeps_value &&
		    (entry->bytes & bytes) &&
		    (!last || entry->time >= last->time))
			last = entry;
	}
	return last;
}

/*
 * Whether a store gives back what the thread has taken, as of a lock: the last
 * change was its own, or it has learned of that change by reading the bytes.
 */
static bool gives_back(const struct visit *visit, uint8_t bytes)
{
	const struct race_entry *last = last_change(visit->word, bytes);
	const struct race_load *load = find_load(visit);

	return last && (last->thread == visit->thread ||
			(load && load->learned > last->time));
}

/* Indivisible changes that nothing orders before a store. */
static void report_overwritten(const struct visit *visit, uint8_t bytes)
{
	for (unsigned i = 0; i < visit->word->count; i++) {
		const struct race_entry *entry = &visit->word->entries[i];

		if (entry->is_atomic && !entry->keeps_value &&
		    (entry->bytes & bytes) && !is_ordered(visit, entry))
			report(visit, entry, visit->access,
			       entry->bytes & bytes);
	}
}

/* What is not atomic and serves no lock must be ordered like anything else. */
static int visit_blind_store(const struct visit *visit, uint8_t bytes)
{
	struct race_entry entry = make_entry(visit, bytes);

	report_overwritten(visit, bytes);
	entry.is_blind = true;
	return remember(visit->word, &entry);
}

/* If it is the second half of a change, what was lost between the two? */
static int visit_store(const struct visit *visit, uint8_t bytes)
{
	const struct race_load *load = find_load(visit);
	const struct race_entry *before;
	struct race_entry entry;

	if (!visit->access->is_change)
		return visit->access->is_plain && !gives_back(visit, bytes) ?
			       visit_blind_store(visit, bytes) : 0;
	before = unordered(visit, bytes, true);
	if (!before && load && load->is_late && (load->before.bytes & bytes))
		before = &load->before;
	if (before)
		report(visit, before, visit->access, bytes);
	end_load(visit);
	entry = make_entry(visit, bytes);
	return remember(visit->word, &entry);
}

/*
 * Synchronizing bytes that one thread changes indivisibly and another by a
 * load and a store: a change can be lost.  This order does not count what the
 * bytes themselves order; the C library and variables of atomic types know
 * what they do.  So does a lock; but other stores to what is known not to be
 * atomic race with indivisible changes (ISO C11, 5.1.2.4).
 */
static int visit_sync(const struct visit *visit, uint8_t bytes)
{
	int rc = 0;

	if (!visit->access->is_library && !(visit->word->atomic & bytes)) {
		if (visit->access->is_atomic)
			rc = visit_atomic(visit, bytes);
		else if (visit->access->writes)
			rc = visit_store(visit, bytes);
		else
			rc = visit_load(visit, bytes);
	}
	return rc ? rc : synchronize(visit, bytes);
}

/* ------- accesses ------- */

int race_detector_access(struct race_detector *detector, uint32_t thread,
			 const struct race_access *access)
{
	uint64_t end = access->addr + access->size;
	struct visit visit = {
		.detector = detector, .thread = thread, .access = access,
		.addr = access->addr & ~(uint64_t)(RACE_WORD - 1),
	};
	int rc = 0;

	for (; visit.addr < end && !rc; visit.addr += RACE_WORD) {
		uint8_t sync;

		rc = race_words_find(&detector->words, visit.addr,
				     &visit.word);
		if (rc || !visit.word)
			continue;
		visit.bytes = race_word_bytes(visit.addr, access->addr,
					      access->size);
		sync = visit.bytes & visit.word->sync;
		if (access->is_order) {
			rc = synchronize(&visit, visit.bytes);
			continue;
		}
		if (sync && !access->orders_nothing)
			rc = visit_sync(&visit, sync);
		if (!rc && visit.bytes != sync && !access->is_hidden)
			rc = visit_plain(&visit, visit.bytes & ~sync);
	}
	return rc;
}
