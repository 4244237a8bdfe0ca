/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accesses.c - telling of accesses to data
 *
 * Translated code logs them (vm/engine/build/accesses.c) with the budget that
 * its block has left: that tells when they took place.  So that the log never
 * overflows, a run gets its budget in portions, and the log is told and cut at
 * the end of each.
 */
#include <string.h>

#include "vm/processor/processor.h"

/* So many are told at once. */
#define TOLD_AT_ONCE 256u

/* ------- what is to be logged ------- */

/* Ranges that are as near are taken for one: to look at two takes longer. */
#define NEAR 256u

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
static void settle_ranges(struct vm *vm)
{
	vm->logged_generation = vm->memory->generation;
	vm->has_aliases = has_aliases(vm->memory);
	for (unsigned i = 0; i < LOG_RANGES; i++) {
		struct vm_range range = { UINT64_MAX, 0 };

		if (i < vm->logged_count)
			range = vm->has_aliases ? VM_EVERYWHERE : vm->logged[i];
		engine_log_range(vm->engine, i, range.first, range.last);
	}
}

static uint64_t gap_behind(const struct vm_range *range)
{
	return range[1].first > range->last ? range[1].first - range->last : 0;
}

/* Joins one of a rising list with the next. */
static void join(struct vm_range *list, unsigned *count, unsigned at)
{
	if (list[at + 1].last > list[at].last)
		list[at].last = list[at + 1].last;
	for (at++; at + 1 < *count; at++)
		list[at] = list[at + 1];
	--*count;
}

/* Adds one to a list that has room for one more than it is to have. */
static void add_range(struct vm_range *list, unsigned *count,
		      const struct vm_range *range)
{
	unsigned at = *count, nearest = 0;

	for (; at && list[at - 1].first > range->first; at--)
		list[at] = list[at - 1];
	list[at] = *range;
	++*count;
	for (unsigned i = 1; i + 1 < *count; i++)
		if (gap_behind(&list[i]) < gap_behind(&list[nearest]))
			nearest = i;
	if (*count > 1 && (*count > LOG_RANGES ||
			   gap_behind(&list[nearest]) <= NEAR))
		join(list, count, nearest);
}

static unsigned kinds_wanted(struct vm *vm)
{
	struct vm_range list[LOG_RANGES + 1];
	unsigned kinds = 0, count = 0;

	for (size_t i = 0; i < vm->observer_count; i++) {
		const struct vm_observer *observer = vm->observers[i];

		if (!observer->accesses)
			continue;
		kinds |= observer->accesses;
		for (size_t part = 0; part < observer->part_count; part++)
			add_range(list, &count, &observer->parts[part]);
		if (!observer->parts &&
		    observer->data.first <= observer->data.last)
			add_range(list, &count, &observer->data);
	}
	memcpy(vm->logged, list, count * sizeof(*list));
	vm->logged_count = count;
	return kinds | (count > 1 ? ENGINE_LOG_SEVERAL : 0);
}

static void on_cpu_access(void *context, enum vm_access access,
			  guest_addr addr, unsigned size, uint64_t value);

/*
 * Code that logs goes on doing so when nobody wants it any more, to no avail:
 * somebody may soon again, and to translate it anew takes longer.
 */
int accesses_arrange(struct vm *vm, struct failure *why)
{
	unsigned kinds = kinds_wanted(vm);
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
	settle_ranges(vm);
	return rc;
}

void accesses_begin(struct vm *vm)
{
	if (vm->logged_generation != vm->memory->generation &&
	    vm->logged_count)
		settle_ranges(vm);
}

static guest_addr place_pc(const struct vm *vm,
			   const struct access_record *record)
{
	return vm->cpu.arch->has_wide_code ?
		       record->place >> PLACE_PC_AT :
		       (guest_addr)((int64_t)record->place >> PLACE_PC_AT);
}

/* ------- telling ------- */

static void tell(struct vm *vm, const struct vm_access_told *list, size_t count)
{
	for (size_t i = 0; i < vm->observer_count; i++)
		if (vm->observers[i]->accesses)
			vm_observer_tell(vm->observers[i], list, count);
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
static uint64_t steps_of(uint64_t given, const struct access_record *record)
{
	return given - (uint64_t)budget_left(record->budget) -
	       (record->place & PLACE_LEFT_MASK) / PLACE_LEFT;
}

static void explain(const struct vm *vm, uint64_t given,
		    const struct access_record *record,
		    struct vm_access_told *out)
{
	unsigned size = 1u << (record->place & PLACE_SIZE);
	unsigned unused = 64 - 8 * size;

	out->steps = steps_of(given, record);
	out->pc = place_pc(vm, record);
	out->addr = vm->has_aliases ? memory_home(vm->memory, record->addr) :
				      record->addr;
	out->value = record->value << unused >> unused;
	out->size = (uint8_t)size;
	out->writes = record->place & PLACE_WRITES;
}

/* If there is one who is told of accesses, and wants one of each line. */
static const struct line_epochs *epochs_wanted(const struct vm *vm)
{
	const struct line_epochs *epochs = NULL;
	unsigned count = 0;

	for (size_t i = 0; i < vm->observer_count; i++) {
		if (!vm->observers[i]->accesses)
			continue;
		epochs = vm->observers[i]->epochs;
		count++;
	}
	return count == 1 ? epochs : NULL;
}

static bool is_wanted(const struct line_epochs *epochs, uint64_t given,
		      struct lines_seen *seen,
		      const struct access_record *record)
{
	return !epochs || !lines_seen(seen, record->addr,
				      1u << (record->place & PLACE_SIZE),
				      record->place & PLACE_WRITES,
				      (steps_of(given, record) -
				       epochs->start) >> epochs->shift);
}

void accesses_tell(struct vm *vm)
{
	struct vm_access_told list[TOLD_AT_ONCE];
	uint64_t given = vm->steps + (uint64_t)(vm->granted - vm->held);
	const struct line_epochs *epochs = epochs_wanted(vm);
	size_t count, some = 0;
	const struct access_record *records = engine_logged(vm->engine, &count);
	struct lines_seen seen;

	if (epochs && count)
		seen = (struct lines_seen){ 0 };
	for (size_t i = 0; i < count; i++) {
		if (is_wanted(epochs, given, &seen, &records[i]))
			explain(vm, given, &records[i], &list[some++]);
		if (some < TOLD_AT_ONCE && i + 1 < count)
			continue;
		if (some)
			tell(vm, list, some);
		some = 0;
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

		if (place_pc(vm, last) != pc ||
		    budget_left(last->budget) != budget_left(counter->budget))
			break;
		count--;
		if (block->inlined.starts_rep)
			break;
	}
	engine_log_cut(vm->engine, count);
}
