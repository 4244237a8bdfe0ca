/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines.c - what steps by lines ask: lines' code, inlined functions, frames */
#include "library/handles.h"

#include <stdlib.h>
#include <string.h>

/* ------- lines ------- */

/* Where a step into the function stops that begins there. */
static int find_body(struct cprec_cursor *cursor, uint64_t entry,
		     uint64_t *out, struct failure *why)
{
	uint8_t bytes[CODE_ENTRY_BYTES], known[sizeof(bytes)];
	struct query_answer answer;
	struct lines *lines = cursor->of->lines;
	int rc = query_memory(cursor->of->query, entry, &cursor->at, bytes,
			      known, sizeof(bytes), &answer, why);

	*out = entry;
	/* No code that is looked for has a 0 where other code ends. */
	for (size_t i = 0; i < sizeof(bytes) && !rc; i++)
		bytes[i] = known[i] ? bytes[i] : 0;
	if (!rc)
		*out = code_step_place(lines, cursor->at.time, entry, bytes);
	return rc;
}

/* By debugging information, or else by symbols. */
static void find_function(struct cprec_cursor *cursor, uint64_t addr,
			  struct cprec_line *out)
{
	struct lines *lines = cursor->of->lines;
	uint64_t t = cursor->at.time;

	if (!code_function_part(lines, t, addr, &out->function,
				&out->function_end) &&
	    !code_function(lines, t, addr, &out->function,
			   &out->function_end))
		out->function = out->function_end = 0;
}

PUBLIC int cprec_find_line(struct cprec_cursor *cursor, uint64_t addr,
			   const struct cprec_line **out,
			   struct cprec_failure *why)
{
	struct cprec_line *line = &cursor->line;
	struct code_row row = { 0 };
	uint64_t t = cursor->at.time;
	int rc = question_begin(cursor->of, true, why);

	if (rc)
		return rc;
	lines_row(cursor->of->lines, t, addr, &row);
	*line = (struct cprec_line) {
		.start = row.start, .end = row.end, .first = row.first,
		.file = row.file, .line = row.line,
		.is_statement = row.is_statement,
		.is_linker = code_is_linker(cursor->of->lines, t, addr),
		.is_resolver = code_is_resolver(cursor->of->lines, t, addr),
	};
	find_function(cursor, addr, line);
	line->body = line->function;
	if (line->function && line->function == addr)
		rc = find_body(cursor, addr, &line->body, inner(why));
	*out = line;
	return rc;
}

/* ------- inlined functions ------- */

struct inline_visits {
	struct visits visits;
	int (*visit)(void *context, const struct cprec_inlined *one);
};

static int tell_inline(void *context, const struct code_inline *one)
{
	struct inline_visits *visits = context;
	const struct cprec_inlined out = {
		.start = one->start, .begins = one->begins,
		.function = one->called.function, .file = one->called.file,
		.line = one->called.line,
	};

	return visits_told(&visits->visits,
			   visits->visit(visits->visits.context, &out));
}

PUBLIC int cprec_each_inlined(struct cprec_cursor *cursor, uint64_t addr,
			      int (*visit)(void *context,
					   const struct cprec_inlined *one),
			      void *context, struct cprec_failure *why)
{
	struct inline_visits visits = {
		{ .of = cursor->of, .context = context }, visit,
	};
	int rc = question_begin(cursor->of, true, why);

	if (rc)
		return rc;
	cursor->of->runs = true;
	rc = code_each_inline(cursor->of->lines, cursor->at.time, addr,
			      tell_inline, &visits);
	cursor->of->runs = false;
	return visits_result(&visits.visits, rc);
}

/* ------- frames ------- */

/* By what tables say of the code, without a look at memory. */
static bool find_base(struct cprec_cursor *cursor, uint64_t *out,
		      struct cprec_failure *why)
{
	const struct reg_table *table =
		recording_reg_table(cursor->of->recording);
	struct frame_registers found = { 0 };
	unsigned reg;
	uint64_t offset;

	if (cursor->frame ||
	    cursor_registers(cursor, &found, why) ||
	    !lines_frame(cursor->of->lines, cursor->at.time,
			 reg_get(table, &found.file, table->pc), &reg,
			 &offset) ||
	    reg >= table->dwarf_count)
		return false;
	*out = reg_get(table, &found.file, table->dwarf[reg]) + offset;
	return true;
}

struct caller {
	uint64_t frame;		/* whose caller is looked for */
	bool was_inlined;	/* the one before, into this one */
	bool found;
	uint64_t sp;
};

/* The first one behind it that is not the same one, for the processor. */
static int on_frame(void *context, const struct cprec_frame *frame)
{
	struct caller *caller = context;

	if (frame->number > caller->frame && !caller->was_inlined &&
	    !frame->is_tail_call) {
		caller->found = true;
		caller->sp = frame->sp;
		return 1;
	}
	caller->was_inlined = frame->is_inlined;
	return 0;
}

PUBLIC int cprec_find_base(struct cprec_cursor *cursor, uint64_t *out,
			   struct cprec_failure *why)
{
	struct caller caller = { .frame = cursor->frame };
	int rc = question_begin(cursor->of, true, why);

	if (rc || find_base(cursor, out, why))
		return rc;
	rc = cprec_each_frame(cursor, on_frame, &caller, NULL, why);
	if (rc < 0)
		return rc;
	*out = caller.sp;
	return caller.found ? 0 : failed(inner(why), ERR_NOT_FOUND,
					 "nobody called this frame");
}
