/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_internal.h - for the files that make up race_replay.h
 *
 * race_replay.c replays and follows instructions and their accesses;
 * race_kernel.c knows what system calls do, race_library.c what the C
 * library's functions do, race_served.c for whom they do it; race_watch.c says
 * which instructions are told.
 */
#ifndef CPREC_REPLAYER_RACES_RACE_INTERNAL_H
#define CPREC_REPLAYER_RACES_RACE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/registers.h"
#include "replayer/races/race_guest.h"
#include "replayer/races/race_replay.h"
#include "vm/vm.h"

/* ------- race_replay.c ------- */

/* Keeps the first failure. */
static inline void race_note(struct race_replay *replay, int rc)
{
	if (rc && !replay->error)
		replay->error = rc;
}

/* The stream of the thread whose turn it is, and what is known of it. */
static inline uint32_t race_stream(const struct race_replay *replay)
{
	return replay->stream;
}

static inline struct race_thread *race_present(struct race_replay *replay)
{
	return &replay->threads[replay->stream];
}

/* Whatever the replayer tells begins with this. */
static inline void race_turn(struct race_replay *replay)
{
	replay->stream = replayer_stream(replay->rep);
}

static inline struct vm *race_vm(const struct race_replay *replay)
{
	return replay->vm;
}

struct memory *race_memory(struct race_replay *replay);

uint64_t race_reg(struct race_replay *replay, unsigned reg);

/* The guest's registers, and what is where in them. */
const struct reg_table *race_regs(const struct race_replay *replay);

/* Copies what memory holds; false if it cannot be seen. */
bool race_peek(struct race_replay *replay, uint64_t addr, void *out,
	       size_t size);

/* The thread is about to execute what is at `pc`. */
void race_follow(struct race_replay *replay, uint64_t pc);

/* The present thread accesses memory; not by an instruction. */
void race_access_memory(struct race_replay *replay, uint64_t addr,
			uint64_t size, bool writes);

/* Other memory is there now. */
void race_forget(struct race_replay *replay, uint64_t addr, uint64_t size);

/* ------- race_kernel.c ------- */

void race_kernel_begin(struct race_replay *replay);
void race_kernel_enter(struct race_replay *replay);
void race_kernel_event(void *context, const struct replay_event *event);

/* ------- race_served.c ------- */

/*
 * The thread comes to a library of the system, at `pc`: it is called, or what
 * the library has called returns.  Also finds the place in the program.
 */
void race_served_enter(struct race_replay *replay, uint64_t pc,
		       enum race_home home);

/* Its caller goes on: calls of the library may have ended. */
void race_served_end(struct race_replay *replay);

/* Whether the program gets what memory the library asks for now. */
bool race_served_gives(struct race_replay *replay);

/* Whether what the library does at `addr` now, it does for its caller. */
bool race_serves(struct race_replay *replay, uint64_t addr);

/* ------- race_library.c ------- */

int race_library_start(struct race_replay *replay);

/* The present thread's descriptor, which its stack is below. */
struct race_descriptor race_library_descriptor(struct race_replay *replay);

/* Between the program and its system, or where a call of it returns to. */
void race_library_step(struct race_replay *replay, uint64_t pc,
		       bool is_program);

void race_library_call(struct race_replay *replay, enum race_role role);

/* The thread is about to call a function that takes memory back. */
void race_library_give_back(struct race_replay *replay);

/* Forgets the stack on which a thread begins that is about to be made. */
void race_library_clones(struct race_replay *replay, bool is_in_memory);

/* What is mapped there changes. */
void race_library_change(struct race_replay *replay, uint64_t addr,
			 uint64_t size);

#endif
