/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * family.h - the recordings of the processes that belong together
 *
 * A program's processes are recorded into files side by side, trace.cpr and
 * trace.PID.cpr, which have one identifier in their headers.
 */
#ifndef CPREC_TOOLS_FAMILY_H
#define CPREC_TOOLS_FAMILY_H

#include <jansson.h>

struct recording;

/*
 * An array of the files beside this one, itself among them, by process number:
 * objects with `file`, `this`, `pid`, `program` (argument vector), `path` (of
 * the program that it was in the end), `instructions`; or with `file`, `this`
 * and `error`.
 */
json_t *family_describe(const struct recording *recording);

#endif
