/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pacing.h - when the next key frame is due
 *
 * Key frames cost what the pages cost that were written: a page that is stored
 * whole some 10 microseconds and 1.5 KB, one that is stored as a patch a tenth
 * of that; a step costs less than a nanosecond.  Segments must not be long
 * either: a question replays half of one on average, and fetches the pages
 * that it touches.
 *
 * Units:      steps are retired instructions.
 */
#ifndef CPREC_RECORDER_PACING_H
#define CPREC_RECORDER_PACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The time that a segment takes ends it after so many steps at the earliest. */
#define PACING_TIMED_STEPS UINT64_C(8000000)

struct pacing {
	uint64_t fixed;		/* steps of every segment; 0: as it is due */
	uint64_t per_page;	/* steps for a page written, if many are touched */
	uint64_t time_per_page;	/* ns, at least, for a page written */
	uint64_t look;		/* steps between looks */
};

/* What the segment has come to. */
struct segment_costs {
	uint64_t steps;
	size_t touched, written;	/* pages */
	uint32_t targets;	/* of jumps: vm_targets() */
	uint64_t time;		/* ns of a processor; 0: not asked for */
};

/* Segments of `fixed` steps, or, if that is 0, of what is good. */
void pacing_init(struct pacing *pacing, uint64_t fixed);

/* Steps between looks at whether it is due. */
uint64_t pacing_look_steps(const struct pacing *pacing);

bool pacing_is_due(const struct pacing *pacing,
		   const struct segment_costs *costs);

/* Of the pages that a segment of such costs wrote, so many were stored whole
 * because they had changed much. */
void pacing_learn(struct pacing *pacing, const struct segment_costs *costs,
		  uint64_t unlike);

#endif
