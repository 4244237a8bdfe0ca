/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * direct.c - translated code that accesses the guest's memory directly
 *
 * The host refuses an access that is the first touch of a page: then the page
 * is opened, and the access made again.  All else that it refuses, a fault of
 * the guest's among it, is left to the engine: the instruction is executed
 * alone, translated so that it asks the TLB.
 */
#include "vm/processor/processor.h"

#include <stdlib.h>

/*
 * An instruction that asks takes 13 us.  A program that has had so many uses
 * addresses with tags, or high ones, all the time, and is better off with the
 * TLB alone.
 */
#define ASKED_MOST 10000

static bool on_fault(void *context, uintptr_t pc, const uint8_t *at,
		     bool writes)
{
	struct vm *vm = context;

	/* What asks the TLB may access what the TLB has let it. */
	if (!engine_is_direct(vm->engine) || vm->asking ||
	    !engine_has_translated(vm->engine, pc))
		return false;
	if (memory_admit(vm->memory, at, writes))
		return true;
	vm->stopped = STOPPED_TO_ASK;
	engine_stop(vm->engine);
	engine_leave(vm->engine, pc);
}

int direct_begin(struct vm *vm, struct failure *why)
{
	int rc = memory_line_up(vm->memory, why);

	if (!rc)
		memory_on_guest_fault(vm->memory, on_fault, vm);
	return rc;
}

void direct_engine(struct vm *vm)
{
	struct memory *memory = vm->memory;

	if (memory_is_guarded(memory) &&
	    !engine_go_direct(vm->engine, memory->arena))
		memory_end_guarding(memory);
}

void direct_settle(struct vm *vm)
{
	memory_settle(vm->memory);
	if (vm->asked > ASKED_MOST)
		memory_end_guarding(vm->memory);
	if (engine_is_direct(vm->engine) && !memory_is_guarded(vm->memory)) {
		engine_end_direct(vm->engine);
		if (vm->block_count)
			translations_flush(vm);
	}
}

bool direct_is_wanted(void)
{
	return !getenv("CPREC_NO_DIRECT");
}
