/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * begun.h - whether a variable of a function has got its first value
 *
 * In code without optimization, its place is known before that, and holds
 * whatever was there.  The code of its declaration comes first of all code of
 * that line.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_BEGUN_H
#define CPREC_REPLAYER_EXPRESSIONS_BEGUN_H

#include <stdbool.h>

#include "replayer/expressions/context.h"

/* True also if nobody can tell. */
bool variable_has_begun(struct context *context,
			const struct code_frame *frame, Dwarf_Die *variable);

#endif
