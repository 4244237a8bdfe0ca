/* SPDX-License-Identifier: GPL-2.0-or-later */
/* checks.c - whether expressions make sense before they are asked: see
 * expressions.h */
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/condition.h"
#include "replayer/expressions/expressions_internal.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"

/* A text, where the context is, in the code at `pc`. */
static int look_at_code(struct condition *condition, uint64_t pc,
			unsigned inlined, struct failure *why)
{
	struct context *context = condition->context;
	int rc = context_stand_at(context, pc, inlined, why);

	if (rc)
		return rc;
	context->is_elsewhere = true;
	rc = condition_look(condition, why);
	context->is_elsewhere = false;
	context->has_registers = context->has_frame = false;
	return rc;
}

int expressions_check(struct expressions *expressions, const char *text,
		      const struct expression_place *place, uint64_t pc,
		      struct failure *why)
{
	struct context *context = &expressions->context;
	struct condition condition;
	int rc = context_set(context, place, why);

	if (rc)
		return rc;
	condition_init(&condition, context, text);
	rc = look_at_code(&condition, pc, 0, why);
	condition_release(&condition);
	return rc;
}

/* ------- what is asked at points ------- */

/* More places are not looked at: then they will say what is wrong. */
#define PLACES_MOST 1000u

#define IS_RIGHT 1
#define IS_ENOUGH 2

struct look {
	struct context *context;
	const char *text;
	struct expression_place place;
	unsigned count;		/* of places */

	/* What is wrong with it, as well as is known. */
	struct failure mistake;
	bool is_wrong, is_certain, is_here;
};

/* A name that is not known yet says less than what is wrong where it is. */
static void take_mistake(struct look *look, const struct condition *condition,
			 const struct failure *mistake)
{
	bool is_better = condition->is_certain || !look->is_certain;

	if (is_better) {
		look->mistake = *mistake;
		look->is_here = condition->kind == MISTAKE_HERE;
	}
	look->is_certain |= condition->is_certain;
	look->is_wrong = true;
}

static int on_place(void *opaque, guest_addr addr, unsigned frame)
{
	struct look *look = opaque;
	struct condition condition;
	struct failure why = { "" };
	int rc;

	if (look->count++ == PLACES_MOST)
		return IS_ENOUGH;
	condition_init(&condition, look->context, look->text);
	rc = context_set(look->context, &look->place, &why);
	if (!rc)
		rc = look_at_code(&condition, addr, frame, &why);
	if (!rc) {
		rc = IS_RIGHT;
	} else if (rc == ERR_INPUT || rc == ERR_NOT_FOUND) {
		take_mistake(look, &condition, &why);
		rc = 0;
	}
	condition_release(&condition);
	return rc;
}

/* A name may mean other functions at another time. */
static int look_at_point(struct look *look, const char *text,
			 struct failure *why)
{
	struct log_point point;
	int rc = log_point_init(&point, text, why);

	if (!rc)
		rc = log_point_places(&point, look->context->lines,
				      look->place.at.time, on_place, look, why);
	log_point_release(&point);
	return rc == ERR_NOT_FOUND || rc == ERR_INPUT ? 0 : rc;
}

/* A number for the modules that are mapped, and where. */
static uint64_t modules_at(struct names *names, uint64_t t)
{
	const struct symbols *module;
	uint64_t bias, sum = 0;

	for (size_t i = 0; (module = names_mapped(names, t, i, &bias)); i++)
		sum = (sum ^ (uint64_t)(uintptr_t)module ^ bias << 7) *
		      UINT64_C(0x100000001b3);
	return sum;
}

/* Wherever other modules are mapped, names may mean something else. */
static int look_at_times(struct look *look,
			 const struct expressions_asked *asked,
			 struct failure *why)
{
	struct names *names = lines_names(look->context->lines);
	uint64_t until = 0, modules, before = 0;
	int rc = 0;

	look->place.at = asked->from;
	do {
		modules = modules_at(names, look->place.at.time);
		for (size_t i = 0; i < asked->count && !rc &&
				   modules != before; i++)
			rc = look_at_point(look, asked->points[i].text, why);
		before = modules;
		if (!rc)
			rc = names_until(names, look->place.at.time, &until,
					 why);
		if (rc || until <= look->place.at.time)
			break;
		look->place.at = (struct position) { until, 0 };
	} while (position_compare(&look->place.at, &asked->to) < 0);
	return rc;
}

/* What of the text is evaluated: of "NAME+8", the name. */
static char *copy_evaluated(const char *text)
{
	const char *sign = expression_offset(text);
	bool has_mark = sign && *text == '&';

	return sign ? strndup(text + has_mark,
			      (size_t)(sign - text) - has_mark) :
		      strdup(text);
}

int expressions_check_asked(struct expressions *expressions,
			    const struct expressions_asked *asked,
			    bool *is_elsewhere, struct failure *why)
{
	struct look look = { .context = &expressions->context };
	char *text = copy_evaluated(asked->text);
	int rc;

	*is_elsewhere = false;
	if (!text)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	look.text = text;
	rc = look_at_times(&look, asked, why);
	free(text);
	if (rc || !look.is_wrong)
		return rc > 0 ? 0 : rc;
	*is_elsewhere = look.is_here;
	*why = look.mistake;
	return expression_explain(asked->text, ERR_INPUT, why);
}
