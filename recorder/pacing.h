/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pacing.h - when the next key frame is due
 *
 * Each key frame stores the pages written since the one before, and closes all
 * pages, so short segments make recording slow and recordings large.  Long ones
 * make questions slow: one replays half a segment on average, and fetches the
 * pages that it touches.  So both are estimated as times, and compared.
 *
 * Units:      steps are retired instructions.
 */
#ifndef CPREC_RECORDER_PACING_H
#define CPREC_RECORDER_PACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Below so many steps, the processor's clock need not be read: a choice. */
#define PACING_TIMED_STEPS UINT64_C(500000)

struct pacing {
	uint64_t fixed;		/* steps of every segment; 0: pacing decides */
	uint64_t frame_per_page; /* ns that a key frame takes for a page that
				   was written */
	uint64_t host_per_page;	/* ns that the host takes to close a page and
				   open it again, or to fill it in */
	bool is_child;		/* whose first segment is long */
};

/* What the segment has come to. */
struct segment_costs {
	uint64_t number;	/* of the segment; the first is 0 */
	uint64_t steps;
	size_t touched, written;	/* pages */
	uint64_t touches;	/* faults by which they were: fewer, where
				   neighbours were opened along */
	uint32_t targets;	/* of jumps: vm_targets() */
	uint64_t time;		/* ns of a processor; 0: few steps */
};

/*
 * Segments of `fixed` steps each; 0: pacing decides, on a host that takes so
 * many ns for a fault (memory_fault_cost()).
 */
void pacing_init(struct pacing *pacing, uint64_t fixed, uint64_t fault_cost);

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
