/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * family.h - the recordings of the processes that belong together
 *
 * A program's processes are recorded into files of their own, trace.cpr and
 * trace.cpr.d/PID.cpr, which have one identifier in their headers.
 */
#ifndef CPREC_TOOLS_FAMILY_H
#define CPREC_TOOLS_FAMILY_H

#include <stddef.h>

#include <jansson.h>

struct recording;

/*
 * An array of the family's files, this one among them, by process number:
 * objects with `file`, `this`, `pid`, `parent` (as below), `program` (argument
 * vector, null if not known) and `path` of the program that it was in the end,
 * `instructions`; or with `file`, `this` and `error`.
 */
json_t *family_describe(const struct recording *recording);

/* How many other processes have files there. */
size_t family_others(const struct recording *recording);

/*
 * The process that made this one: `pid`, `tid` (of the thread that did), `at`
 * (the time in its recording).  Null if it is not recorded, or not known.
 */
json_t *parent_describe(const struct recording *recording);

#endif
