/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steps.c - steps by instructions and lines, in both directions
 *
 * A step goes on, instruction by instruction or as long as it stays in a line,
 * until it has come to another line.  What is called on the way, and is not to be
 * entered, is run through.
 *
 * Source: what gdb 16 does at each stop, in the same order (infrun.c, infcmd.c).
 * Older ones differ backwards, in lines that have several parts.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/debug/session.h"

struct stepping {
	struct session *session;
	const struct step_kind *kind;
	uint64_t start, end;	/* as long as it stays there */
	struct frame_id frame;	/* that it is in */
	const char *file;	/* that it leaves */
	uint32_t line;
	struct resume_break resume;	/* what runs until there */
	bool from_signal;	/* ... does not end in another place */
	bool in_linker;		/* it began there */
};

/* What is seen of a place between two steps. */
struct look {
	struct spot spot;
	unsigned hidden;
	struct frame_id frame;
	struct caller caller;
};

static bool is_inside(const struct stepping *stepping, uint64_t pc)
{
	return stepping->start <= pc && pc < stepping->end;
}

/* Lines, not over calls: functions that have lines are entered. */
static bool enters(const struct stepping *stepping)
{
	return !stepping->kind->over_calls && !stepping->kind->one;
}

/* An instruction is one, wherever it leads. */
static bool stops_at_once(const struct step_kind *kind)
{
	return kind->one && !kind->over_calls && !kind->out;
}

static bool is_same_line(const struct stepping *stepping, const char *file,
			 uint32_t line)
{
	return line == stepping->line && file && stepping->file &&
	       !strcmp(file, stepping->file);
}

static void run_to_caller(struct stepping *stepping, const struct look *look)
{
	stepping->resume = (struct resume_break) {
		.is_set = true, .pc = look->caller.pc,
		.base = look->caller.frame.base,
	};
}

static void run_to(struct stepping *stepping, uint64_t pc, uint64_t base)
{
	stepping->resume = (struct resume_break) {
		.is_set = true, .pc = pc, .base = base,
	};
}

/* The dynamic linker is no place to stop at, unless the step began there. */
static bool passes_linker(const struct stepping *stepping,
			  const struct look *look)
{
	return look->spot.line.is_linker && !stepping->in_linker;
}

/* ------- into and over functions ------- */

/* It has lines: its first one. */
static bool into_function(struct stepping *stepping, const struct look *look,
			  const struct cprec_line *entry)
{
	const struct spot *spot = &look->spot;

	if (stepping->kind->backwards) {
		stepping->start = spot->line.start;
		stepping->end = spot->line.end;
		return spot->line.start == spot->pc;
	}
	if (entry->body == spot->pc)
		return true;
	run_to(stepping, entry->body, 0);
	stepping->start = stepping->end = spot->pc;
	return false;
}

/* To where it was called, or goes on. */
static void over_function(struct stepping *stepping, const struct look *look)
{
	uint64_t function = look->spot.line.function;

	if (!stepping->kind->backwards)
		run_to_caller(stepping, look);
	/* Where it begins is not known: one by one, then. */
	else if (function && function != look->spot.pc)
		run_to(stepping, function, look->frame.base);
}

static int meet_function(struct stepping *stepping, const struct look *look,
			 bool *done, struct cprec_failure *why)
{
	const struct cprec_line *found;
	struct cprec_line entry;
	int rc;

	if (stops_at_once(stepping->kind)) {
		*done = true;
		return 0;
	}
	if (stepping->kind->backwards && passes_linker(stepping, look))
		return 0;
	if (stepping->kind->over_calls || !look->spot.line.function) {
		over_function(stepping, look);
		return 0;
	}
	rc = cprec_find_line(stepping->session->cursor,
			     look->spot.line.function, &found, why);
	if (rc)
		return rc;
	entry = *found;
	if (entry.line)
		*done = into_function(stepping, look, &entry);
	else
		over_function(stepping, look);
	return 0;
}

/* ------- inlined functions ------- */

/* Whether it is in what was inlined into the frame that is stepped. */
static bool is_in_inlined(const struct stepping *stepping,
			  const struct look *look)
{
	const struct frame_id *outer = &stepping->frame;
	const struct spot *spot = &look->spot;
	unsigned at;

	if (!frame_is_stack(&look->frame, outer) ||
	    outer->depth >= look->frame.depth)
		return false;
	at = spot->inlined_count - outer->depth;
	return !outer->depth || spot->inlined[at].start == outer->inlined;
}

/* `*known`: that says whether it is done. */
static bool meet_inlined(struct stepping *stepping, struct look *look,
			 bool *known)
{
	const struct spot *spot = &look->spot;
	bool same;

	*known = true;
	if (frame_is(&look->frame, &stepping->frame) && look->hidden) {
		unsigned outer = look->hidden - 1;

		same = is_same_line(stepping, spot->inlined[outer].file,
				    spot->inlined[outer].line);
		if (stepping->kind->over_calls)
			return !same;
		look->hidden -= same;
		return true;
	}
	if (is_in_inlined(stepping, look))
		return !stepping->kind->over_calls;
	*known = false;
	return false;
}

/* ------- lines ------- */

static void leave_line(struct stepping *stepping, const struct look *look,
		       uint32_t line)
{
	stepping->frame = look->frame;
	stepping->file = look->spot.line.file;
	stepping->line = line;
}

/* Another line begins: back to where that line begins, too. */
static bool meet_line(struct stepping *stepping, const struct look *look)
{
	const struct cprec_line *line = &look->spot.line;

	if (!stepping->kind->backwards || look->spot.pc == line->first)
		return true;
	stepping->start = line->first;
	stepping->end = look->spot.pc;
	leave_line(stepping, look, line->line);
	return false;
}

/* Going back, it has left a call of the function that it is in. */
static bool is_recursion(const struct stepping *stepping,
			 const struct look *look)
{
	const struct frame_id *one = &look->frame, *other = &stepping->frame;
	uint64_t here = one->depth ? one->inlined : one->function;
	uint64_t there = other->depth ? other->inlined : other->function;

	return stepping->kind->backwards && !frame_is(one, other) &&
	       here == there;
}

static bool judge_line(struct stepping *stepping, const struct look *look)
{
	const struct cprec_line *line = &look->spot.line;
	uint32_t number = line->line;
	bool leaves = true;

	if (look->spot.pc == line->start &&
	    !is_same_line(stepping, line->file, line->line)) {
		if (line->is_statement)
			return meet_line(stepping, look);
		if (frame_is(&look->frame, &stepping->frame))
			leaves = false;
		else
			number = 0;
	}
	stepping->start = line->start;
	stepping->end = line->end;
	if (leaves && !is_recursion(stepping, look))
		leave_line(stepping, look, number);
	if (stepping->kind->backwards && look->spot.pc != line->start)
		stepping->start = line->first;
	return false;
}

/* ------- what to do where it is ------- */

/* Still in the line, as far as that is clear. */
static int judge_range(struct stepping *stepping, const struct look *look,
		       bool *known, bool *done)
{
	uint64_t pc = look->spot.pc;

	*known = is_inside(stepping, pc) &&
		 (!stepping->kind->backwards ||
		  frame_is(&look->frame, &stepping->frame));
	*done = *known && stepping->kind->backwards && pc == stepping->start &&
		pc != look->spot.line.function;
	return 0;
}

/* In another frame. */
static int judge_frame(struct stepping *stepping, struct look *look,
		       bool *known, bool *done, struct cprec_failure *why)
{
	int rc = caller_find(stepping->session, 0, &look->caller, why);

	*known = true;
	if (rc || (!stepping->kind->one && look->caller.is_signal))
		return rc;
	*known = look->caller.is_known && !stepping->kind->out &&
		 frame_is_stack(&look->caller.frame, &stepping->frame);
	return *known ? meet_function(stepping, look, done, why) : 0;
}

/* Whether the dynamic linker has called it to choose a function. */
static int chooses(const struct stepping *stepping, const struct look *look,
		   bool *out, struct cprec_failure *why)
{
	const struct cprec_line *line;
	int rc;

	*out = false;
	if (!look->spot.line.is_resolver || !look->caller.is_known ||
	    stepping->in_linker)
		return 0;
	rc = cprec_find_line(stepping->session->cursor, look->caller.pc, &line,
			     why);
	*out = !rc && line->is_linker;
	return rc;
}

/* Neither in the line nor in what was called from there. */
static int judge_other(struct stepping *stepping, struct look *look,
		       bool *done, struct cprec_failure *why)
{
	const struct cprec_line *line = &look->spot.line;
	bool known, passes = passes_linker(stepping, look);
	int rc = 0;

	if (stepping->kind->backwards && !stops_at_once(stepping->kind)) {
		if (!passes)
			rc = chooses(stepping, look, &passes, why);
		if (rc || passes)
			return rc;
	}
	if (enters(stepping) && !line->function && !line->line &&
	    look->caller.is_known && !stepping->kind->backwards) {
		run_to_caller(stepping, look);
		return 0;
	}
	*done = stepping->kind->one || !line->line;
	if (*done)
		return 0;
	*done = meet_inlined(stepping, look, &known);
	if (!known)
		*done = judge_line(stepping, look);
	return 0;
}

/* A step in an inlined function that comes to where that begins has entered it
 * before. */
static unsigned entered_before(const struct stepping *stepping,
			       const struct look *look)
{
	const struct frame_id *frame = &stepping->frame;
	const struct spot *spot = &look->spot;
	unsigned hidden = look->hidden, depth = spot->inlined_count;

	if (!hidden || !frame->depth || frame->depth > depth ||
	    !frame_is_stack(&look->frame, frame) ||
	    spot->inlined[depth - frame->depth].start != frame->inlined ||
	    depth - frame->depth >= hidden)
		return hidden;
	return 0;
}

static int look_around(struct stepping *stepping, struct look *look,
		       struct cprec_failure *why)
{
	int rc = spot_find(stepping->session, &look->spot, why);

	if (rc)
		return rc;
	look->hidden = stepping->kind->one ? 0 : look->spot.beginning;
	/* Going on in a line, nobody asks which frame that is. */
	if (!stepping->kind->backwards &&
	    is_inside(stepping, look->spot.pc))
		return 0;
	rc = frame_find(stepping->session, &look->spot, &look->frame, why);
	look->hidden = entered_before(stepping, look);
	frame_hide(&look->frame, &look->spot, look->hidden);
	return rc;
}

static int judge(struct stepping *stepping, bool *done,
		 struct cprec_failure *why)
{
	struct session *session = stepping->session;
	struct look look = { 0 };
	bool known;
	int rc = look_around(stepping, &look, why);

	if (!rc)
		rc = judge_range(stepping, &look, &known, done);
	if (rc || known)
		goto end;
	if (enters(stepping) && !stepping->kind->backwards &&
	    (passes_linker(stepping, &look) || look.spot.line.is_resolver))
		goto end;
	if (!frame_is_stack(&look.frame, &stepping->frame))
		rc = judge_frame(stepping, &look, &known, done, why);
	if (!rc && !known)
		rc = judge_other(stepping, &look, done, why);
end:
	if (!rc && *done)
		session->hidden = look.hidden;
	return rc;
}

/* ------- going on ------- */

/* A signal that stops nobody: its handler is run through. */
static int pass_signal(struct stepping *stepping, struct cprec_failure *why)
{
	struct look look = { 0 };
	int rc = spot_find(stepping->session, &look.spot, why);

	if (!rc)
		rc = frame_find(stepping->session, &look.spot, &look.frame,
				why);
	if (rc || stepping->kind->backwards ||
	    !frame_is_stack(&look.frame, &stepping->frame))
		return rc;
	run_to(stepping, look.spot.pc, look.frame.base);
	stepping->from_signal = true;
	return 0;
}

/* `*goes_on`: it need not be looked at where it is. */
static int run_through(struct stepping *stepping, struct stop *stop,
		       bool *goes_on, bool *done, struct cprec_failure *why)
{
	struct session *session = stepping->session;
	const struct cprec_line *line;
	struct resume_break own = stepping->resume;
	bool reached;
	int rc = run_until(session, stepping->kind->backwards, &own, stop,
			   &reached, why);

	*done = !rc && (!reached || stop->kind != STOP_STEPPED);
	stepping->resume.is_set = false;
	*goes_on = stepping->from_signal;
	stepping->from_signal = false;
	if (rc || *done || *goes_on || !stepping->kind->backwards)
		return rc;
	rc = cprec_find_line(session->cursor, own.pc, &line, why);
	*goes_on = !rc && line->function == own.pc;
	return rc;
}

static int walk_through(struct stepping *stepping, struct stop *stop,
			bool *goes_on, bool *done, struct cprec_failure *why)
{
	bool backwards = stepping->kind->backwards;
	int rc = walk_on(stepping->session, backwards,
			 backwards ? 0 : stepping->start,
			 backwards ? 0 : stepping->end, stop, done, why);

	*goes_on = !rc && stepping->session->at_signal;
	return *goes_on && !*done ? pass_signal(stepping, why) : rc;
}

static int go(struct stepping *stepping, struct stop *stop,
	      struct cprec_failure *why)
{
	bool done = false, goes_on;
	int rc = 0;

	while (!rc && !done) {
		if (stepping->resume.is_set)
			rc = run_through(stepping, stop, &goes_on, &done, why);
		else
			rc = walk_through(stepping, stop, &goes_on, &done,
					  why);
		if (rc || done)
			return rc ? rc : session_hide(stepping->session, why);
		if (!goes_on)
			rc = judge(stepping, &done, why);
	}
	stop->kind = STOP_STEPPED;
	return rc ? rc : session_select(stepping->session,
					stepping->session->tid, 0, why);
}

/* ------- beginning ------- */

/* Without lines, it goes on until it leaves the function. */
static int begin_range(struct stepping *stepping, const struct spot *spot,
		       struct cprec_failure *why)
{
	const struct cprec_line *line = &spot->line;

	if (stepping->kind->one)
		return 0;
	if (!line->end && !line->function)
		return wrong(why, "it is not known where the function begins"
			     " and ends that this is in");
	stepping->start = line->end ? line->start : line->function;
	stepping->end = line->end ? line->end : line->function_end;
	if (stepping->kind->until && line->end && line->function)
		stepping->start = line->function;
	/* Back from the middle of a line is to the line before, as gdb has
	 * it since 14: so its own beginning is no place to stop. */
	if (stepping->kind->backwards && line->end)
		stepping->start--;
	return 0;
}

int step_once(struct session *session, const struct step_kind *kind,
	      struct stop *stop, struct cprec_failure *why)
{
	struct stepping stepping = { .session = session, .kind = kind };
	unsigned hidden = session->hidden;
	struct spot spot;
	int rc;

	*stop = (struct stop){ .kind = STOP_STEPPED };
	if (enters(&stepping) && hidden) {
		session->hidden--;
		return session_select(session, session->tid, 0, why);
	}
	rc = spot_find(session, &spot, why);
	session->hidden = 0;
	session->frame = 0;
	if (!rc)
		rc = frame_find(session, &spot, &stepping.frame, why);
	if (!rc)
		rc = begin_range(&stepping, &spot, why);
	if (rc)
		return rc;
	frame_hide(&stepping.frame, &spot, hidden);
	stepping.file = hidden ? spot.inlined[hidden - 1].file :
				 spot.line.file;
	stepping.line = hidden ? spot.inlined[hidden - 1].line :
				 spot.line.line;
	stepping.in_linker = spot.line.is_linker;
	return go(&stepping, stop, why);
}

/* ------- leaving functions ------- */

/* Of one that is inlined: what is called by its caller is run through. */
static int step_out_inlined(struct session *session, const struct spot *spot,
			    struct stop *stop, struct cprec_failure *why)
{
	static const struct step_kind kind = { .over_calls = true };
	struct stepping stepping = {
		.session = session, .kind = &kind,
		.start = spot->pc, .end = spot->pc,
	};
	uint64_t out = session->hidden + session->frame + 1;
	int rc = frame_find(session, spot, &stepping.frame, why);

	frame_hide(&stepping.frame, spot, (unsigned)out);
	session->hidden = 0;
	session->frame = 0;
	return rc ? rc : go(&stepping, stop, why);
}

int step_out(struct session *session, struct stop *stop, bool *reached,
	     struct cprec_failure *why)
{
	uint64_t number = session->frame + session->hidden;
	struct resume_break own = { .is_set = true };
	struct caller caller;
	struct spot spot;
	int rc = spot_find(session, &spot, why);

	*reached = false;
	*stop = (struct stop){ .kind = STOP_STEPPED };
	if (!rc && number < spot.inlined_count)
		return step_out_inlined(session, &spot, stop, why);
	if (!rc)
		rc = caller_find(session, number, &caller, why);
	if (!rc && !caller.is_known)
		rc = wrong(why, "nobody called the outermost frame");
	if (rc)
		return rc;
	own.pc = caller.pc;
	own.base = caller.frame.base;
	rc = run_until(session, false, &own, stop, reached, why);
	return rc ? rc : session_hide(session, why);
}

int step_back_out(struct session *session, struct stop *stop,
		  struct cprec_failure *why)
{
	static const struct step_kind kind = {
		.backwards = true, .one = true, .out = true,
	};
	struct resume_break own = { .is_set = true };
	const struct cprec_line *line;
	uint64_t pc;
	bool reached = true;
	int rc = session_select(session, session->tid, session->frame, why);

	*stop = (struct stop){ .kind = STOP_STEPPED };
	if (!rc)
		rc = find_pc(session->cursor, &pc, why);
	/* Behind a call that does not return may be another function. */
	if (!rc)
		rc = cprec_find_line(session->cursor,
				     session->frame ? pc - 1 : pc, &line, why);
	if (!rc && !line->function)
		rc = wrong(why, "it is not known where the function begins"
			   " that this is in");
	if (rc)
		return rc;
	own.pc = line->function;
	rc = cprec_find_base(session->cursor, &own.base, why);
	if (rc == CPREC_NOT_FOUND)
		rc = 0;
	if (!rc && (session->frame || pc != own.pc))
		rc = run_until(session, true, &own, stop, &reached, why);
	if (rc || !reached || stop->kind == STOP_AT_POINT)
		return rc ? rc : session_hide(session, why);
	return step_once(session, &kind, stop, why);
}
