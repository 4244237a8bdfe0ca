/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * family_find.h - "this file, that process": which recording is meant
 *
 * Ownership:  the path is the caller's to free().
 * Errors:     ERR_NOT_FOUND; ERR_INPUT: several are meant; those of
 *             family_files.h.
 */
#ifndef CPREC_REPLAYER_SESSION_FAMILY_FIND_H
#define CPREC_REPLAYER_SESSION_FAMILY_FIND_H

struct failure;

/*
 * The recording of one process of the family to which `file` belongs: of the
 * process with a number ("1234"; "1234-2" if that was given twice, and it is
 * the second one's); of the one whose program has a name, as `cprec ps` shows
 * it; or, if none has, of the one with such a word on its command line, with
 * or without its folders; or with this command line.  If there are several, the
 * failure lists them, ten at most.
 */
int family_find(char **out, const char *file, const char *pid_or_name,
		struct failure *why);

#endif
