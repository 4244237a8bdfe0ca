/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * family.h - what is said of the processes that belong to a recording
 */
#ifndef CPREC_TOOLS_FAMILY_H
#define CPREC_TOOLS_FAMILY_H

#include <stddef.h>

#include <jansson.h>

#include "tools/processes.h"

struct recording;

/*
 * An array of the family's recordings, this one among them, by process number:
 * objects with `recording`, `this`, `pid`, `parent`, `program` (argument
 * vector, null if not known) and `path` of the program that it was in the end,
 * `instructions`; or with `recording`, `this` and `error`.
 */
json_t *family_describe(const struct recording *recording);

/* How many other processes have recordings there. */
size_t family_others(const struct recording *recording);

#endif
