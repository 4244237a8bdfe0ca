/* SPDX-License-Identifier: GPL-2.0-or-later */
/* condition.c - see condition.h */
#include "replayer/expressions/condition.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "replayer/expressions/evaluate.h"

static void forget_reads(struct condition *condition)
{
	condition->read_count = 0;
	condition->read_bytes = 0;
	condition->is_large = false;
}

static void on_read(void *context, uint64_t addr, uint64_t size)
{
	struct condition *condition = context;

	for (size_t i = 0; i < condition->read_count; i++)
		if (condition->reads[i].addr == addr &&
		    condition->reads[i].size == size)
			return;
	condition->is_large |= size > CHANGES_BYTES_MOST -
				      condition->read_bytes ||
			       size - 1 > UINT64_MAX - addr ||
			       array_room(condition->reads,
					  condition->read_count,
					  condition->read_room);
	if (condition->is_large)
		return;
	condition->read_bytes += size;
	condition->reads[condition->read_count++] =
		(struct changes_range){ addr, size };
}

void condition_init(struct condition *condition, struct context *context,
		    const char *text)
{
	*condition = (struct condition) { .context = context, .text = text };
}

void condition_release(struct condition *condition)
{
	trace_release(&condition->trace);
	free(condition->reads);
	*condition = (struct condition) { 0 };
}

/* ------- from the text ------- */

static int compute(struct condition *condition, enum trace_answer *out,
		   struct failure *why)
{
	struct trace *trace = &condition->trace;
	long double number;
	struct value value;
	int rc = evaluate(condition->context, condition->text, &value, why);

	if (!rc)
		rc = value_double(condition->context, &value, &number, why);
	if (rc)
		return rc;
	*out = number != 0 ? TRACE_TRUE : TRACE_FALSE;
	trace->result = value.node;
	condition->has_tree = !trace->opaque && trace->result;
	return 0;
}

/* ------- operands ------- */

struct operands {
	struct condition *condition;
	unsigned number;	/* of the next one */
};

/* Whether what failed last fails at all times. */
static bool is_mistake(const struct context *context)
{
	return context->mistake > MISTAKE_HERE ||
	       (context->is_elsewhere && context->mistake == MISTAKE_HERE);
}

/* Elsewhere, values are not those that will be there. */
static bool makes_sense(struct context *context, const char *text,
			struct failure *why)
{
	struct value value;

	context->mistake = MISTAKE_NONE;
	return !evaluate(context, text, &value, why) ||
	       (context->is_elsewhere && !is_mistake(context));
}

static void look_at_operand(void *opaque, const char *text, size_t size)
{
	struct operands *operands = opaque;
	struct condition *condition = operands->condition;
	struct context *context = condition->context;
	unsigned number = operands->number++;
	uint64_t bit = number < 64 ? UINT64_C(1) << number : 0;
	char *copy = context_take(context, size + 1);
	struct failure why = { "" };

	if (!copy || !bit || condition->right & bit)
		return;
	memcpy(copy, text, size);
	context->is_terse = condition->wrong & bit;
	if (makes_sense(context, copy, &why)) {
		condition->right |= bit;
	} else if (is_mistake(context)) {
		if (!condition->wrong) {
			condition->mistake = why;
			condition->kind = context->mistake;
		}
		condition->wrong |= bit;
		condition->is_certain |= context->mistake == MISTAKE_MEMBER;
	}
}

static int look_at_operands(struct condition *condition, struct failure *why)
{
	struct operands operands = { .condition = condition };
	uint64_t all;
	int rc;

	if (condition->all_right)
		return 0;
	condition->context->only_types = true;
	condition->context->only_begun = false;
	rc = evaluate_syntax(condition->context, condition->text,
			     look_at_operand, &operands, why);
	condition->context->only_types = false;
	all = operands.number < 64 ? (UINT64_C(1) << operands.number) - 1 :
				     UINT64_MAX;
	condition->all_right = condition->right == all;
	return rc;
}

bool condition_is_wrong(const struct condition *condition)
{
	return condition->wrong & ~condition->right;
}

int condition_refuse_operand(const struct condition *condition,
			     struct failure *why)
{
	return failed(why, ERR_NOT_FOUND, "%s", condition->mistake.text);
}

/* Operands that make sense may not go together: "node + 1". */
static int look_at_whole(struct condition *condition, struct failure *why)
{
	struct context *context = condition->context;
	struct failure mistake = { "" };
	bool is_right;

	context->only_types = true;
	is_right = makes_sense(context, condition->text, &mistake);
	context->only_types = false;
	if (is_right)
		return 0;
	condition->kind = context->mistake;
	condition->is_certain = context->mistake == MISTAKE_MEMBER;
	return failed(why, ERR_INPUT, "%s", mistake.text);
}

int condition_look(struct condition *condition, struct failure *why)
{
	int rc = look_at_operands(condition, why);

	if (rc)
		return rc;
	return condition_is_wrong(condition) ?
		failed(why, ERR_INPUT, "%s", condition->mistake.text) :
		look_at_whole(condition, why);
}

/* ------- from the text, with reasons ------- */

/*
 * What is wrong where names are known says more than that one was not known, as
 * in a program that became this one; and that than memory which was not known.
 */
static bool is_better(const struct condition *condition, int rc)
{
	return !condition->trace.is_unknown &&
	       (!condition->has_mistake ||
		(condition->lacks_name && rc == ERR_INPUT));
}

/*
 * That there is no such memory, or no such name yet, is an answer.  So is all
 * that is wrong only now.
 */
static int explain(struct condition *condition, int rc,
		   const struct failure *reason, struct failure *why)
{
	bool is_fault = !condition->trace.is_unknown && rc == ERR_INPUT &&
			!condition->was_known && !condition->has_reason;

	if (rc != ERR_NOT_FOUND && (rc != ERR_INPUT || is_fault)) {
		*why = *reason;
		return rc;
	}
	if (condition->trace.is_unknown)
		condition->was_known = true;
	if (!condition->has_reason || is_better(condition, rc)) {
		condition->reason = *reason;
		condition->lacks_name = rc == ERR_NOT_FOUND;
	}
	condition->has_reason = true;
	condition->has_mistake |= !condition->trace.is_unknown;
	return 0;
}

int condition_evaluate(struct condition *condition,
		       const struct expression_place *place,
		       struct replayer *live, enum trace_answer *out,
		       struct failure *why)
{
	struct context *context = condition->context;
	struct failure reason = { "" };
	int rc = 0;

	*out = TRACE_UNKNOWN;
	trace_release(&condition->trace);
	trace_begin(&condition->trace);
	condition->trace.read = on_read;
	condition->trace.context = condition;
	condition->has_tree = false;
	forget_reads(condition);
	if (live)
		context_set_live(context, live, place);
	else
		rc = context_set(context, place, why);
	if (rc)
		return rc;
	context->trace = &condition->trace;
	context->no_frame = !condition->in_frame;
	context->only_begun = context->only_visible = true;
	/* To look for what was meant takes long: once is enough. */
	context->is_terse = condition->has_mistake;
	rc = compute(condition, out, &reason);
	context->trace = NULL;
	if (!rc)
		rc = look_at_operands(condition, &reason);
	context->no_frame = context->only_begun = context->is_terse = false;
	context->only_visible = false;
	context->has_frame = false;
	if (rc)
		rc = explain(condition, rc, &reason, why);
	else
		condition->was_known = condition->has_value = true;
	if (!rc && condition->is_large)
		rc = failed(why, ERR_INPUT, "'%s' depends on too much memory",
			    condition->text);
	return rc;
}

int condition_refuse(const struct condition *condition, struct failure *why)
{
	return failed(why, ERR_NOT_FOUND, "%s", condition->reason.text);
}

int condition_check(const struct condition *condition, struct failure *why)
{
	if (!condition->has_value && condition->has_reason)
		return condition_refuse(condition, why);
	return condition_is_wrong(condition) ?
		       condition_refuse_operand(condition, why) : 0;
}

/* ------- by the tree ------- */

enum trace_answer condition_again(const struct condition *condition,
				  const struct trace_source *source)
{
	if (!condition->has_tree)
		return TRACE_ANEW;
	return trace_answer(&condition->trace, source);
}

struct live {
	struct condition *condition;
	struct replayer *replayer;
	uint64_t (*reg)(void *context, unsigned reg);
	void *context;
};

static enum trace_answer read_now(void *context, uint64_t addr, size_t size,
				  uint8_t *bytes)
{
	struct live *live = context;
	uint8_t known[32] = { 0 };

	on_read(live->condition, addr, size);
	if (size - 1 > UINT64_MAX - addr ||
	    replayer_read(live->replayer, addr, bytes, known, size, NULL) ||
	    memchr(known, 0, size))
		return TRACE_UNKNOWN;
	return TRACE_TRUE;
}

static uint64_t register_now(void *context, unsigned reg)
{
	struct live *live = context;

	return live->reg(live->context, reg);
}

enum trace_answer condition_now(struct condition *condition,
				struct replayer *replayer,
				uint64_t (*reg)(void *context, unsigned reg),
				void *context)
{
	struct live live = { condition, replayer, reg, context };
	const struct trace_source source = { read_now, register_now, &live };

	if (!condition->has_tree)
		return TRACE_ANEW;
	forget_reads(condition);
	return trace_answer(&condition->trace, &source);
}
