/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vector_views.h - what is in a vector register, seen as numbers of some kind
 *
 * "$xmm0.v4_float" are four numbers of floating point, as gdb calls them; of
 * AArch64 "$v0.s.f" and "$d0.f", of 32-bit ARM "$q0.f32" and "$d0.u8".
 *
 * Ownership:  as in values.h.
 * Errors:     ERR_NOT_FOUND (there is no such view), ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_VECTOR_VIEWS_H
#define CPREC_REPLAYER_EXPRESSIONS_VECTOR_VIEWS_H

#include "replayer/expressions/values.h"

/*
 * Takes the view that stands behind a register's name, from a '.' on; returns its
 * end, or `text` if there is none.
 */
const char *vector_view_end(const char *text);

/* `value`, of a register of `size` bytes, becomes what the view says. */
int vector_view(struct context *context, const char *view, size_t length,
		unsigned size, struct value *value, struct failure *why);

#endif
