/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * breaks.c - breakpoints
 *
 * A block ends before an instruction with a breakpoint (plan.c), so the next
 * one begins with it: that one always calls when it is entered, and stops the
 * guest (entry.c).  Nothing else is slower for it.
 */
#include "vm/processor/processor.h"

#include "formats/error.h"

static void drop(struct vm *vm, guest_addr addr)
{
	const struct mapping *map = memory_find(vm->memory, addr);

	if (map)
		memory_note_stale(vm->memory, map, addr, 1);
}

/*
 * What was translated of the place must be planned anew, and what ends before
 * it: entry.c compares blocks, which must not be planned for other breakpoints.
 */
static void replan(struct vm *vm, guest_addr pc)
{
	leave_block(vm, 0);
	vm->flushes++;
	drop(vm, pc - 1);
	drop(vm, pc);
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

bool vm_break_is_set(const struct vm *vm, guest_addr pc)
{
	return number_map_find(&vm->breaks, pc) != NULL;
}
