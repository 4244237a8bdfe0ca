/* SPDX-License-Identifier: GPL-2.0-or-later */
/* values.c - callers, variables and expressions at a cursor */
#include "library/handles.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ------- frames ------- */

/* What a walk visits, one after the other. */
struct frame_visits {
	struct visits visits;
	int (*visit)(void *context, const struct cprec_frame *frame);
	struct kept_place kept;
	uint64_t number;
};

static int tell_frame(void *context, const struct frame *frame)
{
	struct frame_visits *visits = context;
	struct kept_place *kept = &visits->kept;
	struct cprec_frame out = {
		.number = visits->number++, .pc = frame->pc, .sp = frame->sp,
		.code = frame->code, .is_sure = frame->is_sure,
		.is_signal = frame->is_signal,
		.is_inlined = frame->is_inlined,
		.is_tail_call = frame->is_tail_call, .place = &kept->place,
	};

	kept->line = frame->line;
	place_take(kept, frame->module);
	return visits_told(&visits->visits,
			   visits->visit(visits->visits.context, &out));
}

/* Memory where the cursor is: what was just replayed is kept. */
static bool read_memory(void *context, uint64_t addr, void *bytes, size_t size)
{
	struct cprec_cursor *cursor = context;
	uint8_t known[GUEST_READ_MOST];
	struct replayer *replayer;

	if (size > sizeof(known) || size - 1 > UINT64_MAX - addr)
		return false;
	return trail_read(cursor->of->trail, &cursor->at, addr, bytes, size) ||
	       (!query_replayer(cursor->of->query, &replayer, NULL) &&
		!replayer_seek(replayer, &cursor->at, NULL) &&
		!replayer_read(replayer, addr, bytes, known, size, NULL) &&
		!memchr(known, 0, size));
}

/* The same where the cursor has walked: most of it needs no replay. */
static int walk_here(struct cprec_cursor *cursor,
		     const struct reg_file *registers,
		     int (*visit)(void *context, const struct frame *frame),
		     void *context, enum frames_end *end)
{
	const struct reg_table *table =
		recording_reg_table(cursor->of->recording);
	const struct frame_walk walk = {
		.lines = cursor->of->lines, .t = cursor->at.time,
		.table = table,
		.memory = { read_memory, cursor, reg_word(table) },
		.visit = visit, .context = context,
	};

	cursor->of->runs = true;
	*end = frames_walk(&walk, registers);
	cursor->of->runs = false;
	return 0;
}

static int walk(struct cprec_cursor *cursor,
		int (*visit)(void *context, const struct frame *frame),
		void *context, enum frames_end *end, struct cprec_failure *why)
{
	struct reg_file registers;
	struct backtrace backtrace = {
		.lines = cursor->of->lines, .visit = visit, .context = context,
	};
	uint32_t tid;
	int rc = question_begin(cursor->of, true, why);
	bool is_here = !rc && !cursor->frame &&
		       cursor_walked(cursor, &registers);

	if (is_here)
		return walk_here(cursor, &registers, visit, context, end);
	if (!rc)
		rc = cursor_begin(cursor, &backtrace.replayer, why);
	if (!rc)
		rc = cursor_find_thread(cursor, &backtrace.stream, &tid,
					inner(why));
	if (rc)
		return rc;
	cursor->of->runs = true;
	rc = backtrace_walk(&backtrace, end, inner(why));
	cursor->of->runs = false;
	return rc;
}

PUBLIC int cprec_each_frame(struct cprec_cursor *cursor,
			    int (*visit)(void *context,
					 const struct cprec_frame *frame),
			    void *context, const char **end,
			    struct cprec_failure *why)
{
	struct frame_visits *visits = calloc(1, sizeof(*visits));
	enum frames_end ended;
	int rc;

	if (!visits)
		return failed(inner(why), ERR_NO_MEMORY, "out of memory");
	visits->visits.context = context;
	visits->visit = visit;
	rc = walk(cursor, tell_frame, visits, &ended, why);
	if (!rc && end)
		*end = frames_end_text(ended);
	rc = visits_result(&visits->visits, rc);
	free(visits);
	return rc;
}

/* ------- variables ------- */

struct variable_visits {
	struct visits visits;
	int (*visit)(void *context, const struct cprec_variable *variable);
	struct cprec_cursor *cursor;
	uint64_t left;		/* frames before it */
	bool is_there, is_known;
	int rc;
};

static int tell_variable(void *context, const struct variable *variable)
{
	struct variable_visits *visits = context;
	const struct cprec_variable out = {
		.name = variable->name, .type = variable->type,
		.value = variable->value, .entry = variable->entry,
		.is_argument = variable->is_argument,
		.is_scalar = variable->is_scalar,
		.brief = variable->brief,
	};

	return visits_told(&visits->visits,
			   visits->visit(visits->visits.context, &out));
}

static int on_frame(void *context, const struct frame *frame)
{
	struct variable_visits *visits = context;
	struct cprec_cursor *cursor = visits->cursor;
	const struct variables_question question = {
		.place = cursor_place(cursor), .frame = frame, .locals = true,
		.visit = tell_variable, .context = visits,
	};

	if (visits->left--)
		return 0;
	visits->is_there = true;
	visits->rc = expressions_variables(cursor->of->expressions, &question,
					   &visits->is_known,
					   visits->visits.why);
	return 1;
}

PUBLIC int
cprec_each_variable(struct cprec_cursor *cursor,
		    int (*visit)(void *context,
				 const struct cprec_variable *variable),
		    void *context, struct cprec_failure *why)
{
	struct variable_visits visits = {
		.visits = { .context = context, .why = inner(why) },
		.visit = visit, .cursor = cursor, .left = cursor->frame,
	};
	enum frames_end end;
	int rc = walk(cursor, on_frame, &visits, &end, why);

	if (!rc)
		rc = visits_result(&visits.visits, visits.rc);
	if (!rc && !visits.is_there)
		rc = failed(inner(why), ERR_NOT_FOUND, "there is no frame %"
			    PRIu64, cursor->frame);
	if (!rc && !visits.is_known)
		rc = failed(inner(why), ERR_NOT_FOUND, "no debugging"
			    " information tells of this frame");
	return rc;
}

/* ------- results ------- */

static int keep_returned(void *context, const struct call_value *value)
{
	struct cprec_cursor *cursor = context;

	cursor->returned_type = value->type ? strdup(value->type) : NULL;
	cursor->returned_value = strdup(value->value);
	if (!cursor->returned_value || (value->type && !cursor->returned_type))
		return ERR_NO_MEMORY;
	cursor->returned = (struct cprec_variable) {
		.type = cursor->returned_type,
		.value = cursor->returned_value,
	};
	return 0;
}

PUBLIC int cprec_find_returned(struct cprec_cursor *cursor, uint64_t function,
			       const struct cprec_variable **out,
			       struct cprec_failure *why)
{
	struct replayer *replayer;
	int rc = cursor_begin(cursor, &replayer, why);

	free(cursor->returned_type);
	free(cursor->returned_value);
	cursor->returned_type = cursor->returned_value = NULL;
	if (!rc)
		rc = expressions_returned(cursor->of->expressions, &cursor->at,
					  function, keep_returned, cursor,
					  inner(why));
	if (rc)
		return rc == ERR_NO_MEMORY ?
			       failed(inner(why), rc, "out of memory") : rc;
	*out = cursor->returned_value ? &cursor->returned : NULL;
	return 0;
}

/* ------- expressions ------- */

/* Of those that are in memory, the bytes are what that held. */
static int take_bytes(struct cprec_cursor *cursor, struct failure *why)
{
	const struct expression *found = &cursor->found;
	struct cprec_value *value = &cursor->value;
	struct query_answer answer;
	uint64_t length = found->size;
	int rc = 0;

	if (!length || length > CPREC_VALUE_MOST || found->is_code ||
	    (!found->has_addr && !found->bytes))
		return 0;
	cursor->value_bytes = calloc(1, length);
	cursor->value_known = calloc(1, length);
	if (!cursor->value_bytes || !cursor->value_known)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (found->has_addr) {
		rc = query_memory(cursor->of->query, found->addr, &cursor->at,
				  cursor->value_bytes, cursor->value_known,
				  length, &answer, why);
	} else {
		memcpy(cursor->value_bytes, found->bytes, length);
		memset(cursor->value_known, 1, length);
	}
	value->bytes = cursor->value_bytes;
	value->known = cursor->value_known;
	return rc;
}

static void forget(struct cprec_cursor *cursor)
{
	expression_release(&cursor->found);
	cursor->found = (struct expression){ 0 };
	free(cursor->value_bytes);
	free(cursor->value_known);
	cursor->value_bytes = cursor->value_known = NULL;
}

static int evaluate(struct cprec_cursor *cursor, const char *text,
		    const struct cprec_format *format, struct failure *why)
{
	const struct expression_question question = {
		.text = text, .place = cursor_place(cursor),
		.format = format->letter, .size = format->length,
		.is_raw = format->is_raw, .is_value = format->is_value,
	};
	const struct expression *found = &cursor->found;
	int rc;

	forget(cursor);
	rc = expressions_find(cursor->of->expressions, &question,
			      &cursor->found, why);
	if (rc) {
		cursor->found = (struct expression){ 0 };
		return rc;
	}
	cursor->value = (struct cprec_value) {
		.type = found->type, .text = found->value,
		.no_text = found->value ? NULL : found->no_value,
		.has_addr = found->has_addr, .addr = found->addr,
		.is_code = found->is_code, .length = found->size,
	};
	return 0;
}

PUBLIC int cprec_evaluate(struct cprec_cursor *cursor, const char *expression,
			  const struct cprec_format *format,
			  const struct cprec_value **out,
			  struct cprec_failure *why)
{
	struct cprec_format asked = { 0 };
	int rc = question_begin(cursor->of, true, why);

	if (!rc && format)
		rc = QUESTION_TAKE(&asked, format, why);
	if (!rc && asked.letter && !strchr(EXPRESSION_FORMATS, asked.letter))
		rc = failed(inner(why), ERR_INPUT, "the format is one of '"
			    EXPRESSION_FORMATS "'");
	if (!rc)
		rc = evaluate(cursor, expression, &asked, inner(why));
	if (!rc)
		rc = take_bytes(cursor, inner(why));
	if (!rc)
		*out = &cursor->value;
	return rc;
}

PUBLIC int cprec_find_type(struct cprec_cursor *cursor, const char *text,
			   bool whole, const char **out,
			   struct cprec_failure *why)
{
	const struct expression_question question = {
		.text = text, .place = cursor_place(cursor),
	};
	char *type;
	int rc = question_begin(cursor->of, true, why);

	if (!rc)
		rc = expressions_type(cursor->of->expressions, &question,
				      whole, &type, inner(why));
	if (rc)
		return rc;
	free(cursor->type);
	*out = cursor->type = type;
	return 0;
}

PUBLIC int cprec_check_expression(struct cprec_cursor *cursor,
				  const char *expression, uint64_t pc,
				  struct cprec_failure *why)
{
	const struct expression_place place = cursor_place(cursor);
	int rc = question_begin(cursor->of, true, why);

	return rc ? rc : expressions_check(cursor->of->expressions, expression,
					   &place, pc, inner(why));
}

/* Without a type, so much is asked for; and no more of what is larger. */
#define LENGTH_DEFAULT 8u
#define LENGTH_MOST 4096u

static int find_memory(struct cprec_cursor *cursor, const char *expression,
		       struct cprec_bits *out, struct cprec_failure *why)
{
	const struct expression_question question = {
		.text = expression, .place = cursor_place(cursor),
	};
	struct expression found;
	int rc = question_begin(cursor->of, true, why);

	if (!rc)
		rc = expressions_find(cursor->of->expressions, &question,
				      &found, inner(why));
	if (rc)
		return rc;
	*out = (struct cprec_bits) {
		.addr = found.addr, .bit_offset = found.bit_offset,
		.bit_size = found.bit_size, .is_signed = found.is_signed,
		.length = found.bit_size ?
			(found.bit_offset + found.bit_size + 7) / 8 :
			!found.size ? LENGTH_DEFAULT :
			found.size < LENGTH_MOST ? found.size : LENGTH_MOST,
	};
	if (!found.has_addr && !found.bit_size)
		rc = failed(inner(why), ERR_INPUT, "'%s' is not in memory"
			    " then%s%s", expression, found.reg ? ", but in " :
			    "", found.reg ? found.reg : "");
	expression_release(&found);
	return rc;
}

PUBLIC int cprec_find_address(struct cprec_cursor *cursor,
			      const char *expression, uint64_t *addr,
			      uint64_t *length, struct cprec_failure *why)
{
	struct cprec_bits found;
	int rc = find_memory(cursor, expression, &found, why);

	if (!rc && found.bit_size)
		rc = failed(inner(why), ERR_INPUT, "'%s' is a bit-field, and"
			    " has no address", expression);
	*addr = rc ? 0 : found.addr;
	*length = rc ? 0 : found.length;
	return rc;
}

PUBLIC int cprec_find_bits(struct cprec_cursor *cursor, const char *expression,
			   struct cprec_bits *out, struct cprec_failure *why)
{
	struct cprec_bits found = { 0 };
	int rc = find_memory(cursor, expression, &found, why);

	*out = found;
	return rc;
}

/* ------- completing ------- */

struct text_visits {
	struct visits visits;
	int (*visit)(void *context, const char *text);
};

static void tell_text(void *context, const char *text)
{
	struct text_visits *visits = context;

	if (!visits->visits.rc)
		visits_told(&visits->visits,
			    visits->visit(visits->visits.context, text));
}

PUBLIC int cprec_complete(struct cprec_cursor *cursor, const char *typed,
			  int (*visit)(void *context, const char *text),
			  void *context, struct cprec_failure *why)
{
	struct text_visits visits = { { .context = context }, visit };
	int rc = question_begin(cursor->of, true, why);

	if (rc)
		return rc;
	cursor->of->runs = true;
	expressions_complete(cursor->of->expressions, &cursor->at, typed,
			     tell_text, &visits);
	cursor->of->runs = false;
	return visits.visits.rc;
}
