/* SPDX-License-Identifier: GPL-2.0-or-later */
/* insns.c - what single instructions do, for those who observe them */
#include "vm/processor/processor.h"

/* Whether what is known is of this instruction; it will be, else. */
static bool look_up(const struct vm *vm, struct insn_key *key, guest_addr pc)
{
	uint64_t generation = vm->memory->generation + 1;

	if (key->pc == pc && key->generation == generation)
		return true;
	*key = (struct insn_key){ pc, generation };
	return false;
}

enum vm_order vm_order(struct vm *vm, guest_addr pc)
{
	struct known_order *known = &vm->known_orders[pc % KNOWN_ORDERS];

	if (!look_up(vm, &known->key, pc))
		known->order = vm->cpu.arch->order(&vm->cpu, pc);
	return known->order;
}

struct vm_flow vm_flow(struct vm *vm, guest_addr pc)
{
	struct known_flow *known = &vm->known_flows[pc % KNOWN_FLOWS];

	if (!look_up(vm, &known->key, pc))
		known->flow = vm->cpu.arch->flow(&vm->cpu, pc);
	return known->flow;
}
