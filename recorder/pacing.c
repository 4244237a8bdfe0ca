/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pacing.c - see pacing.h */
#include "recorder/pacing.h"

/*
 * How often the guest is stopped to ask whether the segment should end.
 * Looking more often where much code runs lets compilers have segments of a
 * million steps; elsewhere it would only cost stops.
 */
#define LOOK_STEPS UINT64_C(4000000)
#define LOOK_STEPS_MUCH_CODE UINT64_C(1000000)

/*
 * A replay does 500 million steps a second or more, so the longest segment
 * takes about a tenth of a second to replay.  The shortest is a choice: below
 * it, key frames of programs that write little would still cost their fixed
 * part.  In between, each page written must have been worth 50,000 steps
 * (100 microseconds of a replay), while storing it takes 10.
 */
#define SHORTEST_STEPS UINT64_C(24000000)
#define LONGEST_STEPS UINT64_C(64000000)
#define STEPS_PER_PAGE UINT64_C(50000)

/*
 * A replay fetches every page that it touches, at some 10 microseconds each
 * (measured), and misses the host's caches: 12,000 pages take as long as the
 * steps of a long segment.  So a segment that touches that many ends early,
 * unless it writes most of them.  How early depends on how many of the pages
 * written were stored whole in the segments before; if most were patches,
 * storing them was cheap.  The limits of `per_page` are a choice between the
 * size of a recording (the upper) and the time of questions (the lower).
 */
#define TOUCHED_MOST 12000
#define SHORTEST_WRITTEN UINT64_C(8000000)	/* if it writes that many */
#define PER_PAGE_LEAST UINT64_C(400)
#define PER_PAGE_MOST UINT64_C(10000)

/*
 * A replay translates the code that it executes: measured, some 30 microseconds
 * for each target of an indirect jump.  So a segment that executes much code
 * ends early, too.  Measured: questions about a run of cc1 took 1.1 s without
 * limits and take 0.2 s, 0.3 s at most.  With a third of TARGETS_MOST they take
 * 0.14 s, and recording a third longer, for a recording half as large again.
 *
 * So does a segment whose steps take long: after LONGEST_TIME in any case, or
 * after LONG_TIME if its key frame costs little of that (each page written
 * counts time_per_page).  The two times are a choice: how long a question may
 * take that replays all of a segment.  The times of a page are those of storing
 * it and of fetching it again, rounded up; a smaller one makes shorter
 * segments.
 */
#define TARGETS_MOST 6000
#define PER_TARGET UINT64_C(100)
#define TIME_PER_TARGET UINT64_C(30000)
#define LONG_TIME UINT64_C(120000000)
#define LONGEST_TIME UINT64_C(220000000)
#define TIME_PER_PATCH UINT64_C(10000)
#define TIME_PER_WHOLE UINT64_C(20000)

/*
 * Families have many processes that end soon, and share their first pages with
 * others.  Key frames would be most of what is their own: measured, of 30
 * compilers with 600 million steps each, 11 MB instead of 0.1.  So a child's
 * first segment is long.  A question that has to replay it takes some seconds,
 * once: it leaves start points for the next (points_store_on_way()).
 */
#define CHILD_STEPS UINT64_C(1000000000)
#define CHILD_TIME UINT64_C(6000000000)

void pacing_begin_child(struct pacing *pacing)
{
	pacing->is_child = true;
}

void pacing_init(struct pacing *pacing, uint64_t fixed)
{
	pacing->fixed = fixed;
	pacing->per_page = PER_PAGE_LEAST;
	pacing->time_per_page = TIME_PER_WHOLE;
	pacing->look = LOOK_STEPS;
	pacing->is_child = false;
}

uint64_t pacing_look_steps(const struct pacing *pacing)
{
	return pacing->fixed && pacing->fixed < pacing->look ? pacing->fixed :
							       pacing->look;
}

/* Whether replaying the segment would take long. */
static bool takes_long(const struct pacing *pacing,
		       const struct segment_costs *costs)
{
	uint64_t time = costs->time + costs->targets * TIME_PER_TARGET;

	if (time >= LONGEST_TIME && costs->steps >= SHORTEST_STEPS)
		return true;
	return time >= LONG_TIME && costs->steps >= PACING_TIMED_STEPS &&
	       time >= costs->written * pacing->time_per_page;
}

bool pacing_is_due(const struct pacing *pacing,
		   const struct segment_costs *costs)
{
	if (pacing->fixed)
		return costs->steps >= pacing->fixed;
	if (pacing->is_child && !costs->number)
		return costs->steps >= CHILD_STEPS || costs->time >= CHILD_TIME;
	if (costs->steps >= LONGEST_STEPS)
		return true;
	if (costs->targets >= TARGETS_MOST &&
	    costs->steps >= costs->targets * PER_TARGET)
		return true;
	if (takes_long(pacing, costs))
		return true;
	if (costs->written >= TOUCHED_MOST)
		return costs->steps >= SHORTEST_WRITTEN &&
		       costs->steps >= costs->written * pacing->per_page;
	if (costs->steps < SHORTEST_STEPS)
		return false;
	return costs->steps >= costs->written * (costs->touched >= TOUCHED_MOST ?
						 pacing->per_page :
						 STEPS_PER_PAGE);
}

void pacing_learn(struct pacing *pacing, const struct segment_costs *costs,
		  uint64_t unlike)
{
	bool are_patches = unlike <= costs->written / 4;

	pacing->look = costs->targets < TARGETS_MOST ? LOOK_STEPS :
						       LOOK_STEPS_MUCH_CODE;
	pacing->time_per_page = are_patches ? TIME_PER_PATCH : TIME_PER_WHOLE;
	if (costs->written < TOUCHED_MOST)
		return;
	if (are_patches)
		pacing->per_page = PER_PAGE_LEAST;
	else if (pacing->per_page < PER_PAGE_MOST)
		pacing->per_page *= 2;
}
