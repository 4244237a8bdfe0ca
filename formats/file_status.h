/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file_status.h - whether a file is the one that was looked at before */
#ifndef CPREC_FORMATS_FILE_STATUS_H
#define CPREC_FORMATS_FILE_STATUS_H

#include <stdbool.h>
#include <sys/stat.h>

/* Whether both are of one file that was not written in between: that changes its
 * times. */
bool is_unchanged_file(const struct stat *one, const struct stat *other);

#endif
