/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accesses.c - telling of accesses to data
 *
 * Translated code logs them (vm/engine/build/accesses.c) with the budget that
 * its block has left: that tells when they took place.  So that the log never
 * overflows, a run gets its budget in portions, and the log is told and cut at
 * the end of each.
 */
#include "vm/processor/processor.h"

/* So many are told at once. */
#define TOLD_AT_ONCE 256u

/* ------- what is to be logged ------- */

static const struct vm_range nowhere = { UINT64_MAX, 0 };

static bool has_aliases(struct memory *memory)
{
	for (size_t i = 0; i < memory->count; i++)
		if (mapping_at(memory, i)->region.common)
			return true;
	return false;
}

/*
 * The engine logs by the address that the guest uses: while memory is mapped
 * twice, that may be any.
 */
static void settle_range(struct vm *vm)
{
	struct vm_range range = vm->logged;

	vm->logged_generation = vm->memory->generation;
	vm->has_aliases = has_aliases(vm->memory);
	if (vm->has_aliases && range.first <= range.last)
		range = VM_EVERYWHERE;
	engine_log_range(vm->engine, range.first, range.last);
}

static unsigned kinds_wanted(const struct vm *vm, struct vm_range *range)
{
	unsigned kinds = 0;

	*range = nowhere;
	for (size_t i = 0; i < vm->observer_count; i++) {
		const struct vm_observer *observer = vm->observers[i];

		if (!observer->accesses)
			continue;
		kinds |= observer->accesses;
		if (observer->data.first < range->first)
			range->first = observer->data.first;
		if (observer->data.last > range->last)
			range->last = observer->data.last;
	}
	return kinds;
}

static void on_cpu_access(void *context, enum vm_access access,
			  guest_addr addr, unsigned size, uint64_t value);

/*
 * Code that logs goes on doing so when nobody wants it any more, to no avail:
 * somebody may soon again, and to translate it anew takes longer.
 */
int accesses_arrange(struct vm *vm, struct failure *why)
{
	unsigned kinds = kinds_wanted(vm, &vm->logged);
	unsigned now = engine_logs(vm->engine);
	int rc = 0;

	_Static_assert(VM_READS == ENGINE_LOG_READS &&
		       VM_WRITES == ENGINE_LOG_WRITES &&
		       VM_VALUES == ENGINE_LOG_VALUES, "kinds of accesses");
	if (kinds & ~now) {
		vm->cpu.must_replan = true;
		rc = engine_log(vm->engine, kinds | now, why);
	}
	vm->cpu.access = kinds ? on_cpu_access : NULL;
	vm->cpu.access_context = vm;
	settle_range(vm);
	return rc;
}

void accesses_begin(struct vm *vm)
{
	if (vm->logged_generation != vm->memory->generation &&
	    vm->logged.first <= vm->logged.last)
		settle_range(vm);
}

static guest_addr place_pc(const struct access_record *record)
{
	return (guest_addr)((int64_t)record->place >> PLACE_PC_AT);
}

/* ------- telling ------- */

static bool is_for(const struct vm_observer *observer,
		   const struct vm_access_told *access)
{
	return observer->accesses & (access->writes ? VM_WRITES : VM_READS) &&
	       access->addr <= observer->data.last &&
	       access->addr + access->size - 1 >= observer->data.first;
}

static void tell_one(const struct vm_observer *observer,
		     const struct vm_access_told *list, size_t count)
{
	size_t from = 0, to = 0;

	if (observer->data.first == 0 && observer->data.last == UINT64_MAX &&
	    !(VM_ALL & ~observer->accesses)) {
		observer->accessed(observer->context, list, count);
		return;
	}
	while (from < count) {
		while (from < count && !is_for(observer, &list[from]))
			from++;
		for (to = from; to < count && is_for(observer, &list[to]);)
			to++;
		if (to > from)
			observer->accessed(observer->context, list + from,
					   to - from);
		from = to;
	}
}

static void tell(struct vm *vm, const struct vm_access_told *list, size_t count)
{
	for (size_t i = 0; i < vm->observer_count; i++)
		if (vm->observers[i]->accesses)
			tell_one(vm->observers[i], list, count);
}

/* An instruction that the engine does not execute. */
static void on_cpu_access(void *context, enum vm_access access,
			  guest_addr addr, unsigned size, uint64_t value)
{
	struct vm *vm = context;
	const struct vm_access_told told = {
		.steps = vm->steps, .pc = vm_reg(vm, vm->cpu.regs->pc),
		.addr = memory_home(vm->memory, addr), .value = value,
		.size = (uint8_t)size, .writes = access == ACCESS_WRITE,
	};

	tell(vm, &told, 1);
}

/* `given`: steps when all that was given is used up. */
static void explain(const struct vm *vm, uint64_t given,
		    const struct access_record *record,
		    struct vm_access_told *out)
{
	unsigned size = 1u << (record->place & PLACE_SIZE);
	unsigned unused = 64 - 8 * size;

	out->steps = given - (uint64_t)budget_left(record->budget) -
		     (record->place & PLACE_LEFT_MASK) / PLACE_LEFT;
	out->pc = place_pc(record);
	out->addr = vm->has_aliases ? memory_home(vm->memory, record->addr) :
				      record->addr;
	out->value = record->value << unused >> unused;
	out->size = (uint8_t)size;
	out->writes = record->place & PLACE_WRITES;
}

void accesses_tell(struct vm *vm)
{
	struct vm_access_told list[TOLD_AT_ONCE];
	uint64_t given = vm->steps + (uint64_t)(vm->granted - vm->held);
	size_t count, told = 0;
	const struct access_record *records = engine_logged(vm->engine, &count);

	while (told < count) {
		size_t some = count - told < TOLD_AT_ONCE ? count - told :
							    TOLD_AT_ONCE;

		for (size_t i = 0; i < some; i++)
			explain(vm, given, &records[told + i], &list[i]);
		tell(vm, list, some);
		told += some;
	}
	if (count)
		engine_log_cut(vm->engine, 0);
}

void accesses_make_room(struct vm *vm)
{
	size_t count;

	engine_logged(vm->engine, &count);
	if (count >= ENGINE_LOGGED_STEPS)
		accesses_tell(vm);
}

/* ------- what did not take place ------- */

/* Of a repeated instruction, all but the last iteration did. */
void accesses_take_back(struct vm *vm, guest_addr pc)
{
	const struct counter *counter = engine_counter(vm->engine);
	const struct block *block = &vm->blocks[counter->current];
	const struct access_record *records;
	size_t count;

	if (!counter->current)
		return;
	records = engine_logged(vm->engine, &count);
	while (count) {
		const struct access_record *last = &records[count - 1];

		if (place_pc(last) != pc || budget_left(last->budget) !=
						    budget_left(counter->budget))
			break;
		count--;
		if (block->inlined.starts_rep)
			break;
	}
	engine_log_cut(vm->engine, count);
}
