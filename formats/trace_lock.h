/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_lock.h - which recordings are still being written
 *
 * Whoever writes a recording has a lock on it (flock(2)) from the moment at
 * which it is there, until the last copy of the descriptor is closed: the
 * kernel lets go for a process that is killed.  Where a file system has no
 * such locks, nothing seems to be written.
 *
 * Errors:     none: without a lock, all goes on.
 */
#ifndef CPREC_FORMATS_TRACE_LOCK_H
#define CPREC_FORMATS_TRACE_LOCK_H

#include <stdbool.h>

/* Of a file that is open for writing, and just made. */
void trace_lock(int fd);

/* Whether somebody writes a recording. */
bool trace_is_locked(int fd);
bool trace_is_locked_at(int folder, const char *name);

/*
 * Of several who want to make, rename or remove recordings in the folder of
 * `path`, only one does until it closes the descriptor; -1: nobody waits.
 */
int trace_lock_names(const char *path);

#endif
