/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * images.h - the programs that a recorded process was, one after the other
 *
 * A process becomes another program by execve(2); the recording shows it as an
 * event that maps a new stack and then the program's file.
 *
 * Units:      times are retired instructions of the recording.
 * Ownership:  images_release() frees; a zeroed structure is an empty one.
 * Errors:     those of recording.h.
 */
#ifndef CPREC_TOOLS_IMAGES_H
#define CPREC_TOOLS_IMAGES_H

#include <stddef.h>
#include <stdint.h>

struct failure;
struct recording;

struct image {
	uint64_t time;		/* its first instruction comes next */
	char *path;
};

struct images {
	struct image *list;	/* by time; the first is what was started */
	size_t count;
};

int images_find(struct images *out, struct recording *recording,
		struct failure *why);
void images_release(struct images *images);

#endif
