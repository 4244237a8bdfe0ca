/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_rwlocks.h - what locks order that many may hold for reading
 *
 * Who holds one for reading comes after all that held it for writing before;
 * who holds it for writing, after all that held it.  Two that hold it for
 * reading are not ordered, whoever of them was first: what the words of the
 * lock say about that is an accident.
 *
 * Source: POSIX.1-2017, pthread_rwlock_rdlock(), pthread_rwlock_unlock().
 *
 * Units:      a lock is known by its address.
 * Ownership:  race_rwlocks_release() frees; a zeroed structure is an empty one.
 * Errors:     ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_RACES_RACE_RWLOCKS_H
#define CPREC_REPLAYER_RACES_RACE_RWLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/number_map.h"
#include "replayer/races/race_detector.h"

struct race_rwlock {
	struct clock read;	/* what those knew that held it for reading */
	struct clock written;
};

struct race_rwlocks {
	struct number_map numbers;	/* from addresses to the list */
	struct race_rwlock *list;
	size_t count, room;
};

/* `thread` has the lock at `addr` now; or lets go of it. */
int race_rwlocks_lock(struct race_rwlocks *locks,
		      struct race_detector *detector, uint32_t thread,
		      uint64_t addr, bool writes);
int race_rwlocks_unlock(struct race_rwlocks *locks,
			struct race_detector *detector, uint32_t thread,
			uint64_t addr, bool writes);

/* Nobody has held any. */
void race_rwlocks_clear(struct race_rwlocks *locks);

void race_rwlocks_release(struct race_rwlocks *locks);

#endif
