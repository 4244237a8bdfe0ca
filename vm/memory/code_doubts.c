/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_doubts.c - whether code has changed while its page was doubtful
 *
 * A shared page with code is doubtful after each system call, and hardly ever
 * changes.  So its translations are kept, but the TLB does not let the page be
 * executed.  The first attempt touches the page and compares it; if it has
 * changed, its translations are dropped.
 */
#include "vm/memory/memory_internal.h"

#include "formats/error.h"

#include <stdlib.h>

#include "formats/page_hash.h"

static const uint8_t *page_bytes(const struct memory *memory, uint64_t page)
{
	return memory->arena + (page << GUEST_PAGE_SHIFT);
}

void code_doubt(struct memory *memory, const struct mapping *map,
		uint64_t page)
{
	uint8_t state = memory->state[page];

	if (!map->was_code || !(state & PAGE_OWN) || (state & PAGE_CLOSED) ||
	    number_map_find(&memory->code_doubts, page))
		return;
	if (number_map_set(&memory->code_doubts, page,
			   page_hash(page_bytes(memory, page)).low))
		give_up("out of memory");	/* stale code would run */
	memory->generation++;	/* the TLB lets it be executed */
}

void code_settle(struct memory *memory, uint64_t page)
{
	const uint64_t *found = number_map_find(&memory->code_doubts, page);
	const struct mapping *map = arena_mapping(memory, page);
	uint64_t before;

	if (!found)
		return;
	before = *found;
	number_map_remove(&memory->code_doubts, page);
	memory->generation++;
	if (!map)
		return;
	arena_touch(memory, map, page, false);
	if (page_hash(page_bytes(memory, page)).low != before)
		memory_note_stale(memory, map,
				  mapping_page(map, page) << GUEST_PAGE_SHIFT,
				  GUEST_PAGE);
}
