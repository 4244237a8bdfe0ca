/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tables.c - addresses by the page tables of the guest
 *
 * The engine does this by itself when the guest runs; here it is done for those
 * who look.  Rights do not matter.
 *
 * Source: Arm Architecture Reference Manual, D8.2 and D8.3 (VMSAv8-64).
 */
#include "vm/board/board_internal.h"

#include <string.h>

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

static struct half half_of(const struct board *board,
			   const struct board_tables *tables, guest_addr addr)
{
	bool high = addr >> 55 & 1;
	uint64_t control = board_reg(board, ARM64_TCR) >> (high ? 16 : 0);
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

static uint64_t entry_at(const struct board *board, uint64_t table,
			 uint64_t index)
{
	uint64_t entry = 0;
	const uint8_t *bytes = board_bytes(
		board, table + (index << ENTRY_SHIFT), sizeof(entry));

	if (bytes)
		memcpy(&entry, bytes, sizeof(entry));
	return entry;
}

bool board_translate_by(const struct board *board,
			const struct board_tables *tables, guest_addr addr,
			uint64_t *out)
{
	struct half half;
	unsigned step, shift;
	uint64_t table;

	*out = addr;
	if (!(board_reg(board, ARM64_SCTLR) & SCTLR_TRANSLATES))
		return true;
	half = half_of(board, tables, addr);
	if (!is_in_half(&half, addr))
		return false;
	addr &= (UINT64_C(1) << half.bits) - 1;
	step = half.page_bits - ENTRY_SHIFT;
	shift = half.page_bits;
	while (shift + step < half.bits)
		shift += step;
	for (table = half.table;; shift -= step) {
		uint64_t entry = entry_at(board, table,
					  addr >> shift &
						  ((UINT64_C(1) << step) - 1));
		uint64_t within = (UINT64_C(1) << shift) - 1;

		if (!(entry & IS_VALID) ||
		    (shift == half.page_bits && !(entry & IS_TABLE)))
			return false;
		if (shift == half.page_bits || !(entry & IS_TABLE)) {
			*out = (entry & TABLE_BASE & ~within) | (addr & within);
			return true;
		}
		table = entry & TABLE_BASE;
	}
}

struct board_tables board_tables(const struct board *board)
{
	return (struct board_tables){ board_reg(board, ARM64_TTBR0),
				      board_reg(board, ARM64_TTBR1) };
}

bool tables_translate(const struct board *board, guest_addr addr, uint64_t *out)
{
	const struct board_tables tables = board_tables(board);

	return board_translate_by(board, &tables, addr, out);
}

uint32_t board_insn(const struct board *board, guest_addr pc)
{
	uint32_t insn = 0;
	uint64_t addr;
	const uint8_t *bytes = NULL;

	if (board_translate(board, pc, &addr))
		bytes = board_bytes(board, addr, sizeof(insn));
	if (bytes)
		memcpy(&insn, bytes, sizeof(insn));
	return insn;
}
