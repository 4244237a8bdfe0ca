/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accesses.c - telling of accesses to data
 *
 * Translated code logs all of them (vm/engine/build/accesses.c), with the
 * budget that its block has left: that tells when they took place.  So that the
 * log never overflows, a run gets its budget in portions, and the log is looked
 * through at the end of each, for what is to be told.
 */
#include <string.h>

#include "vm/processor/processor.h"

/* So many are told at once. */
#define TOLD_AT_ONCE 256u

/* ------- what is to be logged ------- */

/* Ranges that are as near are taken for one: to look for two takes longer. */
#define NEAR 256u

static bool has_aliases(struct memory *memory)
{
	for (size_t i = 0; i < memory->count; i++)
		if (mapping_at(memory, i)->region.common)
			return true;
	return false;
}

static void settle_aliases(struct vm *vm)
{
	vm->logged_generation = vm->memory->generation;
	vm->has_aliases = has_aliases(vm->memory);
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
	vm->logged_kinds = kinds;
	vm->logged_count = count;
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
	settle_aliases(vm);
	return rc;
}

void accesses_begin(struct vm *vm)
{
	if (vm->logged_generation != vm->memory->generation &&
	    vm->logged_count)
		settle_aliases(vm);
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

/* Who is told of accesses, if it is one alone. */
static const struct vm_observer *only_one(const struct vm *vm)
{
	const struct vm_observer *one = NULL;
	unsigned count = 0;

	for (size_t i = 0; i < vm->observer_count; i++) {
		if (!vm->observers[i]->accesses)
			continue;
		one = vm->observers[i];
		count++;
	}
	return count == 1 ? one : NULL;
}

/* What is to be told, and what is known so far. */
struct telling {
	struct vm *vm;
	const struct vm_observer *one;	/* for it alone: no others are told */
	struct log_reader reader;
	uint64_t given;		/* steps when all that was given is used up */
	struct vm_range range;	/* nothing beyond it is told */
	unsigned kinds;
	size_t count;
	struct vm_access_told list[TOLD_AT_ONCE + LOG_PIECE_MOST + 1];
};

/* 1, or 0; cleans the address. */
static unsigned is_wanted(const struct telling *telling,
			  const struct access_site *site,
			  struct vm_access_told *told)
{
	unsigned kind = site->writes ? VM_WRITES : VM_READS;
	unsigned is_kind = (telling->kinds & kind) != 0, begins, ends;

	told->addr = log_addr(&telling->reader, &told->addr);
	begins = told->addr <= telling->range.last;
	ends = told->addr + site->size - 1 >= telling->range.first;
	return is_kind & begins & ends;
}

/* A site begins as what is told of it does: both are copied as one. */
_Static_assert(offsetof(struct access_site, pc) ==
		       offsetof(struct vm_access_told, pc) &&
	       offsetof(struct access_site, size) ==
		       offsetof(struct vm_access_told, size) &&
	       offsetof(struct access_site, writes) ==
		       offsetof(struct vm_access_told, writes), "a site");

/* Compiled for each of what it is told last, which does not change. */
#define FOR_EACH_WAY static inline __attribute__((always_inline))

/*
 * Writes down one access behind those that are to be told.  If it is not wanted
 * the next one takes its place: nobody could foresee where a branch leads.
 */
FOR_EACH_WAY void explain(struct vm_access_told *told, uint64_t last,
			  const struct access_site *site,
			  const uint64_t *words, bool has_values)
{
	/* What is not wanted may have any size. */
	unsigned unused = (64 - 8u * site->size) % 64;

	memcpy(told, site, sizeof(*site));
	told->steps = last - site->left;
	told->addr = *words;
	if (has_values)
		told->value = words[1] << unused >> unused;
}

/* `all` are wanted; else the range and kinds say which. */
FOR_EACH_WAY struct vm_access_told *
look_at(const struct telling *telling, const struct logged *piece,
	struct vm_access_told *told, bool all, bool has_values)
{
	const unsigned step = has_values ? 2 : 1;
	uint64_t last = telling->given - (uint64_t)budget_left(piece->budget);
	const struct access_site *site = piece->sites;
	const uint64_t *words = piece->words;
	int count = (int)piece->count;

	/* Two at a time: of the last one, the second is something else. */
	for (; count > 0; count -= 2, site += 2, words += 2 * step) {
		explain(told, last, site, words, has_values);
		told += all ? 1 : is_wanted(telling, site, told);
		explain(told, last, site + 1, words + step, has_values);
		if (!all)
			told += is_wanted(telling, site + 1, told) &
				(unsigned)(count > 1);
		else
			told += count > 1;
	}
	return told;
}

/* Of the words of each line and epoch, one is all that must be told. */
FOR_EACH_WAY struct vm_access_told *
look_for_lines(const struct telling *telling, const struct logged *piece,
	       struct vm_access_told *told, struct lines_seen *seen, bool all,
	       bool has_values)
{
	const struct line_epochs *epochs = telling->one->epochs;
	uint64_t last = telling->given - (uint64_t)budget_left(piece->budget);
	const struct access_site *site = piece->sites;
	const uint64_t *words = piece->words, step = has_values ? 2 : 1;

	for (unsigned i = 0; i < piece->count; i++, site++, words += step) {
		guest_addr addr = *words;

		if (!all && telling->vm->has_aliases)
			addr = memory_home(telling->vm->memory,
					   log_addr(&telling->reader, words));
		else if (!all)
			addr = log_addr(&telling->reader, words);
		/* Most are like one before. */
		if (lines_seen(seen, addr, site->size, site->writes,
			       (last - site->left - epochs->start) >>
				       epochs->shift))
			continue;
		explain(told, last, site, words, has_values);
		told->addr = addr;
		told += all ? 1 : is_wanted(telling, site, told);
	}
	return told;
}

/* Memory is mapped twice: what was accessed may have another address. */
static void find_homes(struct telling *telling)
{
	for (size_t i = 0; i < telling->count; i++)
		telling->list[i].addr = memory_home(telling->vm->memory,
						    telling->list[i].addr);
}

static void tell_list(struct telling *telling)
{
	const struct vm_observer *one = telling->one;

	if (telling->vm->has_aliases)
		find_homes(telling);
	if (one && !one->parts && !telling->vm->has_aliases)
		one->accessed(one->context, telling->list, telling->count);
	else
		tell(telling->vm, telling->list, telling->count);
}

/* Whether all that is logged is wanted. */
static bool are_all_wanted(const struct telling *telling)
{
	return !(engine_logs(telling->vm->engine) & VM_ALL & ~telling->kinds) &&
	       telling->range.first == 0 && telling->range.last == UINT64_MAX &&
	       !telling->reader.tag_bits;
}

static void tell_up_to(struct telling *telling,
		       const struct vm_access_told *end)
{
	telling->count = (size_t)(end - telling->list);
	if (telling->count)
		tell_list(telling);
}

/* `seen`: of each line and epoch, one is enough; NULL: `all`, or what is
 * wanted. */
FOR_EACH_WAY void look_through(struct telling *telling, struct lines_seen *seen,
			       bool all, bool has_values)
{
	struct vm_access_told *told = telling->list;
	struct log_reader reader = telling->reader;
	struct logged piece;

	while (log_next(&reader, &piece)) {
		told = seen ? look_for_lines(telling, &piece, told, seen, all,
					     has_values) :
			      look_at(telling, &piece, told, all, has_values);
		if (told < telling->list + TOLD_AT_ONCE)
			continue;
		tell_up_to(telling, told);
		told = telling->list;
	}
	tell_up_to(telling, told);
}

static void look_through_for_lines(struct telling *telling)
{
	struct lines_seen seen = { 0 };
	bool has_values = telling->reader.words > 1;

	if (are_all_wanted(telling) && !telling->vm->has_aliases)
		look_through(telling, &seen, true, has_values);
	else
		look_through(telling, &seen, false, has_values);
}

static void tell_wanted(struct telling *telling)
{
	bool has_values = telling->reader.words > 1;

	if (telling->one && telling->one->epochs)
		look_through_for_lines(telling);
	else if (!are_all_wanted(telling))
		look_through(telling, NULL, false, has_values);
	else if (has_values)
		look_through(telling, NULL, true, true);
	else
		look_through(telling, NULL, true, false);
}

/* Whether something that was logged may be wanted. */
static bool may_have_wanted(const struct vm *vm)
{
	const uint64_t most = sizeof(uint64_t) - 1;
	bool may = vm->has_aliases && vm->logged_count;

	for (unsigned i = 0; i < vm->logged_count && !may; i++) {
		const struct vm_range *range = &vm->logged[i];
		/* An access that begins before it may reach into it. */
		guest_addr first = range->first < most ? 0 :
							 range->first - most;
		uint64_t span = range->last - first;

		may = span == UINT64_MAX ||
		      engine_log_may_have(vm->engine, first, span + 1);
	}
	return may;
}

void accesses_tell(struct vm *vm)
{
	struct telling telling;

	if (!engine_logs(vm->engine))
		return;
	if (may_have_wanted(vm)) {
		telling.vm = vm;
		telling.one = only_one(vm);
		engine_log_read(vm->engine, &telling.reader);
		telling.given = vm->steps + (uint64_t)(vm->granted - vm->held);
		telling.range = (struct vm_range){
			vm->logged[0].first,
			vm->logged[vm->logged_count - 1].last,
		};
		if (vm->has_aliases)
			telling.range = VM_EVERYWHERE;
		telling.kinds = vm->logged_kinds;
		tell_wanted(&telling);
	}
	engine_log_clear(vm->engine);
}

void accesses_iterate(struct vm *vm)
{
	if (engine_log_is_full(vm->engine))
		accesses_tell(vm);
	engine_log_mark(vm->engine);
}

/* ------- what did not take place ------- */

/* Of a repeated instruction, all but the last iteration did. */
void accesses_take_back(struct vm *vm, guest_addr pc)
{
	const struct counter *counter = engine_counter(vm->engine);
	const struct block *block = &vm->blocks[counter->current];
	unsigned left;

	if (!counter->current || !engine_logs(vm->engine))
		return;
	left = block->inlined.count - block_index_of(vm, block, pc);
	if (block->inlined.starts_rep)
		engine_log_return(vm->engine);
	else if (left)
		engine_log_take_back(vm->engine,
				     budget_left(counter->budget) + left);
}
