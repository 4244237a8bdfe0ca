/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_flow.c - see race_flow.h
 *
 * Source: System V ABI, AMD64 supplement, 3.2.2 (red zone).
 */
#include "replayer/races/race_flow.h"

#define RED_ZONE 128u

/* What is stored further up is in nobody's frame, or in that of a caller. */
#define STACK_NEAR 4096u

static bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

/* What values are in the registers. */
static race_loads in_registers(const struct race_flow *flow, uint64_t which)
{
	race_loads loads = 0;

	for (; which; which &= which - 1)
		loads |= flow->registers[__builtin_ctzll(which)];
	return loads;
}

/* Loads of which no value is left are followed no longer. */
static void drop_unused(struct race_flow *flow)
{
	race_loads used = in_registers(flow, UINT64_MAX);

	for (unsigned i = 0; i < FLOW_SLOTS; i++)
		used |= flow->slots[i].loads;
	flow->used = used;
}

static void forget(struct race_flow *flow, race_loads loads)
{
	for (unsigned i = 0; i < VM_FLOW_REGISTERS; i++)
		flow->registers[i] &= (race_loads)~loads;
	for (unsigned i = 0; i < FLOW_SLOTS; i++)
		flow->slots[i].loads &= (race_loads)~loads;
	flow->now &= (race_loads)~loads;
	flow->used &= (race_loads)~loads;
}

void race_flow_settle(struct race_flow *flow, uint64_t sp)
{
	/* What was executed last has written its registers now. */
	for (uint64_t left = flow->writes; left; left &= left - 1)
		flow->registers[__builtin_ctzll(left)] = flow->now;
	flow->writes = 0;
	for (unsigned i = 0; i < FLOW_SLOTS; i++)
		if (flow->slots[i].addr < sp - RED_ZONE)
			flow->slots[i].loads = 0;
	drop_unused(flow);
}

void race_flow_step(struct race_flow *flow, struct vm_flow insn)
{
	flow->now = in_registers(flow, insn.reads);
	flow->writes = insn.writes;
}

void race_flow_load(struct race_flow *flow, uint64_t addr, uint64_t size)
{
	for (unsigned i = 0; i < FLOW_SLOTS; i++) {
		const struct race_flow_slot *slot = &flow->slots[i];

		if (slot->loads && overlap(slot->addr, slot->size, addr, size))
			flow->now |= slot->loads;
	}
}

void race_flow_follow(struct race_flow *flow, struct vm_flow insn,
		      uint64_t addr, uint64_t size)
{
	unsigned number = flow->next_load;

	for (unsigned i = 0; i < FLOW_LOADS; i++)
		if (!(flow->used & 1u << i))
			number = i;
	flow->next_load = (number + 1) % FLOW_LOADS;
	forget(flow, (race_loads)(1u << number));
	flow->loads[number].addr = addr;
	flow->loads[number].size = size;
	flow->used |= (race_loads)(1u << number);
	flow->now |= (race_loads)(1u << number);
	flow->writes = insn.writes;
}

/* Memory now has what the present instruction depends on. */
static void fill_slot(struct race_flow *flow, uint64_t addr, uint64_t size)
{
	unsigned number = flow->next_slot;

	for (unsigned i = 0; i < FLOW_SLOTS; i++)
		if (!flow->slots[i].loads)
			number = i;
	flow->next_slot = (number + 1) % FLOW_SLOTS;
	flow->slots[number] = (struct race_flow_slot) { addr, size, flow->now };
}

bool race_flow_store(struct race_flow *flow, uint64_t addr, uint64_t size,
		     uint64_t sp)
{
	for (unsigned i = 0; i < FLOW_SLOTS; i++) {
		struct race_flow_slot *slot = &flow->slots[i];

		if (addr <= slot->addr &&
		    slot->addr + slot->size <= addr + size)
			slot->loads = 0;
	}
	if (flow->now && addr - (sp - RED_ZONE) < RED_ZONE + STACK_NEAR)
		fill_slot(flow, addr, size);
	for (unsigned i = 0; i < FLOW_LOADS; i++)
		if (flow->now & 1u << i &&
		    overlap(flow->loads[i].addr, flow->loads[i].size, addr,
			    size))
			return true;
	return false;
}

void race_flow_end(struct race_flow *flow, uint64_t addr, uint64_t size)
{
	for (unsigned i = 0; i < FLOW_LOADS; i++)
		if (flow->used & 1u << i &&
		    overlap(flow->loads[i].addr, flow->loads[i].size, addr,
			    size))
			forget(flow, (race_loads)(1u << i));
}
