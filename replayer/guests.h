/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guests.h - what a replayer does with programs in one way, with machines in
 * another
 *
 * All that goes to positions, runs until something happens, forwards or
 * backwards, and tells observers, is the same for both.
 *
 * Units, errors: those of replayer.h.
 */
#ifndef CPREC_REPLAYER_GUESTS_H
#define CPREC_REPLAYER_GUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/replayer.h"

struct output;

struct guest {
	int (*make)(struct replayer *rep, struct failure *why);
	void (*end)(struct replayer *rep);

	/* As replayer_go(). */
	int (*go)(struct replayer *rep, const struct segment_position *to,
		  struct failure *why);
	int (*seek_in)(struct replayer *rep, size_t segment, uint64_t t,
		       struct failure *why);
	struct position (*now)(const struct replayer *rep);
	uint64_t (*time)(const struct replayer *rep);

	/* As stored_point_encode(). */
	int (*encode_point)(struct replayer *rep, struct segment_position *at,
			    struct output *out, struct failure *why);

	/* Start points in memory may take less than before.  NULL: it has none
	 * of its own. */
	void (*trim_points)(struct replayer *rep);

	/* It runs, and is to stop soon. */
	void (*interrupt)(struct replayer *rep);

	uint64_t (*reg)(struct replayer *rep, unsigned reg);
	void (*registers)(struct replayer *rep, struct reg_file *out);
	int (*of_thread)(struct replayer *rep, uint32_t stream,
			 struct reg_file *out, struct failure *why);

	/* As in replayer.h. */
	int (*read)(struct replayer *rep, uint64_t addr, uint8_t *bytes,
		    uint8_t *known, size_t size, struct failure *why);
	bool (*peek)(struct replayer *rep, uint64_t addr, uint8_t *bytes,
		     size_t size);
	guest_addr (*home)(struct replayer *rep, guest_addr addr);
	guest_addr (*address)(struct replayer *rep, guest_addr home);
	void (*use_space)(struct replayer *rep,
			  const struct address_space *space);

	int (*break_set)(struct replayer *rep, guest_addr pc,
			 struct failure *why);
	void (*break_clear)(struct replayer *rep, guest_addr pc);
	bool (*break_is_set)(const struct replayer *rep, guest_addr pc);
	int (*observe)(struct replayer *rep, const struct vm_observer *observer,
		       struct failure *why);
	void (*unobserve)(struct replayer *rep,
			  const struct vm_observer *observer);

	void (*instruction)(struct replayer *rep, guest_addr pc,
			    const uint8_t *code, size_t size,
			    enum vm_syntax syntax, struct vm_instruction *out);
};

extern const struct guest guest_program, guest_machine;

#endif
