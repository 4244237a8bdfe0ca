/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sources.h - files of source code, on this machine
 *
 * Ownership:  source_close() frees; a zeroed source is empty.
 * Errors:     ERR_NOT_FOUND (there is no such file here), ERR_SYSTEM,
 *             ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_SESSION_SOURCES_H
#define CPREC_REPLAYER_SESSION_SOURCES_H

#include <stddef.h>
#include <time.h>

struct failure;
struct source_line;

struct source {
	char *path;		/* where it was found */
	struct timespec changed;
	char *text;
	size_t size;
	const char **lines;	/* where each begins */
	size_t count;
};

/*
 * Finds the file of a line as gdb does: as it is called, in the folder where
 * it was compiled, and in this one.  Before that, in `folders`, with ':'
 * between them, or NULL: with all of its path, and by its name alone.
 */
int source_open(struct source *out, const struct source_line *line,
		const char *folders, struct failure *why);
void source_close(struct source *source);

/* A line, which counts from 1; `*size` is without its end. */
const char *source_text(const struct source *source, size_t line,
			size_t *size);

#endif
