/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_notes.h - notes about files that are not those that were recorded
 */
#ifndef CPREC_TOOLS_DEBUG_NOTES_H
#define CPREC_TOOLS_DEBUG_NOTES_H

/* From now on each is printed, once; also if it was before. */
void debug_notes_begin(void);

/* One of them. */
void debug_note(const char *text);

#endif
