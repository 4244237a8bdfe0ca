/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shown_values.c - see shown_values.h */
#include "tools/shown_values.h"

#include "replayer/expressions/expressions.h"
#include "replayer/session/session.h"

static struct expressions_shown shown;

void shown_values_begin(void)
{
	shown = (struct expressions_shown) { 0 };
}

int shown_values_take_elements(const struct options *options, int id)
{
	if (!number_parse(options->value, &shown.elements) ||
	    !shown.elements || shown.elements > EXPRESSIONS_ELEMENTS_MOST)
		return options_bad_value(options, id,
					 "a number from 1 to 1000000");
	return 0;
}

void shown_values_take_raw(void)
{
	shown.is_raw = true;
}

void shown_values_apply(struct expressions *expressions)
{
	expressions_show(expressions, &shown);
}
