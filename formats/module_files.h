/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module_files.h - which build a module is, and which of its files are kept
 *
 * CHUNK_MODULE_FILES, formats/trace-format.md, section 10.1.  A kept file is in
 * pieces (CHUNK_PIECE) of this recording, or of another process's.
 *
 * Units:      sizes are bytes.
 * Ownership:  what module_files_decode() makes, module_files_release() frees;
 *             a zeroed structure is an empty one.
 * Errors:     ERR_TRUNCATED, ERR_CORRUPT, ERR_NO_MEMORY.
 */
#ifndef CPREC_FORMATS_MODULE_FILES_H
#define CPREC_FORMATS_MODULE_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"

/* Written to disk: the order of the files. */
enum module_file {
	MODULE_FILE_OWN,	/* without what is not needed to look at it */
	MODULE_FILE_DEBUG,	/* with its debugging information */
	MODULE_FILE_EXTRA,	/* that .gnu_debugaltlink names */
	MODULE_FILES,
};

#define BUILD_ID_MOST 64u
#define KEPT_FILE_MOST UINT32_MAX	/* bytes */

struct build_id {
	uint8_t bytes[BUILD_ID_MOST];
	size_t size;		/* 0: it has none */
};

struct kept_file {
	uint64_t size;		/* 0: it is not kept */
	uint32_t member;	/* who has it; 0: this recording */
	uint32_t number;	/* there; from 1 */
};

struct module_files {
	char *path;		/* as in the regions' names */
	struct build_id build_id;
	struct kept_file files[MODULE_FILES];
};

struct module_list {
	struct module_files *list;
	size_t count, room;
};

/* One item, behind what is there. */
void module_files_encode(struct output *out, const struct module_files *module);

/* Adds all items of a chunk; if it fails, none. */
int module_files_decode(struct module_list *modules, const uint8_t *bytes,
			size_t size);
void module_files_release(struct module_list *modules);

/* The first one with this path; NULL if there is none. */
const struct module_files *module_files_find(const struct module_list *modules,
					     const char *path);

/* Its digits, two a byte. */
#define BUILD_ID_TEXT (2 * BUILD_ID_MOST + 1)
const char *build_id_text(char text[BUILD_ID_TEXT],
			  const struct build_id *build_id);

#endif
