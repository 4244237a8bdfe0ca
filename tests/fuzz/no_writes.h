/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * no_writes.h - from now on this process writes no file, starts no program and
 * connects to nobody
 *
 * What cprec keeps beside a recording, FILE.idx and FILE.marks, cannot be
 * written, as on a file system that is read-only.  Whatever else is tried ends
 * the process, which says what it was.
 */
#ifndef CPREC_TESTS_FUZZ_NO_WRITES_H
#define CPREC_TESTS_FUZZ_NO_WRITES_H

void forbid_writes(void);

#endif
