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
struct opened;
struct threads_text;

/* Only some of the threads are listed, or all; with `verbose`, also of each
 * segment.  A thread that was never there is ERR_NOT_FOUND. */
int info_describe(json_t **out, struct opened *opened,
		  const struct threads_text *some, bool verbose,
		  struct failure *why);

/* Without `verbose`, of long lists only the first lines. */
void info_print(const json_t *info, bool verbose);

#endif
