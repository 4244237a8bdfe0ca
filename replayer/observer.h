/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * observer.h - who learns what a replay executes
 *
 * Observers are told of what is executed while they are there, on the way of
 * whatever call that is, and of nothing that a jump to a key frame leaves out.
 * The functions are called while the replayer runs: they may look at registers
 * and memory (replayer_vm()), but not move it, nor add and remove observers.
 *
 * Units:      times are retired instructions of the recording.
 * Ownership:  an observer is the caller's, until it is removed.
 * Errors:     ERR_NO_MEMORY, ERR_SYSTEM.
 */
#ifndef CPREC_REPLAYER_OBSERVER_H
#define CPREC_REPLAYER_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/packet.h"
#include "replayer/recording/recording.h"
#include "vm/vm.h"

struct failure;
struct page_tables;
struct replayer;
struct script_effect;

/* Something that happens to the thread whose turn it is. */
struct replay_event {
	const struct packet *packet;
	const struct script_effect *effects;	/* see replay_event_effect() */
	size_t count;
};

/* One of the packets that say what the event changes. */
const struct packet *replay_event_effect(const struct replay_event *event,
					 size_t number);

struct replay_observer {
	/* Instructions and accesses: see vm.h. */
	struct vm_observer guest;

	/* All may be NULL.  An event is about to take effect; it has. */
	void (*event)(void *context, const struct replay_event *event);
	void (*event_done)(void *context, const struct replay_event *event);

	/* Another thread gets the turn: before and after. */
	void (*turn)(void *context, bool after);

	/* The program wrote to its standard output (1) or error output (2). */
	void (*output)(void *context, int stream, const uint8_t *bytes,
		       size_t size);

	/* Of a machine, if accesses are told, too: from this time on the core
	 * whose turn it is has these page tables, by an instruction. */
	void (*tables)(void *context, uint64_t time,
		       const struct page_tables *tables);

	void *context;		/* of these five */
};

/*
 * The position at which the replayer stands while observers are told of
 * something; in `event`, before the event.
 */
struct position replayer_now(const struct replayer *replayer);

int replayer_observe(struct replayer *replayer,
		     const struct replay_observer *observer,
		     struct failure *why);

/* One that is not there does no harm. */
void replayer_unobserve(struct replayer *replayer,
			const struct replay_observer *observer);

#endif
