/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stops.c - what it means for the guest that the engine stopped */
#include "vm/processor/processor.h"

void stop_in_block(struct vm *vm, guest_addr pc)
{
	struct counter *counter = engine_counter(vm->engine);
	const struct block *block;
	unsigned index;

	if (vm->uncounted || !counter->current)
		return;		/* it could not even be entered */
	block = &vm->blocks[counter->current];
	index = block_index_of(vm, block, pc);
	if (index == block->inlined.count)
		return;		/* at its end: fetching what follows */
	vm->steps -= block->inlined.count - index;
	leave_block(vm, 0);
}

struct vm_stop step_trap(struct vm *vm)
{
	return (struct vm_stop){
		.kind = VM_STOP_FAULT,
		.fault = FAULT_DEBUG,
		.pc = vm_reg(vm, vm->cpu.regs->pc),
		.detail = vm->cpu.arch->step_detail,
	};
}

static void explain_memory_fault(struct vm *vm, struct vm_stop *stop)
{
	stop->kind = VM_STOP_FAULT;
	stop->access = vm->fault_access;
	stop->mapped = vm->fault_mapped;
	vm->cpu.arch->memory_fault(&vm->cpu, vm->fault_page, stop);
	stop_in_block(vm, stop->pc);
}

static void explain_exception(struct vm *vm, struct vm_stop *stop)
{
	stop->kind = VM_STOP_FAULT;
	stop_in_block(vm, stop->pc);
	vm->cpu.arch->exception(&vm->cpu, vm->exception, stop);
	leave_block(vm, 0);
	vm->generation = 0;	/* its TLB may have come back, too */
}

static void explain_budget(struct vm *vm, struct vm_stop *stop)
{
	struct counter *counter = engine_counter(vm->engine);

	stop->kind = counter->asked ? VM_STOP_ASKED : VM_STOP_BUDGET;
	counter->asked = 0;
	vm->wanted = false;
}

/* The block under way is still the one before. */
static void explain_break(struct vm *vm, struct vm_stop *stop)
{
	uint32_t number = engine_counter(vm->engine)->current;
	const struct block *before = &vm->blocks[number];

	stop->kind = VM_STOP_BREAK;
	if (!number)
		return;
	stop->from = before->inlined.pc + before->inlined.size -
		     before->last_size;
	stop->way = vm->cpu.arch->way(&vm->cpu, stop->from);
}

void stop_explain(struct vm *vm, struct vm_stop *stop)
{
	switch (vm->stopped) {
	case STOPPED_AT_SPECIAL:
	case STOPPED_MISALIGNED:
	case STOPPED_TO_REPLAN:
	case STOPPED_TO_PERFORM:
	case STOPPED_TO_ASK:
		break;		/* has been said */
	case STOPPED_BY_FAULT:
		stop->kind = vm->before.kind;
		stop->fault = vm->before.fault;
		stop->detail = vm->before.detail;
		stop_in_block(vm, stop->pc);
		break;
	case STOPPED_REPEATING:
	case STOPPED_AT_BLOCK:
		explain_budget(vm, stop);
		break;
	case STOPPED_AT_BREAK:
		explain_break(vm, stop);
		break;
	case STOPPED_BY_SYSCALL:
		stop->kind = VM_STOP_SYSCALL;
		vm->cpu.arch->syscall(&vm->cpu, stop);
		break;
	case STOPPED_BY_EXCEPTION:
		explain_exception(vm, stop);
		break;
	case STOPPED_BY_INVALID:
		stop->kind = VM_STOP_FAULT;
		stop->fault = FAULT_INVALID;
		stop_in_block(vm, stop->pc);
		break;
	case STOPPED_NOT:
		stop->kind = VM_STOP_BUDGET;
		if (vm->faulted)
			explain_memory_fault(vm, stop);
	}
}
