/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan.c - what is settled about a block before the engine translates it
 *
 * Left alone, the engine makes a block of all instructions up to the next jump.
 * It is told to end the block earlier, before
 *
 * - an instruction that must not run in the engine: the guest can then stop
 *   there without a part of a block being translated for it each time.  It is a
 *   block of its own;
 * - an instruction that the engine misreads.  In place of both, it gets to see
 *   other bytes, of one instruction of a block;
 * - an operand that must be aligned and whose address is computed in this
 *   block: at the entry of the next one it follows from the registers;
 * - an instruction that goes on on the next page: the engine links no block
 *   with one that does;
 * - one with a breakpoint;
 * - one of another part of the code, or that is told for its part;
 * - the next page, which has not been asked for yet and may not be there.
 *
 * The hook on instructions is laid over those of the block that want it, or
 * over all if somebody observes one.  All this is known before the block is
 * translated, so no translation has to be dropped because of what it holds.
 * Dropping one would drop all blocks that overlap it, and in some loops such
 * blocks lead to each other.
 */
#include "vm/processor/processor.h"

struct plan {
	struct vm *vm;
	guest_addr pc;
	const uint8_t *code, *end;	/* from there, to the page's end */
	bool cuts;
	unsigned part;
	unsigned count;		/* instructions, and how many of them lie ... */
	unsigned whole;		/* ... all on this page, ... */
	size_t size;		/* ... with so many bytes */
	bool has_demands;
	bool disguises;		/* an instruction: no other of the block */
	guest_addr first, last;	/* to be hooked; 0: none */
};

static void hook(struct plan *plan, guest_addr pc)
{
	if (!plan->last || pc < plan->first)
		plan->first = pc;
	if (pc > plan->last)
		plan->last = pc;
}

/* Whether the block must end before an instruction. */
static bool ends_before(const struct plan *plan, const struct insn *insn,
			guest_addr pc)
{
	unsigned part = part_at(plan->vm, pc);

	return insn->special || insn->misread ||
	       (insn->cut_off && (plan->disguises || plan->cuts)) ||
	       (plan->cuts && (break_is_at(plan->vm, pc) ||
			       part != plan->part || part & VM_PART_TOLD));
}

/*
 * The engine gets to see other bytes in place of some instructions.  Whether
 * it does for this one, of which `left` bytes are there.
 */
static bool disguise(struct vm *vm, const struct insn *insn,
		     const uint8_t *code, size_t left, guest_addr pc)
{
	uint8_t bytes[ENGINE_DISGUISE_MOST];
	unsigned size = insn->size;

	if ((!insn->special && !insn->misread) || size > left)
		return false;
	if (!size)
		size = left < sizeof(bytes) ? (unsigned)left : sizeof(bytes);
	vm->cpu.arch->disguise(&vm->cpu, code, size, pc, bytes);
	engine_disguise(vm->engine, pc, bytes, size);
	return true;
}

void plan_disguise(struct vm *vm, guest_addr pc)
{
	struct cpu_code code;

	cpu_fetch(&vm->cpu, pc, &code);
	disguise(vm, &code.insn, code.bytes, code.left, pc);
}

/* Goes through at most `most` instructions, up to a jump or the page's end. */
static void survey(struct plan *plan, unsigned most)
{
	struct cpu *cpu = &plan->vm->cpu;
	const uint8_t *code = plan->code;

	plan->count = plan->whole = 0;
	plan->size = 0;
	plan->disguises = false;
	plan->first = plan->last = 0;
	while (plan->count < most && code < plan->end) {
		guest_addr pc = plan->pc + plan->size;
		size_t left = (size_t)(plan->end - code);
		struct insn insn = cpu->arch->decode(cpu, code, left, pc);

		if (plan->count && ends_before(plan, &insn, pc))
			return;
		if (insn.cut_off)
			engine_disguise(plan->vm->engine, pc, NULL, 0);
		else
			plan->disguises |= disguise(plan->vm, &insn, code, left,
						    pc);
		plan->count++;
		if (!insn.size) {
			/* Not known, or cut off: the hook decides. */
			hook(plan, pc);
			return;
		}
		plan->has_demands |= insn.demands;
		plan->whole++;
		plan->size += insn.size;
		if (insn.hooked)
			hook(plan, pc);
		if (insn.ends_block || insn.special)
			return;
		code += insn.size;
	}
}

/* Address of an instruction of the block. */
static guest_addr address_of(const struct plan *plan, unsigned index)
{
	struct cpu *cpu = &plan->vm->cpu;
	size_t at = 0;

	for (unsigned i = 0; i < index; i++)
		at += cpu->arch->decode(cpu, plan->code + at,
					(size_t)(plan->end - plan->code) - at,
					plan->pc + at)
			      .size;
	return plan->pc + at;
}

/* Whether there is room for as many demands as a block may have. */
static bool may_demand(const struct vm *vm)
{
	return vm->demand_count + 64 * DEMANDS_OF_BLOCK < DEMANDS_MOST;
}

/* Ends the block before an operand, or hooks those that remain. */
static void look_at_operands(struct plan *plan)
{
	struct vm *vm = plan->vm;
	struct demand demands[DEMANDS_OF_BLOCK];
	/* What is found room for here will find some when it is needed. */
	unsigned room = may_demand(vm) ? DEMANDS_OF_BLOCK : 0;
	unsigned found;
	struct loose loose = vm->cpu.arch->demands(
		&vm->cpu, plan->pc, plan->code, plan->size, plan->whole,
		demands, room, &found);

	if (loose.next && plan->cuts) {
		survey(plan, loose.next);
	} else if (loose.next) {
		hook(plan, address_of(plan, loose.next));
		hook(plan, address_of(plan, loose.last));
	}
	if (loose.is_first)
		hook(plan, plan->pc);
}

/* Where code is, of which as much as there is on its page is looked at. */
static const uint8_t *find_code(struct vm *vm, guest_addr pc, size_t *left)
{
	const struct mapping *map = memory_find(vm->memory, pc);

	if (!map)
		return NULL;
	if (vm->memory->asks)
		arena_touch(vm->memory, map,
			    mapping_arena(map, pc) >> GUEST_PAGE_SHIFT, false);
	*left = GUEST_PAGE - pc % GUEST_PAGE;
	return vm->memory->arena + mapping_arena(map, pc);
}

const uint8_t *plan_common(struct vm *vm, guest_addr pc, size_t *left)
{
	bool is_common = !vm->partial && !vm->asking && !vm->plans_apart &&
			 !vm->breaks.count && !vm->observer_count &&
			 !vm->cpu.own.steps && may_demand(vm);

	return is_common ? find_code(vm, pc, left) : NULL;
}

unsigned plan_block(struct vm *vm, guest_addr pc, unsigned most)
{
	struct plan plan = { .vm = vm, .pc = pc };
	size_t left;

	vm->planned++;
	engine_hook(vm->engine, 0, 0);
	plan.code = find_code(vm, pc, &left);
	if (!plan.code)
		return most;
	plan.end = plan.code + left;
	plan.cuts = !vm->partial;
	plan.part = part_at(vm, pc) & ~VM_PART_TOLD;
	survey(&plan, most);
	if (plan.has_demands)
		look_at_operands(&plan);
	if (observers_want(vm, pc, plan.size)) {
		hook(&plan, pc);
		hook(&plan, pc + plan.size);
	}
	engine_hook(vm->engine, plan.first, plan.last);
	return plan.count;
}
