/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * newest.h - the recording that is meant when none is named
 *
 * Ownership:  the caller frees the path.
 * Errors:     ERR_NOT_FOUND, ERR_SYSTEM, ERR_NO_MEMORY; then the path is NULL.
 */
#ifndef CPREC_TOOLS_NEWEST_H
#define CPREC_TOOLS_NEWEST_H

struct failure;

/*
 * Of the files *.cpr in this folder the one that was changed last; a note says
 * which, if there are several.
 */
int newest_recording(char **out, struct failure *why);

#endif
