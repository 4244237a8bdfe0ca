/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_glance.h - what a file shows from outside: is it a recording, and whose
 *
 * Only the header is looked at, and believed as far as it goes: files of other
 * versions and damaged ones are recordings too.  Nothing but a regular file is
 * ever opened.
 *
 * Errors:     ERR_SYSTEM; ERR_CORRUPT: it is no recording; ERR_TRUNCATED: it
 *             may be one whose first bytes are not written, or it is empty.
 *             With ERR_TRUNCATED all but the id is filled in.
 */
#ifndef CPREC_FORMATS_TRACE_GLANCE_H
#define CPREC_FORMATS_TRACE_GLANCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct failure;

struct trace_glance {
	uint8_t id[16];		/* of its family */
	uint64_t size;
	struct timespec changed;	/* when it was last written to */
	bool is_locked;		/* it is being written */
	bool is_packed;		/* packed.h */
	dev_t device;		/* device and number say which file it is */
	ino_t number;
};

/*
 * `folder` is a descriptor, or AT_FDCWD.  With `follow`, a symbolic link is
 * what it leads to; without, it is no recording.
 */
int trace_glance(struct trace_glance *out, int folder, const char *path,
		 bool follow, struct failure *why);

/* Whether two glances were at one file, and at files of one family. */
bool trace_is_same_file(const struct trace_glance *a,
			const struct trace_glance *b);
bool trace_is_same_family(const struct trace_glance *a,
			  const struct trace_glance *b);

#endif
