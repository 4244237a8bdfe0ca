/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pacing.h - when the next key frame is due
 *
 * Each key frame stores the pages written since the one before, so short
 * segments make recording slow and recordings large.  Measured: a page stored
 * whole costs some 10 microseconds and 1.5 KB, one stored as a patch a tenth of
 * that; a step costs less than a nanosecond.  Long segments make questions
 * slow: one replays half a segment on average, and fetches the pages that it
 * touches.
 *
 * Units:      steps are retired instructions.
 */
#ifndef CPREC_RECORDER_PACING_H
#define CPREC_RECORDER_PACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A segment has at least this many steps before the time it takes may end it.
 * Below, the processor's clock is not even read.  A choice: an eighth of the
 * longest segment.
 */
#define PACING_TIMED_STEPS UINT64_C(8000000)

struct pacing {
	uint64_t fixed;		/* steps of every segment; 0: pacing decides */
	uint64_t per_page;	/* least steps for each page written, if many
				   are touched */
	uint64_t time_per_page;	/* least ns of the segment for each of them */
	uint64_t look;		/* steps between calls of pacing_is_due() */
	bool is_child;		/* whose first segment is long */
};

/* What the segment has come to. */
struct segment_costs {
	uint64_t number;	/* of the segment; the first is 0 */
	uint64_t steps;
	size_t touched, written;	/* pages */
	uint32_t targets;	/* of jumps: vm_targets() */
	uint64_t time;		/* ns of a processor; 0: not asked for */
};

/* Segments of `fixed` steps each; 0: pacing decides. */
void pacing_init(struct pacing *pacing, uint64_t fixed);

/* From here on, the process is a child of the one that was paced before. */
void pacing_begin_child(struct pacing *pacing);

/* How many steps may pass until pacing_is_due() is asked next. */
uint64_t pacing_look_steps(const struct pacing *pacing);

/* Whether the segment should end here. */
bool pacing_is_due(const struct pacing *pacing,
		   const struct segment_costs *costs);

/*
 * A segment has ended.  Of the pages that it wrote, `unlike` had changed too
 * much for a patch and were stored whole: the next segments are paced by that.
 */
void pacing_learn(struct pacing *pacing, const struct segment_costs *costs,
		  uint64_t unlike);

#endif
