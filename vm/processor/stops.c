/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stops.c - what it means for the guest that the engine stopped */
#include "vm/processor/run.h"

void stop_in_block(struct vm *vm, guest_addr pc)
{
	const struct block *block;
	unsigned index;

	if (vm->uncounted || !vm->counter->current)
		return;		/* it could not even be entered */
	block = &vm->blocks[vm->counter->current];
	index = block_index_of(vm, block, pc);
	if (index == block->count)
		return;		/* at its end: fetching what follows */
	vm->steps -= block->count - index;
	vm->counter->current = 0;
}

/* Bits 47 to 63 are all equal. */
static bool is_canonical(guest_addr addr)
{
	return (uint64_t)((int64_t)addr >> 47) + 1 < 2;
}

static void explain_memory_fault(struct vm *vm, struct vm_stop *stop)
{
	stop->kind = VM_STOP_FAULT;
	stop->fault = FAULT_MEMORY;
	stop->access = vm->fault_access;
	stop->mapped = vm->fault_mapped;
	if (!is_canonical(vm->fault_page)) {
		stop->fault = vm->fault_access != ACCESS_FETCH &&
				      block_fault_is_of_stack(vm, stop->pc,
							      vm->fault_page) ?
				      FAULT_STACK : FAULT_PRIVILEGE;
	} else if (vm->fault_access != ACCESS_FETCH) {
		stop->addr = block_fault_address(vm, stop->pc, vm->fault_page);
	} else {
		stop->addr = vm->fault_page > stop->pc ? vm->fault_page :
							 stop->pc;
	}
	stop_in_block(vm, stop->pc);
}

static void explain_interrupt(struct vm *vm, struct vm_stop *stop)
{
	stop->kind = VM_STOP_FAULT;
	switch (vm->interrupt) {
	case 0:
		stop->fault = FAULT_DIVIDE;
		break;
	case 6:
		stop->fault = FAULT_INVALID;
		break;
	default:
		stop->fault = FAULT_PRIVILEGE;
	}
	stop_in_block(vm, stop->pc);
	x86_exception_taken(vm);
}

void stop_explain(struct vm *vm, struct vm_stop *stop)
{
	switch (vm->stopped) {
	case ENGINE_MISALIGNED:
	case ENGINE_UNMASKED:
	case ENGINE_SPECIAL:
	case ENGINE_FLOAT_RAISED:
		break;		/* has been said */
	case ENGINE_PROTECTED:
	case ENGINE_FLOAT_SSE:
	case ENGINE_FLOAT_X87:
		stop->kind = VM_STOP_FAULT;
		stop->fault = vm->stopped == ENGINE_PROTECTED ? FAULT_PRIVILEGE :
			      vm->stopped == ENGINE_FLOAT_SSE ? FAULT_FLOAT_SSE :
								FAULT_FLOAT_X87;
		stop_in_block(vm, stop->pc);
		break;
	case ENGINE_AT_BLOCK:
		stop->kind = vm->counter->asked ? VM_STOP_ASKED : VM_STOP_BUDGET;
		vm->counter->asked = 0;
		vm->wanted = false;
		break;
	case ENGINE_SYSCALL:
		stop->kind = VM_STOP_SYSCALL;
		stop->size = 2;
		vm_set_reg(vm, X86_RCX, stop->pc);
		vm_set_reg(vm, X86_R11, vm_reg(vm, X86_RFLAGS));
		break;
	case ENGINE_INTERRUPT:
		explain_interrupt(vm, stop);
		break;
	case ENGINE_INVALID:
		stop->kind = VM_STOP_FAULT;
		stop->fault = FAULT_INVALID;
		stop_in_block(vm, stop->pc);
		break;
	case ENGINE_NONE:
		stop->kind = VM_STOP_BUDGET;
		if (vm->faulted)
			explain_memory_fault(vm, stop);
	}
}
