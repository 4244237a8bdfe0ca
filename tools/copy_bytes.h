/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copy_bytes.h - bytes of files into others, as they are
 *
 * Errors:     ERR_SYSTEM, ERR_TRUNCATED (a file has become shorter),
 *             ERR_NO_MEMORY.
 */
#ifndef CPREC_TOOLS_COPY_BYTES_H
#define CPREC_TOOLS_COPY_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct failure;

/* Where bytes come from. */
struct bytes_source {
	int fd;
	const char *path;	/* for messages */
	uint64_t offset, size;
};

/* Appends all of them to a file. */
int copy_bytes(int to, const char *to_path, const struct bytes_source *from,
	       struct failure *why);

int write_bytes(int to, const char *to_path, const void *bytes, size_t size,
		struct failure *why);

/*
 * Makes `to`, which must not exist, of these bytes, only for its owner;
 * `changed` is when it was written.  If it fails, there is no such file.
 */
int copy_file(const char *to, const struct bytes_source *from,
	      const struct timespec *changed, struct failure *why);

#endif
