/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_tables.h - what addresses of an AArch64 machine mean
 *
 * The engine does this by itself when a guest runs; here it is done for those
 * who look.  Rights do not matter.
 *
 * Source: Arm Architecture Reference Manual, D8.2 and D8.3 (VMSAv8-64).
 *
 * Ownership:  plain data.
 */
#ifndef CPREC_FORMATS_PAGE_TABLES_H
#define CPREC_FORMATS_PAGE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/region.h"
#include "formats/registers.h"

/* Registers of a core that say where tables are; zeros: it has none. */
struct page_tables {
	uint64_t low, high;	/* TTBR0_EL1, TTBR1_EL1: the first ones of both
				   halves, and bits that do not count */
	uint64_t control;	/* TCR_EL1 */
	uint64_t system;	/* SCTLR_EL1 */
	uint64_t vectors;	/* VBAR_EL1: virtual */
};

struct page_tables page_tables_of(const struct reg_file *regs);

/* What of them counts, for whoever compares. */
struct page_tables page_tables_essence(const struct page_tables *tables);

/* False if the walk cannot go on: then it finds nothing. */
typedef bool page_tables_read(void *context, uint64_t addr, uint64_t *entry);

/* A physical address; false: nothing is mapped there. */
bool page_tables_walk(const struct page_tables *tables, page_tables_read *read,
		      void *context, guest_addr addr, uint64_t *out);

/*
 * The same; also what Linux hides of its kernel while a program executes: not
 * from those who look.
 */
bool page_tables_find(const struct page_tables *tables, page_tables_read *read,
		      void *context, guest_addr addr, uint64_t *out);

#endif
