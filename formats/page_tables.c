/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_tables.c - see page_tables.h */
#include "formats/page_tables.h"

#define SCTLR_TRANSLATES UINT64_C(1)
#define TABLE_BASE UINT64_C(0xfffffffff000)	/* bits 47 to 12 */
#define ENTRY_SHIFT 3
#define IS_VALID 1u
#define IS_TABLE 2u		/* or, at the last level, a page */

/* One half of the address space. */
struct half {
	uint64_t table;		/* the first one */
	unsigned bits;		/* of addresses */
	unsigned page_bits;
};

/* TG0 and TG1 are coded differently. */
static unsigned page_bits(unsigned coded, bool high)
{
	static const uint8_t low_bits[] = { 12, 16, 14, 12 };
	static const uint8_t high_bits[] = { 12, 14, 12, 16 };

	return high ? high_bits[coded] : low_bits[coded];
}

static struct half half_of(const struct page_tables *tables, guest_addr addr)
{
	bool high = addr >> 55 & 1;
	uint64_t control = tables->control >> (high ? 16 : 0);
	uint64_t table = high ? tables->high : tables->low;

	return (struct half){
		.table = table & TABLE_BASE,
		.bits = 64 - (control & 63),
		.page_bits = page_bits(control >> 14 & 3, high),
	};
}

static bool is_in_half(const struct half *half, guest_addr addr)
{
	int64_t rest = (int64_t)(addr << 8) >> 8 >> half->bits;

	return half->bits >= 16 && half->bits <= 48 &&
	       (rest == 0 || rest == -1);
}

bool page_tables_walk(const struct page_tables *tables, page_tables_read *read,
		      void *context, guest_addr addr, uint64_t *out)
{
	struct half half;
	unsigned step, shift;
	uint64_t table;

	*out = addr;
	if (!(tables->system & SCTLR_TRANSLATES))
		return true;
	half = half_of(tables, addr);
	if (!is_in_half(&half, addr))
		return false;
	addr &= (UINT64_C(1) << half.bits) - 1;
	step = half.page_bits - ENTRY_SHIFT;
	shift = half.page_bits;
	while (shift + step < half.bits)
		shift += step;
	for (table = half.table;; shift -= step) {
		uint64_t index = addr >> shift & ((UINT64_C(1) << step) - 1);
		uint64_t within = (UINT64_C(1) << shift) - 1, entry;

		if (!read(context, table + (index << ENTRY_SHIFT), &entry) ||
		    !(entry & IS_VALID) ||
		    (shift == half.page_bits && !(entry & IS_TABLE)))
			return false;
		if (shift == half.page_bits || !(entry & IS_TABLE)) {
			*out = (entry & TABLE_BASE & ~within) | (addr & within);
			return true;
		}
		table = entry & TABLE_BASE;
	}
}

/*
 * While a program executes, Linux may hide most of its kernel (KPTI).  Then
 * the kernel's own tables are two pages behind those that are used, and both
 * have the vectors.
 */
#define HIDDEN_TABLES 0x2000u

bool page_tables_find(const struct page_tables *tables, page_tables_read *read,
		      void *context, guest_addr addr, uint64_t *out)
{
	struct page_tables hidden = *tables;
	uint64_t here, there;

	if (page_tables_walk(tables, read, context, addr, out))
		return true;
	hidden.high += HIDDEN_TABLES;
	return addr >> 63 &&
	       page_tables_walk(tables, read, context, tables->vectors,
				&here) &&
	       page_tables_walk(&hidden, read, context, tables->vectors,
				&there) &&
	       here == there &&
	       page_tables_walk(&hidden, read, context, addr, out);
}

struct page_tables page_tables_of(const struct reg_file *regs)
{
	const struct reg_table *table = reg_table(ARCH_AARCH64_MACHINE);

	return (struct page_tables){
		reg_get(table, regs, ARM64_TTBR0),
		reg_get(table, regs, ARM64_TTBR1),
		reg_get(table, regs, ARM64_TCR),
		reg_get(table, regs, ARM64_SCTLR),
		reg_get(table, regs, ARM64_VBAR),
	};
}

struct page_tables page_tables_essence(const struct page_tables *tables)
{
	return (struct page_tables){
		tables->low & TABLE_BASE, tables->high & TABLE_BASE,
		tables->control, tables->system & SCTLR_TRANSLATES,
		tables->vectors,
	};
}
