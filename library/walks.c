/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walks.c - a cursor's single steps */
#include "library/handles.h"

/* Which stream is the cursor's, without a replay if it has walked there. */
static int find_stream(struct cprec_cursor *cursor, uint32_t *stream,
		       struct failure *why)
{
	struct recording *recording = cursor->of->recording;

	if (cursor->some_thread)
		return recording_find_stream(recording, cursor->tid,
					     cursor->at.time, stream, why);
	return recording_running(recording, cursor->at.time, stream, why);
}

bool cursor_walked(const struct cprec_cursor *cursor, struct reg_file *out)
{
	const struct trail *trail = cursor->of->trail;
	uint32_t stream;

	return trail && !cursor->frame &&
	       !find_stream((struct cprec_cursor *)cursor, &stream, NULL) &&
	       trail_registers(trail, &cursor->at, stream, out);
}

static bool is_break(const struct cprec_walk *walk, uint64_t pc)
{
	for (size_t i = 0; i < walk->break_count; i++)
		if (walk->breaks[i] == pc)
			return true;
	return false;
}

static bool is_inside(const struct cprec_walk *walk, uint64_t pc)
{
	return walk->start <= pc && pc < walk->end;
}

/*
 * Where it stops; `last` is where it got to, and whether others have executed
 * until then, or the program has printed.
 */
static int walk_on(struct cprec_cursor *cursor, const struct cprec_walk *walk,
		   uint32_t stream, struct trail_stop *last,
		   enum cprec_stop_kind *kind, struct failure *why)
{
	bool has_range = walk->start || walk->end;
	uint64_t count = 0;
	bool others = false, prints = false, is_end;

	if (walk->here && walk->signals && !walk->backwards) {
		int rc = trail_at(cursor->of->trail, &cursor->at, stream, last,
				  why);

		if (rc && rc != ERR_NOT_FOUND)
			return rc;
		if (!rc && last->signal) {
			*kind = CPREC_AT_SIGNAL;
			return 0;
		}
	}
	*kind = CPREC_AT_POSITION;
	for (last->at = cursor->at;;) {
		const struct position from = last->at;
		int rc = walk->backwards ?
				 trail_previous(cursor->of->trail, &from,
						stream, last, why) :
				 trail_next(cursor->of->trail, &from, stream,
					    last, why);

		if (rc)
			return rc;
		count++;
		last->others = others |= last->others;
		last->prints = prints |= last->prints;
		is_end = count == walk->count ||
			 (has_range && !is_inside(walk, last->pc));
		if (walk->signals && last->signal &&
		    (walk->backwards || !is_end)) {
			*kind = CPREC_AT_SIGNAL;
			return 0;
		}
		if (is_break(walk, last->pc)) {
			*kind = CPREC_AT_BREAK;
			return 0;
		}
		if (is_end)
			return 0;
		rc = query_is_wanted(cursor->of->query, why);
		if (rc)
			return rc;
	}
}

PUBLIC int cprec_cursor_walk(struct cprec_cursor *cursor,
			     const struct cprec_walk *walk,
			     const struct cprec_stop **out,
			     struct cprec_failure *why)
{
	struct cprec_recording *handle = cursor->of;
	struct cprec_walk asked;
	struct trail_stop last;
	enum cprec_stop_kind kind;
	uint32_t stream;
	int rc = question_begin(handle, true, why);

	if (!rc)
		rc = QUESTION_TAKE(&asked, walk, why);
	if (!rc && !asked.count && !asked.start && !asked.end)
		rc = failed(inner(why), ERR_INPUT, "the walk has no end");
	if (!rc && !handle->trail)
		rc = trail_create(&handle->trail, handle->query, inner(why));
	if (!rc)
		rc = find_stream(cursor, &stream, inner(why));
	if (!rc)
		rc = walk_on(cursor, &asked, stream, &last, &kind, inner(why));
	if (rc)
		return rc;
	cursor->at = last.at;
	cursor->frame = 0;
	cursor->stop = (struct cprec_stop) {
		.kind = kind, .at = from_position(last.at), .pc = last.pc,
		.signal = last.signal, .others = last.others,
		.prints = last.prints,
	};
	*out = &cursor->stop;
	return tid_of(handle, stream, last.at.time, &cursor->stop.tid,
		      inner(why));
}
