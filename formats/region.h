/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * region.h - one mapping of a guest's address space
 *
 * Plain data shared by the virtual machine (which keeps a sorted array of
 * them), the packets (which say how they change) and the key frames.
 *
 * Pages that a process maps more than once are a region of their own, at an
 * address from COMMON_START on: common pages.  The mappings are aliases: what
 * is known of a page is known under its common address, whichever of them the
 * program uses, and stays so when one of them goes.
 *
 * Units:      addresses are guest virtual addresses; both ends are multiples
 *             of GUEST_PAGE; `end` is exclusive.
 * Ownership:  `name` is interned by whoever holds the region.
 */
#ifndef CPREC_FORMATS_REGION_H
#define CPREC_FORMATS_REGION_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define GUEST_PAGE 4096u
#define GUEST_PAGE_SHIFT 12

typedef uint64_t guest_addr;

/* Limits of what can be written to disk. */
#define GUEST_ADDR_END (UINT64_C(1) << 57)	/* of any address in a file */
#define GUEST_PAGES (GUEST_ADDR_END >> GUEST_PAGE_SHIFT)
#define COMMON_START (GUEST_ADDR_END / 2)	/* programs are below: it is more
						   than any processor gives them */
#define REGION_OFFSET_END (UINT64_C(1) << 63)	/* of a region in its file */
#define REGION_NAME_MAX 4096u			/* bytes, without final NUL */
#define PAGE_ID_END (UINT64_C(1) << 52)		/* of ids of stored pages */

/* Written to disk. */
enum protection {
	MAY_READ  = 1,
	MAY_WRITE = 2,
	MAY_EXEC  = 4,
};

/* Written to disk. */
enum region_kind {
	REGION_ANON   = 0,	/* zeros until written */
	REGION_FILE   = 1,	/* private mapping of a file: doubtful until touched */
	REGION_SHARED = 2,	/* shared with others: doubtful until touched */
	REGION_ALIAS  = 3,	/* on disk only: shared, with common pages */
	REGION_DEVICE = 4,	/* of a machine: registers, which hold nothing */
};

struct region {
	guest_addr start, end;
	unsigned prot;		/* enum protection */
	enum region_kind kind;
	uint64_t offset;	/* in the file, bytes; 0 for REGION_ANON */
	const char *name;	/* path of the file, "[stack]", "[heap]" or "" */
	guest_addr common;	/* REGION_SHARED: where its pages are, if they are
				   mapped more than once; else 0 */
};

/* Whether more of the same will be mapped behind it, step by step. */
static inline bool region_grows(const struct region *region)
{
	return region->name && !strcmp(region->name, "[heap]");
}

#endif
