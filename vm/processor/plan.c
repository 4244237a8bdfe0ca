/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan.c - what is settled about a block before the engine translates it
 *
 * The engine makes a block of all instructions up to the next jump, wherever
 * it begins.  Its function that does so is defined here, too, as in jumps.c,
 * and told to make a shorter one where a block is better to begin:
 *
 * - with an instruction that must not run in the engine, so that the guest
 *   stops there without a part of a block being translated for it each time;
 * - with an operand that must be aligned and whose address is found on the
 *   way: it follows from the registers that this block begins with;
 * - with a page, because nobody has asked yet for what is on the next one.
 *
 * Before, the hook of float.c is laid over the instructions that want it.
 * Nothing has to be translated twice, or dropped, because of what it holds:
 * dropping would hit blocks that overlap, which lead to each other in loops.
 */
#include "vm/processor/plan.h"

#include <string.h>

#include "vm/engine/build/exact.h"
#include "vm/arch/x86/gate.h"
#include "vm/arch/x86/prefixes.h"

static struct vm *running;

struct plan {
	struct vm *vm;
	guest_addr pc;
	const uint8_t *code, *end;	/* from there, to the page's end */
	bool cuts;
	unsigned count;		/* instructions, and how many of them lie ... */
	unsigned whole;		/* ... all on this page, ... */
	size_t size;		/* ... with so many bytes */
	bool has_aligned;
	guest_addr first, last;	/* to be hooked; 0: none */
};

static void hook(struct plan *plan, guest_addr pc)
{
	if (!plan->last || pc < plan->first)
		plan->first = pc;
	if (pc > plan->last)
		plan->last = pc;
}

/* Takes an instruction into the block. */
static void take(struct plan *plan, const uint8_t *code, size_t size)
{
	guest_addr pc = plan->pc + (size_t)(code - plan->code);
	const uint8_t *opcode, *end = code + size;
	bool rep;

	opcode = skip_prefixes(code, end, &rep);
	plan->has_aligned |= align_wants(code, opcode, end);
	plan->count++;
	plan->whole++;
	plan->size += size;
	if (float_wants_hook(plan->vm, opcode, end))
		hook(plan, pc);
}

/* Goes through at most `most` instructions, up to a jump or the page's end. */
static void survey(struct plan *plan, unsigned most)
{
	const uint8_t *code = plan->code, *end;

	plan->count = plan->whole = 0;
	plan->size = 0;
	plan->first = plan->last = 0;
	for (; plan->count < most && code < plan->end; code = end) {
		guest_addr pc = plan->pc + plan->size;
		size_t size = block_length(plan->vm, code,
					   (size_t)(plan->end - code), pc);

		end = size ? code + size : plan->end;
		if (plan->cuts && plan->count &&
		    x86_gate(code, end) != GATE_OPEN)
			return;
		if (!size) {
			/* Not known, or not all of it: the hook will see. */
			hook(plan, pc);
			plan->count++;
			return;
		}
		take(plan, code, size);
		if (block_ends(code, end))
			return;
	}
}

/* Ends the block before an operand, or hooks those that remain. */
static void look_at_operands(struct plan *plan)
{
	struct block block = {
		.pc = plan->pc,
		.size = (uint32_t)plan->size,
		.count = (uint16_t)plan->whole,
	};
	struct vm *vm = plan->vm;
	struct loose loose = align_find_loose(vm, &block);

	if (loose.next && plan->cuts) {
		survey(plan, loose.next);
	} else if (loose.next) {
		hook(plan, block_address_of(vm, &block, loose.next));
		hook(plan, block_address_of(vm, &block, loose.last));
	}
	if (loose.is_first)
		hook(plan, plan->pc);
}

/* How many instructions the block at `pc` is to have. */
static unsigned settle(struct vm *vm, guest_addr pc, unsigned most)
{
	const struct mapping *map = memory_find(vm->memory, pc);
	struct plan plan = { .vm = vm, .pc = pc };

	float_hook(vm, 0, 0);
	if (!map)
		return most;
	plan.code = vm->memory->arena + mapping_arena(map, pc);
	plan.end = plan.code + (GUEST_PAGE - pc % GUEST_PAGE);
	plan.cuts = !vm->partial;
	survey(&plan, most);
	if (plan.has_aligned)
		look_at_operands(&plan);
	float_hook(vm, plan.first, plan.last);
	return plan.count;
}

/* Of the engine: the block begins with its address. */
typedef void translate_fn(void *cpu, void *block, int most);
REPLACES(translate_fn, gen_intermediate_code_x86_64);
void gen_intermediate_code_x86_64(void *cpu, void *block, int most)
{
	guest_addr pc;

	memcpy(&pc, block, sizeof(pc));
	if (running) {
		running->translated++;
		most = (int)settle(running, pc, (unsigned)most);
	}
	engine_gen_intermediate_code_x86_64(cpu, block, most);
}

void plan_run(struct vm *vm)
{
	running = vm;
}

uint64_t plan_translated(const struct vm *vm)
{
	return vm->translated;
}
