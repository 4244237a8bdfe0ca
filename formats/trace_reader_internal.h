/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_reader_internal.h - a reader of trace files, for its own two files
 *
 * trace_reader.c opens a file and reads its parts; trace_table.c finds out
 * which chunks there are.
 *
 * Ownership:  trace_reader_close() frees.
 * Errors:     those of trace_file.h.
 */
#ifndef CPREC_FORMATS_TRACE_READER_INTERNAL_H
#define CPREC_FORMATS_TRACE_READER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/error.h"
#include "formats/trace_layout.h"

struct trace_reader {
	int fd;
	char *path;
	uint64_t base;		/* where it begins in the file, if that has
				   several: all else counts from there */
	uint64_t size;
	struct trace_header header;
	bool is_complete;
	bool is_growing;
	char *note; /* NULL: nothing is damaged */
	struct chunk_info *infos;
	size_t count;
	size_t capacity;
};

/* ------- trace_reader.c ------- */

/* Reads all of the bytes; the file is known to have them. */
int reader_bytes(const struct trace_reader *reader, void *bytes, size_t size,
		 uint64_t offset, struct failure *why);

/*
 * Reads the chunk that `info` describes; its header must say the same.  The
 * content gets an allocation of at least one byte.
 */
int reader_chunk(const struct trace_reader *reader,
		 const struct chunk_info *info, uint8_t **out,
		 struct failure *why);

/* Says which field of a part of the file is wrong.  Returns `code`. */
int reader_damaged(const struct trace_reader *reader, int code,
		   const char *what, uint64_t offset, const char *field,
		   struct failure *why);

static inline const char *reader_header_problem(int code)
{
	return code == ERR_CHECKSUM ? "checksum of its header" : "its header";
}

/* ------- trace_table.c ------- */

/* Makes the list of chunks. */
int reader_find_chunks(struct trace_reader *reader, struct failure *why);

#endif
