/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copy_notes.h - notes about copies of functions that were inlined, which an
 * answer about the function does not have
 */
#ifndef CPREC_TOOLS_COPY_NOTES_H
#define CPREC_TOOLS_COPY_NOTES_H

#include "replayer/symbols/symbols.h"

/* Says how many copies have no code, if any. */
void copies_note_lost(const char *name, const struct inlined_copies *copies);

/* Says how many copies there are, in an answer about calls. */
void copies_note_uncalled(const char *name,
			  const struct inlined_copies *copies);

#endif
