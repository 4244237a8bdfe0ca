/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * breaks.c - breakpoints
 *
 * A block ends before an instruction with a breakpoint (plan.c), so the next one
 * begins with it: that one always calls when it is entered, and stops the guest
 * (entry.c).  Nothing else is slower for it.
 */
#include "vm/processor/processor.h"

#include "formats/error.h"

/*
 * What was translated of the place must be planned anew.  The blocks that were
 * under way are no longer like those that come (entry.c compares them).
 */
static void replan(struct vm *vm, guest_addr pc)
{
	const struct mapping *map = memory_find(vm->memory, pc);

	engine_counter(vm->engine)->current = 0;
	vm->flushes++;
	if (map)
		memory_note_stale(vm->memory, map, pc, 1);
}

int vm_break_set(struct vm *vm, guest_addr pc, struct failure *why)
{
	if (number_map_set(&vm->breaks, pc, 0))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	replan(vm, pc);
	return 0;
}

void vm_break_pass(struct vm *vm)
{
	vm->passed = vm_reg(vm, vm->cpu.regs->pc);
}

void vm_break_clear(struct vm *vm, guest_addr pc)
{
	number_map_remove(&vm->breaks, pc);
	replan(vm, pc);
}
