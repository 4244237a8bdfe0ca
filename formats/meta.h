/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * meta.h - what was recorded, and how it ended
 *
 * The meta data says which program was run, on which processor, and which
 * process made this one.  A process that becomes another program (exec) has a
 * chunk for each of them.
 *
 * Ownership:  *_release() frees what *_decode() allocated; a zeroed structure
 *             is an empty one.
 * Errors:     ERR_TRUNCATED, ERR_CORRUPT, ERR_NO_MEMORY.
 */
#ifndef CPREC_FORMATS_META_H
#define CPREC_FORMATS_META_H

#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"
#include "formats/processor.h"

/* Limits of what can be written to disk. */
#define META_TEXT_MAX (128u << 10)	/* bytes of one text: MAX_ARG_STRLEN */
#define META_LIST_MAX (1u << 20)	/* arguments, threads */

#define RUN_ID_SIZE 16

/* Which process made this one. */
struct origin {
	uint32_t parent;	/* number of the process; 0: it is not recorded */
	uint32_t thread;	/* of the parent, that made it */
	uint64_t time;		/* of the parent, then */
};

/* CHUNK_META: the first chunk. */
struct meta {
	char **argv;		/* argument vector of the program, NULL-ended */
	size_t argc;
	char *path;		/* the file that was run, absolute */
	char *directory;	/* where it was run */
	char *host;		/* "Linux 6.1.0 x86_64" */
	char *made_by;		/* "cprec 0.1, unicorn 2.1.1" */
	uint64_t started;	/* seconds since 1970 */
	uint32_t cache_entries;
	struct processor processor;	/* its model is freed, too */
	uint8_t run[RUN_ID_SIZE];	/* random; the same in all generations of
					   one process's recording */
	struct origin origin;
};

/* CHUNK_PROGRAM: what the process became. */
struct program_image {
	char **argv;		/* NULL-ended */
	size_t argc;
	char *path;		/* the file, absolute */
	char *directory;	/* where it was run */
};

/* CHUNK_SUMMARY: the last chunk before the footer. */
struct summary_thread {
	uint32_t tid;
	uint64_t steps;
};

/*
 * It did not end: it executed a program of another architecture, and another
 * recording has the rest.
 */
#define SUMMARY_BECAME 256u

/* Written to disk: the exit code of a machine. */
enum machine_end {
	MACHINE_OFF = 0,
	MACHINE_RESET = 1,
	MACHINE_STOPPED = 2,	/* by its user */
	MACHINE_IDLE = 3,	/* it waited for what could never come */
	MACHINE_LOCKED = 4,	/* a fault in the handler of faults */
	MACHINE_PANICKED = 5,	/* its kernel did, and looped or reset it */
	/* From here on: its program ended with a status of 0 to 255. */
	MACHINE_EXITED = 16,
	MACHINE_END_MOST = MACHINE_EXITED + 255,
};

struct summary {
	uint64_t time;		/* instructions of all threads */
	uint32_t exit_signal;	/* 0: exited by itself */
	uint32_t exit_code;	/* 0 to 255, or SUMMARY_BECAME; of a machine,
				   how it ended */
	struct summary_thread *threads;
	size_t thread_count;
	/* Statistics of the recording. */
	uint64_t cache_hits, cache_misses;	/* words, prediction.h */
	uint64_t touched_pages, stored_pages;
};

void meta_encode(struct output *out, const struct meta *meta);
int meta_decode(struct meta *out, const uint8_t *bytes, size_t size);
void meta_release(struct meta *meta);

void program_image_encode(struct output *out,
			  const struct program_image *image);
int program_image_decode(struct program_image *out, const uint8_t *bytes,
			 size_t size);
void program_image_release(struct program_image *image);

void summary_encode(struct output *out, const struct summary *summary);
int summary_decode(struct summary *out, const uint8_t *bytes, size_t size);
void summary_release(struct summary *summary);

#endif
