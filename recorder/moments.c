/* SPDX-License-Identifier: GPL-2.0-or-later */
/* moments.c - notes what the clock on the wall says, now and then */
#include "recorder/recorder_internal.h"

#include <stdlib.h>

#include "formats/array.h"

/*
 * Nobody asks for a moment more exactly than this, in microseconds; each one
 * that is noted takes some five bytes.  A choice.
 */
#define GAP 10000

/* Reading it takes a few nanoseconds; it goes on every 1 to 4 milliseconds. */
static int64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static void note(struct recorder *rec, int64_t clock)
{
	struct recorded_moments *moments = &rec->moments;

	if (array_room(moments->list, moments->count, moments->room)) {
		effects_out_of_memory(rec);
		return;
	}
	moments->list[moments->count++] =
		(struct moment){ vm_steps(rec->vm), clock };
	moments->last = clock;
	moments->steps = vm_steps(rec->vm);
}

/*
 * Before it waits, the file must say how far it came, though nothing else has
 * happened since.  When it has waited, the file must say how long that was: what
 * others did meanwhile would otherwise seem to have happened after the wait.
 */
void moments_look(struct recorder *rec, bool will_wait)
{
	struct recorded_moments *moments = &rec->moments;
	int64_t now = clock_now();
	int64_t passed = now - moments->last;
	bool has_run = vm_steps(rec->vm) != moments->steps;

	if (passed < 0 || passed >= GAP ||
	    ((will_wait || moments->waits) && (passed || has_run)))
		note(rec, now);
	moments->waits = will_wait;
}

int moments_write(struct recorder *rec, struct failure *why)
{
	struct output out = { 0 };

	if (!rec->moments.count)
		return 0;
	moments_encode(&out, rec->moments.list, rec->moments.count);
	rec->moments.count = 0;
	if (out.error) {
		output_release(&out);
		return failed(why, out.error, "out of memory");
	}
	return trace_writer_chunk(rec->trace.writer, CHUNK_MOMENTS, 0,
				  rec->segment.number, 0, &out, why);
}

void moments_begin_again(struct recorder *rec)
{
	rec->moments.count = 0;
	rec->moments.last = 0;
	rec->moments.steps = 0;
	rec->moments.waits = false;
}

void moments_release(struct recorder *rec)
{
	free(rec->moments.list);
	rec->moments = (struct recorded_moments){ 0 };
}
