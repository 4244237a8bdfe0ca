/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_rwlocks.c - see race_rwlocks.h */
#include "replayer/races/race_rwlocks.h"

#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"

/* The lock at `addr`, made if nobody knows it; NULL: no memory. */
static struct race_rwlock *find(struct race_rwlocks *locks, uint64_t addr)
{
	const uint64_t *number = number_map_find(&locks->numbers, addr);

	if (number)
		return &locks->list[*number];
	if (array_room(locks->list, locks->count, locks->room) ||
	    number_map_set(&locks->numbers, addr, locks->count))
		return NULL;
	locks->list[locks->count] = (struct race_rwlock) { 0 };
	return &locks->list[locks->count++];
}

int race_rwlocks_lock(struct race_rwlocks *locks,
		      struct race_detector *detector, uint32_t thread,
		      uint64_t addr, bool writes)
{
	const struct race_rwlock *lock = find(locks, addr);
	int rc;

	if (!lock)
		return ERR_NO_MEMORY;
	rc = race_detector_acquire(detector, thread, &lock->written);
	if (!rc && writes)
		rc = race_detector_acquire(detector, thread, &lock->read);
	return rc;
}

int race_rwlocks_unlock(struct race_rwlocks *locks,
			struct race_detector *detector, uint32_t thread,
			uint64_t addr, bool writes)
{
	struct race_rwlock *lock = find(locks, addr);

	if (!lock)
		return ERR_NO_MEMORY;
	return race_detector_publish(detector, thread, writes ?
				     &lock->written : &lock->read);
}

void race_rwlocks_clear(struct race_rwlocks *locks)
{
	for (size_t i = 0; i < locks->count; i++) {
		clock_release(&locks->list[i].read);
		clock_release(&locks->list[i].written);
	}
	locks->count = 0;
	number_map_clear(&locks->numbers);
}

void race_rwlocks_release(struct race_rwlocks *locks)
{
	race_rwlocks_clear(locks);
	number_map_release(&locks->numbers);
	free(locks->list);
	*locks = (struct race_rwlocks) { 0 };
}
