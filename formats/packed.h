/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packed.h - all recordings of a family in one file
 *
 * A header, the recordings byte for byte, one after the other, and at the end
 * a directory: formats/trace-format.md, section 16.  The first recording is the
 * first process's and has no name; the others have the names that they had in
 * their folder.  So a packed file x.cpr is read like FILE, and "x.cpr/12.cpr"
 * like "FILE.d/12.cpr".
 *
 * Ownership:  packed_release() frees what packed_read() fills in.
 * Errors:     ERR_SYSTEM, ERR_TRUNCATED, ERR_CORRUPT, ERR_CHECKSUM,
 *             ERR_VERSION, ERR_NO_MEMORY.
 */
#ifndef CPREC_FORMATS_PACKED_H
#define CPREC_FORMATS_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "formats/bytes.h"

struct failure;

#define PACKED_VERSION 1
#define PACKED_MAGIC "\x89" "cppak\r\n"
#define PACKED_MAGIC_SIZE 8
#define PACKED_HEADER_SIZE 64
#define PACKED_TRAILER_SIZE 32
#define PACKED_NAME_MAX 255
#define PACKED_DIRECTORY_MAX (64u << 20)	/* bytes */

struct packed_member {
	char *name;		/* in the folder; "" of the first */
	uint64_t offset, size;	/* of its bytes in the packed file */
	struct timespec changed;	/* when it was last written to */
};

struct packed {
	uint8_t id[16];		/* of the family */
	struct packed_member *list;
	size_t count, room;
};

/* ------- reading ------- */

/* Whether a file begins like one. */
bool packed_is_open(int fd);
bool packed_is_at(const char *path);

/*
 * The packed file of the recording that a path like "x.cpr/12.cpr" names, and
 * its name there, which is a part of the path; NULL if that is no such path.
 * free() it.
 */
char *packed_of(const char *path, const char **name);

/* Header and directory. */
int packed_read(struct packed *out, int fd, const char *path,
		struct failure *why);

/* The one of a name, "" for the first; NULL if there is none. */
const struct packed_member *packed_find(const struct packed *packed,
					const char *name);

void packed_release(struct packed *packed);

/* ------- bytes ------- */

void packed_header_encode(uint8_t bytes[PACKED_HEADER_SIZE],
			  const uint8_t id[16]);

/* The directory and what is behind it. */
void packed_end_encode(struct output *out, const struct packed *packed);

/*
 * The directory alone, of a file whose recordings end at `end`.  A name is
 * never that of another folder; no two are the same.
 */
int packed_directory_decode(struct packed *out, uint64_t end,
			    const uint8_t *bytes, size_t size);

#endif
