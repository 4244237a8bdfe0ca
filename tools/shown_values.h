/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shown_values.h - how values are shown: the options --elements and --raw
 *
 * They hold until the next command begins.
 */
#ifndef CPREC_TOOLS_SHOWN_VALUES_H
#define CPREC_TOOLS_SHOWN_VALUES_H

#include "tools/options.h"

struct expressions;

#define SHOWN_ROWS(elements, raw)                                             \
	{ (elements), "elements", "N",                                        \
	  "at most N elements of an array or a container, and N\n"            \
	  "characters of a text: then '...'; without this, 200" },            \
	{ (raw), "raw", NULL,                                                 \
	  "containers of standard libraries by their members,\n"              \
	  "not by what they hold" }

/* From now on, as without these options. */
void shown_values_begin(void);

/* Takes the option --elements.  0, or OPTIONS_WRONG. */
int shown_values_take_elements(const struct options *options, int id);

void shown_values_take_raw(void);

/* What was taken holds for these. */
void shown_values_apply(struct expressions *expressions);

#endif
