/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module_bytes.h - the read-only bytes of modules, from their files
 *
 * Bytes that a program mapped and never used are in no recording, but in its
 * files, here or in the folders of debug_search.h.  A file is the one that was
 * mapped if what it holds has the recorded checksum; that is looked at again
 * whenever the file may have changed.
 *
 * Ownership:  module_bytes_release() frees; a zeroed structure is an empty one.
 * Errors:     ERR_NOT_FOUND, with the reason; those of recording.h.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_MODULE_BYTES_H
#define CPREC_REPLAYER_SYMBOLS_MODULE_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct failure;
struct opened_module;
struct recording;

struct module_bytes {
	struct opened_module *first;
};

/*
 * Reads bytes of the file that is mapped under a path; `*size` becomes less if
 * those behind are no such bytes.  ERR_NOT_FOUND: the first is none, or no file
 * is known to be the one.
 */
int module_bytes_read(struct module_bytes *bytes, struct recording *recording,
		      const char *path, uint64_t offset, uint8_t *out,
		      size_t *size, struct failure *why);

void module_bytes_release(struct module_bytes *bytes);

#endif
