/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * side_files.h - side files and bookmarks follow their recordings
 *
 * What is in side files can be made anew: if one cannot be moved or removed,
 * nobody is told.  Of bookmarks, that is told.
 */
#ifndef CPREC_TOOLS_SIDE_FILES_H
#define CPREC_TOOLS_SIDE_FILES_H

void side_file_remove(const char *recording);

/* The recording `from` has become `to`. */
void side_file_move(const char *from, const char *to);

/* The bookmarks of `from` are also those of `to`, which is a copy of it. */
void side_file_copy(const char *from, const char *to);

/* The same of recordings in a packed file, which has become another one. */
struct family_files;
void side_files_move_packed(const struct family_files *files, const char *to);

#endif
