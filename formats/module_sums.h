/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module_sums.h - checksums of the read-only parts of modules' files
 *
 * CHUNK_MODULE_SUMS, formats/trace-format.md, section 10.3.  By them a file is
 * known to have what was mapped of it.
 *
 * Units:      offsets and sizes are bytes of a file.
 * Ownership:  what module_sums_decode() makes, module_sums_release() frees; a
 *             zeroed structure is an empty one.
 * Errors:     ERR_TRUNCATED, ERR_CORRUPT, ERR_NO_MEMORY; ERR_SYSTEM.
 */
#ifndef CPREC_FORMATS_MODULE_SUMS_H
#define CPREC_FORMATS_MODULE_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"

#define FIXED_PARTS_MOST 64u
#define FIXED_BYTES_MOST (UINT64_C(1) << 32)

struct module_sum {
	uint64_t size;		/* bytes that it is of, at least 1 */
	uint64_t sum;
};

struct module_sums {
	struct path_sum {
		char *path;
		struct module_sum sum;
	} *list;
	size_t count, room;
};

/* One item, behind what is there. */
void module_sum_encode(struct output *out, const char *path,
		       const struct module_sum *sum);

/* Adds all items of a chunk; if it fails, none. */
int module_sums_decode(struct module_sums *sums, const uint8_t *bytes,
		       size_t size);
void module_sums_release(struct module_sums *sums);

/* False if there is none, or several that differ. */
bool module_sums_find(const struct module_sums *sums, const char *path,
		      struct module_sum *out);

/* ------- of a file ------- */

/* The parts of an ELF file that are mapped read-only. */
struct fixed_parts {
	struct {
		uint64_t start, end;
	} list[FIXED_PARTS_MOST];	/* by offset; they do not touch */
	size_t count;
};

/* ERR_CORRUPT: it is no ELF file, or one that this does not understand. */
int fixed_parts_find(struct fixed_parts *out, int fd);

/* How many bytes from `offset` on are in one of them. */
uint64_t fixed_parts_at(const struct fixed_parts *parts, uint64_t offset);

/* Of all their bytes.  ERR_TRUNCATED: the file has become shorter. */
int fixed_parts_sum(struct module_sum *out, const struct fixed_parts *parts,
		    int fd);

#endif
