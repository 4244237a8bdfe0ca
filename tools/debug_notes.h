/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_notes.h - notes about files with debugging information: those that are not
 * what was recorded, and folders that are not there
 */
#ifndef CPREC_TOOLS_DEBUG_NOTES_H
#define CPREC_TOOLS_DEBUG_NOTES_H

/* From now on each is printed, once; also if it was before. */
void debug_notes_begin(void);

/* One of them. */
void debug_note(const char *text);

/* The value of --debug-dir: where such files are looked for, too. */
void debug_folders_take(const char *folders);

#endif
