/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_guest.h - the guest's words, calls of functions and structures
 *
 * All that depends on its architecture, for those who look at what its C
 * library is called with and keeps in memory.
 *
 * Source: the calling conventions are those of formats/registers.h and
 * stacks.h; glibc's pthread_rwlock_t and struct _IO_FILE, which are part of its
 * binary interface, and its struct _IO_wide_data.
 *
 * Ownership:  plain data; the replay is borrowed.
 * Errors:     none: what cannot be seen is 0.
 */
#ifndef CPREC_REPLAYER_RACES_RACE_GUEST_H
#define CPREC_REPLAYER_RACES_RACE_GUEST_H

#include <stdbool.h>
#include <stdint.h>

struct race_replay;

/* Where parts of glibc's structures are, and how long they are at most. */
struct race_layout {
	uint16_t lock_writer;	/* in a pthread_rwlock_t: who writes */
	uint16_t file_size;	/* of a stream, with the pointer to its
				   functions */
	uint16_t file_buffer;	/* begin and end, a word each */
	uint16_t file_lock, file_lock_size;
	uint16_t file_wide, file_wide_size;
};

const struct race_layout *race_layout(const struct race_replay *replay);

/* Bytes of a word of the guest's, as an address has. */
unsigned race_word_size(const struct race_replay *replay);

/* Reads one; false if it cannot be seen. */
bool race_read_word(struct race_replay *replay, uint64_t addr, uint64_t *out);

/* At the first instruction of a function: its arguments, from 0 on. */
uint64_t race_argument(struct race_replay *replay, unsigned index);

/* The same: where it returns to. */
uint64_t race_return_address(struct race_replay *replay);

/* Whether calls leave that in a register, and the stack pointer as it is. */
bool race_has_link(const struct race_replay *replay);

/* Whether the instruction at `pc` returns. */
bool race_returns(struct race_replay *replay, uint64_t pc);

/* Whether it jumps to a place that it names. */
bool race_jumps(struct race_replay *replay, uint64_t pc);

/*
 * Where code at `pc` leads to that jumps where a word says, as that does which
 * chooses memcpy() and the like in a program that is one file; else `pc`.
 */
uint64_t race_behind_stub(struct race_replay *replay, uint64_t pc);

#endif
