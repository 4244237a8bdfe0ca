/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_back.c - running backwards: parts are looked through, the last one first */
#include "formats/error.h"
#include "replayer/replayer_internal.h"
#include "replayer/run_internal.h"

/*
 * What is not met in so many steps may be far away: others help.  To have them
 * costs as much as some millions.
 */
#define STEPS_ALONE (24u << 20)

/*
 * A breakpoint that was met so near may be met often, which takes half a
 * microsecond each time.  So next time a little is looked through before all
 * from the last start point on.
 */
#define STEPS_OFTEN (1u << 20)
#define STEPS_NEAR (16u << 10)

void replayer_get_help(struct replayer *rep, bool at_once)
{
	rep->helped_at_once = at_once;
}

static void begin_near(const struct search *search, const struct position *now,
		       struct position *first)
{
	if (search->until->break_count &&
	    now->time - first->time > STEPS_NEAR)
		*first = (struct position){ now->time - STEPS_NEAR, 0 };
}

/* From start point to start point, until something is found. */
static int go_back(struct search *search, struct failure *why)
{
	const struct replay_until *until = search->until;
	uint64_t looked = search->rep->helped_at_once ? STEPS_ALONE : 0;
	bool is_near = search->rep->meets_often;
	int rc = 0;

	while (!search->found.any &&
	       run_is_before(&until->to, &search->passed)) {
		struct position first, end = search->passed;
		bool may = false;

		/* Whoever is asked at breakpoints is to be asked in order. */
		if (looked >= STEPS_ALONE && !until->is_met &&
		    !search->rep->is_meant)
			return pool_search(search, why);
		rc = points_before(search->rep, &end, &first, why);
		if (rc)
			break;
		if (is_near)
			begin_near(search, &end, &first);
		is_near = false;
		if (run_is_before(&first, &until->to))
			first = until->to;
		rc = run_may_meet(search, &first, &may, why);
		if (!rc && may)
			rc = run_narrow(search, &first, &end, &may, why);
		if (!rc && may) {
			rc = run_part(search, &first, &end, why);
			looked += end.time - first.time;
		}
		search->has_end = true;
		if (rc || run_is_over(search))
			break;
		search->passed = first;
	}
	return rc;
}

int replayer_run_back(struct replayer *rep, const struct replay_until *until,
		      struct replay_stop *stop, struct failure *why)
{
	struct search search = {
		.rep = rep, .until = until, .for_last = true,
		.has_end = until->here, .side = rep->points.side,
	};
	const struct replay_stop *what = &run_at_position;
	struct position now, to = until->to;
	int rc = run_begin(rep, why);

	if (rc)
		return rc;
	now = position_now(rep);
	if (run_is_before(&now, &to))
		to = now;
	search.passed = now;
	rc = go_back(&search, why);
	rep->meets_often = until->break_count && search.found.any &&
			   now.time - search.found.before.time < STEPS_OFTEN;
	if (run_is_interrupted(&search, rc)) {
		run_end_interrupted(stop, &search.passed);
		return 0;
	}
	if (!rc && search.found.any) {
		what = &search.found.stop;
		to = search.found.before;
	}
	if (!rc)
		rc = replayer_seek(rep, &to, why);
	if (!rc)
		run_stand(rep, stop, what);
	return rc;
}
