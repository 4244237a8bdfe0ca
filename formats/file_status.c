/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file_status.c - see file_status.h */
#include "formats/file_status.h"

static bool is_same_time(const struct timespec *one,
			 const struct timespec *other)
{
	return one->tv_sec == other->tv_sec && one->tv_nsec == other->tv_nsec;
}

bool is_unchanged_file(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino &&
	       one->st_size == other->st_size &&
	       is_same_time(&one->st_mtim, &other->st_mtim) &&
	       is_same_time(&one->st_ctim, &other->st_ctim);
}
