/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_log_times.c - see kernel_log_times.h
 *
 * Source: Linux 5.10 and later, kernel/printk/printk.c, printk_ringbuffer.c.
 */
#include "replayer/session/kernel_log_times.h"

#include <stdlib.h>

#include "formats/error.h"
#include "replayer/session/kernel_internal.h"
#include "replayer/session/kernel_ring.h"

/* The functions that store a message; their first argument leads to one. */
static const char *const functions[] = { "prb_commit", "prb_final_commit" };
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

enum place { STORED_RING, STORED_ID, PLACES };

static const struct kernel_place places[PLACES] = {
	[STORED_RING] = { "prb_reserved_entry", "rb" },
	[STORED_ID] = { "prb_reserved_entry", "id" },
};

/* What the ring has: as long as this is the same, nothing was stored. */
struct state {
	uint64_t first, end;	/* numbers of the oldest message, and of the one
				   that comes next */
	size_t stored;
};

struct search {
	struct kernel_log_times *times;
	struct kernel_ring *ring;
	struct recording *recording;
	const struct reg_table *regs;
	const struct position *at;
	uint32_t members[PLACES];
	uint64_t stops[FUNCTIONS];
	bool *has_messages;	/* of each segment */
	struct failure *why;
};

/* ------- in which segments ------- */

static struct position start_of(const struct search *search, size_t segment)
{
	return (struct position){ recording_time(search->recording, segment),
				  0 };
}

static int see_state(struct search *search, const struct position *at,
		     struct state *out)
{
	struct kernel_ring *ring = search->ring;
	int rc = kernel_go(ring->kernel, at, search->why);
	uint64_t id;
	size_t count;

	*out = (struct state){ 0 };
	if (rc || !kernel_ring_find(ring))
		return rc;
	id = kernel_ring_tail(ring);
	count = kernel_ring_count(ring);
	out->first = kernel_ring_sequence(ring, id);
	out->end = kernel_ring_sequence(ring, id + count - 1) + 1;
	for (size_t i = 0; i < count; i++)
		out->stored += kernel_ring_is_stored(ring, id + i);
	return 0;
}

/* Those from one to another, of which the states are known. */
static int find_segments(struct search *search, size_t from, size_t to,
			 const struct state *before, const struct state *after,
			 uint64_t first)
{
	size_t middle = from + (to - from) / 2;
	struct position at;
	struct state state;
	int rc;

	if ((before->end == after->end && before->stored == after->stored) ||
	    after->end <= first)
		return 0;
	if (middle == from) {
		search->has_messages[from] = true;
		return 0;
	}
	at = start_of(search, middle);
	rc = see_state(search, &at, &state);
	if (!rc)
		rc = find_segments(search, from, middle, before, &state, first);
	return rc ? rc :
		find_segments(search, middle, to, &state, after, first);
}

/* ------- in a segment ------- */

/* Where it was stored first, before it was copied to another ring. */
static int on_stored(void *context, const struct vm_stop *stop,
		     const struct position *at)
{
	struct search *search = context;
	struct kernel_ring *ring = search->ring;
	struct kernel *kernel = ring->kernel;
	uint64_t entry = replayer_reg(kernel->replayer, search->regs->args[0]);
	uint64_t sequence;

	(void)stop;
	if (kernel_stay(kernel, NULL) ||
	    !kernel_ring_take(ring, kernel_pointer(kernel, entry +
					search->members[STORED_RING])))
		return 0;
	sequence = kernel_ring_sequence(ring, kernel_number(
		kernel, entry + search->members[STORED_ID], 8));
	if (number_map_find(&search->times->by_sequence, sequence) ||
	    sequence == NUMBER_MAP_NONE)
		return 0;
	return number_map_set(&search->times->by_sequence, sequence, at->time) ?
		failed(search->why, ERR_NO_MEMORY, "out of memory") : 0;
}

static int set_stops(const struct search *search)
{
	int rc = 0;

	for (size_t i = 0; i < FUNCTIONS && !rc; i++)
		rc = replayer_break_set(search->ring->kernel->replayer,
					search->stops[i], search->why);
	return rc;
}

static void clear_stops(const struct search *search)
{
	for (size_t i = 0; i < FUNCTIONS; i++)
		replayer_break_clear(search->ring->kernel->replayer,
				     search->stops[i]);
}

/* Segments one behind the other are one run. */
static int run(struct search *search, size_t segments)
{
	struct replayer *replayer = search->ring->kernel->replayer;
	struct replay_visits visits = { .visit = on_stored,
					.context = search };
	int rc = 0;

	for (size_t i = 0; i < segments && !rc; i++) {
		struct position from = start_of(search, i);

		if (!search->has_messages[i])
			continue;
		if (!i || !search->has_messages[i - 1])
			rc = replayer_seek(replayer, &from, search->why);
		visits.to = i + 1 < segments ? start_of(search, i + 1) :
					       *search->at;
		if (!rc)
			rc = replayer_visit(replayer, &visits, search->why);
	}
	return rc;
}

/* ------- all of it ------- */

static bool find_functions(struct search *search, struct names *names)
{
	uint64_t size;

	for (size_t i = 0; i < FUNCTIONS; i++)
		if (names_find(names, search->at->time, functions[i],
			       &search->stops[i], &size, NULL))
			return false;
	return kernel_places(search->ring->kernel, places, PLACES,
			     search->members) == PLACES;
}

static int find_all(struct search *search, size_t segments)
{
	const struct position start = start_of(search, 0);
	struct state first, last;
	int rc = see_state(search, &start, &first);

	if (!rc)
		rc = see_state(search, search->at, &last);
	if (!rc)
		rc = find_segments(search, 0, segments, &first, &last,
				   last.first);
	if (!rc)
		rc = set_stops(search);
	if (!rc)
		rc = run(search, segments);
	clear_stops(search);
	return rc;
}

int kernel_log_times_find(struct kernel_log_times *out,
			  struct kernel_ring *ring, struct names *names,
			  const struct position *at, struct failure *why)
{
	struct recording *recording = query_recording(ring->kernel->query);
	size_t segments = recording_segment_at(recording, at->time) + 1;
	struct search search = {
		.times = out, .ring = ring, .recording = recording,
		.regs = recording_reg_table(recording), .at = at,
		.has_messages = calloc(segments, sizeof(bool)), .why = why,
	};
	int rc = 0;

	if (!search.has_messages)
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	else if (names && find_functions(&search, names))
		rc = find_all(&search, segments);
	free(search.has_messages);
	return rc;
}

void kernel_log_times_release(struct kernel_log_times *times)
{
	number_map_release(&times->by_sequence);
}

bool kernel_log_time(const struct kernel_log_times *times, uint64_t sequence,
		     uint64_t *out)
{
	const uint64_t *found = number_map_find(&times->by_sequence, sequence);

	if (found)
		*out = *found;
	return found;
}
