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

static struct vm_lead find_lead(struct vm *vm, guest_addr pc)
{
	struct vm_lead lead = { .way = vm->cpu.arch->way(&vm->cpu, pc) };
	struct vm_instruction shown;
	struct cpu_code code;

	cpu_fetch(&vm->cpu, pc, &code);
	vm_instruction(vm, pc, code.bytes, code.left, VM_INTEL, &shown);
	lead.jumps = shown.jumps;
	return lead;
}

struct vm_lead vm_lead(struct vm *vm, guest_addr pc)
{
	struct known_lead *known = &vm->known_leads[pc % KNOWN_LEADS];

	if (!look_up(vm, &known->key, pc))
		known->lead = find_lead(vm, pc);
	return known->lead;
}
