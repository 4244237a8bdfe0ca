/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * info.h - what is to be said of a recording, and how it is shown
 *
 * One JSON object holds everything; the text for a person is made of it, so
 * that both say the same in the same words.
 *
 * Ownership:  the object is the caller's to json_decref().
 * Errors:     those of recording.h.
 */
#ifndef CPREC_TOOLS_INFO_H
#define CPREC_TOOLS_INFO_H

#include <stdbool.h>

#include <jansson.h>

struct failure;
struct recording;

/* With `verbose`, also of each segment. */
int info_describe(json_t **out, struct recording *recording, bool verbose,
		  struct failure *why);

/* Without `verbose`, of long lists only the first lines. */
void info_print(const json_t *info, bool verbose);

#endif
