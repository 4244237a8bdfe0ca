/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * newest.h - the recording that is meant when none is named
 *
 * Ownership:  the caller frees the path.
 * Errors:     ERR_NOT_FOUND, ERR_SYSTEM, ERR_NO_MEMORY; then the path is NULL.
 */
#ifndef CPREC_TOOLS_NEWEST_H
#define CPREC_TOOLS_NEWEST_H

#include <stddef.h>

struct failure;

/*
 * Of the recordings *.cpr in this folder the one that was changed last; `*count`
 * is how many there are.
 */
int newest_recording(char **out, size_t *count, struct failure *why);

#endif
