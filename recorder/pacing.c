/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pacing.c - see pacing.h */
#include "recorder/pacing.h"

/* How often the guest is stopped to ask whether the segment should end. */
#define LOOK_STEPS UINT64_C(4000000)

/*
 * What a key frame costs, in ns: each page written is stored, whole or as a
 * patch, and each page that is touched in the next segment is opened anew, with
 * a fault.  Of that, FRAME_PER_TOUCH is cprec's own part.  Measured, rounded.
 */
#define FRAME_PER_PATCH UINT64_C(8000)
#define FRAME_PER_WHOLE UINT64_C(18000)
#define FRAME_PER_TOUCH UINT64_C(8000)

/*
 * What a replay of the segment takes, in ns: what its steps took, fetching each
 * page that it touches, and translating the code that it executes, for each
 * target of an indirect jump.  Of a page, REPLAY_PER_PAGE is cprec's own part.
 * Measured, rounded.
 */
#define REPLAY_PER_PAGE UINT64_C(8000)
#define REPLAY_PER_TARGET UINT64_C(30000)

/*
 * The host's part of both, for a page: as much as so many faults that give a
 * process a page (memory_fault_cost()).  Measured where such a fault takes 9 us.
 * Where it takes 0.5 us, cprec's own part is four times the host's.
 */
#define HOST_FAULTS 4

/*
 * The longer a replay takes, the more its key frame may cost: a share of the
 * steps' time, which is the replay's time divided by FRAME_IS_FREE.  So it is a
 * tenth for a replay of 20 ms, and half for one of 100 ms.  A choice between the
 * time of recording and that of questions, which replay half a segment on average:
 * with 500 ms, ten programs took 0.93 of the time to record, and first questions 1.3
 * times theirs.
 * Nothing is gained by segments that take less than SHORTEST to replay.
 *
 * The steps' time is not the time measured but what they take at their best.
 * Where faults are slow, the time measured has more of them the more key frames
 * there are, and would ask for more of them still.
 */
#define SHORTEST UINT64_C(20000000)
#define FRAME_IS_FREE UINT64_C(200000000)
#define TIME_PER_STEP UINT64_C(1)

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

void pacing_init(struct pacing *pacing, uint64_t fixed, uint64_t fault_cost)
{
	pacing->fixed = fixed;
	pacing->host_per_page = HOST_FAULTS * fault_cost;
	pacing->frame_per_page = FRAME_PER_WHOLE;
	pacing->is_child = false;
}

uint64_t pacing_look_steps(const struct pacing *pacing)
{
	return pacing->fixed && pacing->fixed < LOOK_STEPS ? pacing->fixed :
							     LOOK_STEPS;
}

static uint64_t frame_time(const struct pacing *pacing,
			   const struct segment_costs *costs)
{
	return costs->written * pacing->frame_per_page +
	       costs->touches * (FRAME_PER_TOUCH + pacing->host_per_page);
}

static uint64_t replay_time(const struct pacing *pacing,
			    const struct segment_costs *costs)
{
	return costs->time +
	       costs->touched * (REPLAY_PER_PAGE + pacing->host_per_page) +
	       costs->targets * REPLAY_PER_TARGET;
}

bool pacing_is_due(const struct pacing *pacing,
		   const struct segment_costs *costs)
{
	uint64_t steps_time = costs->steps * TIME_PER_STEP;
	uint64_t replay = replay_time(pacing, costs);
	uint64_t frame = frame_time(pacing, costs);

	if (pacing->fixed)
		return costs->steps >= pacing->fixed;
	if (pacing->is_child && !costs->number)
		return costs->steps >= CHILD_STEPS || costs->time >= CHILD_TIME;
	return replay >= SHORTEST &&
	       (double)steps_time * (double)replay >=
		       (double)frame * (double)FRAME_IS_FREE;
}

void pacing_learn(struct pacing *pacing, const struct segment_costs *costs,
		  uint64_t unlike)
{
	if (!costs->written)
		return;
	if (unlike > costs->written)
		unlike = costs->written;
	pacing->frame_per_page =
		FRAME_PER_PATCH + (FRAME_PER_WHOLE - FRAME_PER_PATCH) *
					  unlike / costs->written;
}
