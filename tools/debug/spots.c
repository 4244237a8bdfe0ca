/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spots.c - where a thread stands: its code, its frame, who called it */
#include <string.h>

#include "tools/debug/session.h"

/* ------- the next instruction ------- */

static int on_register(void *context, const struct cprec_register *reg)
{
	static const char *const names[] = { "rip", "eip", "pc" };
	uint64_t *pc = context;
	size_t i = 0;

	while (i < sizeof(names) / sizeof(*names) &&
	       strcmp(reg->name, names[i]) != 0)
		i++;
	if (i == sizeof(names) / sizeof(*names))
		return 0;
	*pc = reg->value;
	return 1;
}

int find_pc(struct cprec_cursor *cursor, uint64_t *out,
	    struct cprec_failure *why)
{
	int rc;

	*out = 0;
	rc = cprec_each_register(cursor, on_register, out, why);
	return rc < 0 ? rc : 0;
}

/* ------- its code ------- */

static int on_inlined(void *context, const struct cprec_inlined *one)
{
	struct spot *spot = context;
	unsigned at = spot->inlined_count++;

	spot->inlined[at].start = one->start;
	spot->inlined[at].file = one->file;
	spot->inlined[at].line = one->line;
	if (one->begins && spot->beginning == at)
		spot->beginning++;
	return spot->inlined_count == INLINED_MOST;
}

int spot_find(struct session *session, struct spot *out,
	      struct cprec_failure *why)
{
	struct cprec_cursor *cursor = session->cursor;
	const struct cprec_line *line;
	int rc;

	*out = (struct spot){ 0 };
	if (session->frame + session->hidden)
		rc = cprec_cursor_frame(cursor, 0, why);
	else
		rc = 0;
	if (!rc)
		rc = find_pc(cursor, &out->pc, why);
	if (!rc)
		rc = cprec_find_line(cursor, out->pc, &line, why);
	if (rc)
		return rc;
	out->line = *line;
	rc = cprec_each_inlined(cursor, out->pc, on_inlined, out, why);
	return rc < 0 ? rc : 0;
}

/* ------- its frame ------- */

int frame_find(struct session *session, const struct spot *spot,
	       struct frame_id *out, struct cprec_failure *why)
{
	int rc;

	*out = (struct frame_id){ .function = spot->line.function };
	rc = cprec_find_base(session->cursor, &out->base, why);
	if (rc == CPREC_NOT_FOUND)
		rc = 0;
	frame_hide(out, spot, 0);
	return rc;
}

void frame_hide(struct frame_id *frame, const struct spot *spot,
		unsigned hidden)
{
	frame->depth = spot->inlined_count - hidden;
	frame->inlined = frame->depth ? spot->inlined[hidden].start : 0;
}

bool frame_is_stack(const struct frame_id *one, const struct frame_id *other)
{
	return one->base == other->base &&
	       (one->base || one->function == other->function);
}

bool frame_is(const struct frame_id *one, const struct frame_id *other)
{
	return frame_is_stack(one, other) && one->depth == other->depth &&
	       one->inlined == other->inlined;
}

/* ------- who called it ------- */

struct callers {
	struct caller *out;
	uint64_t first;		/* whose caller is looked for */
	unsigned number;	/* of frames, without those inlined */
	bool was_inlined;
	uint64_t code;
};

static int on_frame(void *context, const struct cprec_frame *frame)
{
	struct callers *callers = context;
	struct caller *out = callers->out;

	/* Nothing returns to a function that jumped. */
	if (frame->number < callers->first ||
	    (callers->number && frame->is_tail_call))
		return 0;
	if (callers->was_inlined) {
		callers->was_inlined = frame->is_inlined;
		return 0;
	}
	callers->was_inlined = frame->is_inlined;
	switch (callers->number++) {
	case 0:
		out->is_signal = frame->is_signal;
		return 0;
	case 1:
		out->is_known = true;
		out->pc = frame->pc;
		callers->code = frame->code;
		return 0;
	default:
		out->frame.base = frame->sp;
		return 1;
	}
}

int caller_find(struct session *session, uint64_t number, struct caller *out,
		struct cprec_failure *why)
{
	struct callers callers = { .out = out, .first = number };
	const struct cprec_line *line;
	int rc;

	*out = (struct caller){ 0 };
	rc = cprec_each_frame(session->cursor, on_frame, &callers, NULL, why);
	if (rc < 0 || !out->is_known)
		return rc < 0 ? rc : 0;
	rc = cprec_find_line(session->cursor, callers.code, &line, why);
	if (!rc)
		out->frame.function = line->function;
	return rc;
}

int session_select(struct session *session, uint32_t tid, uint64_t frame,
		   struct cprec_failure *why)
{
	int rc = cprec_cursor_thread(session->cursor, tid, why);

	if (!rc && frame + session->hidden)
		rc = cprec_cursor_frame(session->cursor,
					frame + session->hidden, why);
	if (rc)
		return rc;
	session->tid = tid;
	session->frame = frame;
	return 0;
}

struct hiding {
	struct session *session;
	uint64_t pc;
	unsigned count;		/* looked at */
	bool is_meant;		/* by a breakpoint: so far they are hidden */
};

static bool is_meant(const struct hiding *hiding, const char *function)
{
	for (size_t i = 0; i < hiding->session->point_count; i++) {
		const struct point *point = hiding->session->points[i];

		if (point_has(point, hiding->pc) &&
		    (!point->is_function ||
		     (function && point_means(point, function))))
			return true;
	}
	return false;
}

static int on_beginning(void *context, const struct cprec_inlined *one)
{
	struct hiding *hiding = context;

	hiding->is_meant = one->begins && is_meant(hiding, one->function);
	if (!hiding->is_meant && one->begins)
		hiding->count++;
	return hiding->is_meant || !one->begins;
}

int session_hide(struct session *session, struct cprec_failure *why)
{
	struct hiding hiding = { .session = session };
	struct spot spot;
	int rc;

	session->hidden = 0;
	rc = spot_find(session, &spot, why);
	hiding.pc = spot.pc;
	if (!rc && spot.beginning)
		rc = cprec_each_inlined(session->cursor, spot.pc, on_beginning,
					&hiding, why);
	if (rc < 0)
		return rc;
	session->hidden = hiding.count;
	return session_select(session, session->tid, 0, why);
}
