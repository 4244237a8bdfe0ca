/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spaces.c - see spaces.h */
#include "replayer/session/spaces.h"

#include "formats/error.h"
#include "replayer/session/query_internal.h"

/*
 * Executes all from a segment's key frame to a position in it; `*found`: the
 * space was used meanwhile.
 */
static int search_segment(struct query *query, size_t segment,
			  const struct position *to, bool *found,
			  uint64_t *table, struct failure *why)
{
	struct replayer *replayer = query->replayer;
	const struct recording *recording = query->recording;
	const struct position start = { recording_time(recording, segment), 0 };
	int rc;

	if (position_compare(to, &start) <= 0)
		return 0;
	rc = replayer_seek(replayer, &start, why);
	replayer_in_order(replayer, true);
	if (!rc)
		rc = replayer_seek(replayer, to, why);
	replayer_in_order(replayer, false);
	*found = !rc && replayer_found_space(replayer, table);
	return rc;
}

static int search(struct query *query, const struct position *at, bool *found,
		  uint64_t *table, struct failure *why)
{
	const struct recording *recording = query->recording;
	size_t segment = recording_segment_at(recording, at->time) + 1;
	struct position to = *at;
	int rc = 0;

	while (segment-- && !rc && !*found) {
		rc = search_segment(query, segment, &to, found, table, why);
		to = (struct position){ recording_time(recording, segment), 0 };
	}
	return rc;
}

static bool has_spaces(const struct recording *recording)
{
	return recording_reg_table(recording)->arch == ARCH_AARCH64_MACHINE;
}

int space_find(struct query *query, const struct position *at, unsigned number,
	       struct address_space *out, struct failure *why)
{
	struct replayer *replayer;
	bool found = false;
	int rc = query_replayer(query, &replayer, why);

	if (!rc && !has_spaces(query->recording))
		return failed(why, ERR_INPUT, "this machine's processor has no"
			      " address spaces");
	if (!rc)
		rc = replayer_seek(replayer, at, why);
	if (rc)
		return rc;
	*out = (struct address_space){ .has_table = true };
	replayer_look_for_space(replayer, number);
	found = replayer_found_space(replayer, &out->table);
	if (!found)
		rc = search(query, at, &found, &out->table, why);
	replayer_look_for_space(replayer, REPLAYER_NO_SPACE);
	if (rc || found)
		return rc;
	return failed(why, ERR_INPUT, "no program was executed in an address"
		      " space %u until then", number);
}
