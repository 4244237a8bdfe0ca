/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drop_arm.c - dropping translations of 32-bit ARM
 *
 * The engine is told to drop translations by an address of the guest.  It looks
 * up where in its own memory that is, and goes on with the lower 32 bits of it,
 * as many as an address of this guest has: but its memory begins above 4 GiB,
 * so it would find nothing.  The bits are brought back where it drops.
 */
#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/* What was looked up last, on this thread. */
static _Thread_local uint64_t found;

typedef uint64_t find_fn(void *state, uint32_t addr);
REPLACES(find_fn, get_page_addr_code_arm);
uint64_t get_page_addr_code_arm(void *state, uint32_t addr)
{
	found = engine_get_page_addr_code_arm(state, addr);
	return found;
}

typedef void drop_fn(struct uc_struct *uc, uint64_t start, uint64_t end);
REPLACES(drop_fn, tb_invalidate_phys_range_arm);
void tb_invalidate_phys_range_arm(struct uc_struct *uc, uint64_t start,
				  uint64_t end)
{
	uint64_t lost = start == (uint32_t)found ? found - start : 0;

	engine_tb_invalidate_phys_range_arm(uc, start + lost, end + lost);
}

/*
 * Pages that are mapped several times have an address of their own, above all
 * that a guest can have: its upper half is left out here, and brought back
 * where the engine asks for the page.  The TLB must not remember that.
 */
static void drop_piece(struct engine *engine, guest_addr addr, guest_addr end)
{
	engine->arm.above = addr & ~(guest_addr)UINT32_MAX;
	if (engine->arm.above)
		engine_flush_tlb(engine, false);
	uc_ctl_remove_cache(engine_enter(engine), (uint32_t)addr,
			    (uint32_t)end);
	if (engine->arm.above)
		engine_flush_tlb(engine, false);
	engine->arm.above = 0;
}

/* Never up to where 32 bits end; a page's last byte begins no instruction. */
void drop_narrow(struct engine *engine, guest_addr addr, uint64_t size)
{
	guest_addr end = addr + size;

	while (addr < end) {
		guest_addr last = addr | (GUEST_PAGE - 1);

		drop_piece(engine, addr, end > last ? last : end);
		addr = last + 1;
	}
}
