/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * side_files.h - side files follow their recordings
 *
 * What is in them can be made anew: if one cannot be moved or removed, nobody
 * is told.
 */
#ifndef CPREC_TOOLS_SIDE_FILES_H
#define CPREC_TOOLS_SIDE_FILES_H

void side_file_remove(const char *recording);

/* The recording `from` has become `to`. */
void side_file_move(const char *from, const char *to);

#endif
