/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_watch.c - see race_watch.h */
#include "replayer/races/race_watch.h"

#include "replayer/races/race_internal.h"

/*
 * Added to the part of instructions that are told each: so that the one behind
 * them is told, too, when what they have accessed is known.
 */
#define PART_SINGLE 0x40u

/* Bytes of code that are followed at once: most values live for so long. */
#define FOLLOWED 32u

static bool is_single(struct race_replay *replay, uint64_t pc)
{
	const struct race_watch *watch = &replay->watch;

	if (replay->is_first)
		return !replay->collects && race_atomics_knows(replay, pc);
	return number_map_find(&watch->loads, pc) ||
	       number_map_find(&watch->followed, pc / FOLLOWED);
}

static bool is_call_or_return(struct race_replay *replay, uint64_t pc,
			      enum race_home home)
{
	return ((home == HOME_C_LIBRARY || home == HOME_RUNTIME) &&
		race_role_of(&replay->roles, pc) != ROLE_NONE) ||
	       number_map_find(&replay->watch.returns, pc);
}

unsigned race_watch_part(void *context, uint64_t pc)
{
	struct race_replay *replay = context;
	enum race_home home = race_home_of(&replay->homes, pc);
	unsigned part = (unsigned)home + 1;

	if (is_single(replay, pc))
		return part | PART_SINGLE | VM_PART_TOLD;
	return is_call_or_return(replay, pc, home) ? part | VM_PART_TOLD : part;
}

unsigned race_watch_given_back(void *context, uint64_t pc)
{
	const struct race_replay *replay = context;

	return race_role_takes_back(race_role_of(&replay->roles, pc)) ?
		       VM_PART_TOLD : 0;
}

static bool add(struct race_replay *replay, struct number_map *map,
		uint64_t key)
{
	if (number_map_find(map, key))
		return false;
	race_note(replay, number_map_set(map, key, 0));
	return true;
}

void race_watch_return(struct race_replay *replay, uint64_t back)
{
	if (race_home_of(&replay->homes, back) == race_present(replay)->home &&
	    add(replay, &replay->watch.returns, back))
		vm_replan(race_vm(replay), back, 1);
}

void race_watch_load(struct race_replay *replay, uint64_t pc)
{
	if (add(replay, &replay->watch.loads, pc) && !replay->is_first)
		vm_replan(race_vm(replay), pc, 1);
}

bool race_watch_follows(struct race_replay *replay, uint64_t pc)
{
	if (number_map_find(&replay->watch.loads, pc) ||
	    !add(replay, &replay->watch.followed, pc / FOLLOWED))
		return true;
	vm_replan(race_vm(replay), pc / FOLLOWED * FOLLOWED, FOLLOWED);
	return false;
}

void race_watch_release(struct race_watch *watch)
{
	number_map_release(&watch->returns);
	number_map_release(&watch->loads);
	number_map_release(&watch->followed);
}
