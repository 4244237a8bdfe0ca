/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pack.h - a family into one file, and back
 *
 * Nothing of that name may be there before.  If it fails, nothing is.
 *
 * Errors:     ERR_INPUT, ERR_SYSTEM, ERR_NO_MEMORY; those of packed.h.
 */
#ifndef CPREC_TOOLS_PACK_H
#define CPREC_TOOLS_PACK_H

struct failure;
struct family_files;

int pack_family(const struct family_files *files, const char *to,
		struct failure *why);

/* To the recording `to`, and the folder of its others. */
int unpack_family(const struct family_files *files, const char *to,
		  struct failure *why);

#endif
