/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tables.c - addresses by the page tables of the guest, as it is now */
#include "vm/board/board_internal.h"

#include <string.h>

bool board_entry(const struct board *board, uint64_t addr, uint64_t *entry)
{
	const uint8_t *bytes = board_bytes(board, addr, sizeof(*entry));

	if (bytes)
		memcpy(entry, bytes, sizeof(*entry));
	return bytes;
}

static bool read_entry(void *context, uint64_t addr, uint64_t *entry)
{
	return board_entry(context, addr, entry);
}

bool tables_translate(const struct board *board,
		      const struct page_tables *tables, guest_addr addr,
		      uint64_t *out)
{
	return page_tables_walk(tables, read_entry,
				(struct board *)(uintptr_t)board, addr, out);
}

struct page_tables board_tables(const struct board *board)
{
	return board->kind->tables ? board->kind->tables(board) :
				     (struct page_tables){ 0 };
}

bool board_translate(const struct board *board, guest_addr addr, uint64_t *out)
{
	const struct page_tables tables = board_tables(board);

	return tables_translate(board, &tables, addr, out);
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
