/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * semihosting.h - what programs of ARMv7-M ask of who debugs them: BKPT 0xab
 *
 * Standard input and output are the machine's console; files are the host's, as
 * QEMU has it.  The results are recorded.
 *
 * Source: Semihosting for AArch32 and AArch64, release 2.0.
 *
 * Ownership:  semihosting_release() closes what is open.
 */
#ifndef CPREC_VM_BOARD_SEMIHOSTING_H
#define CPREC_VM_BOARD_SEMIHOSTING_H

#include <stdint.h>

#include "vm/board/board.h"

struct live_answer;
struct state;

#define SEMIHOSTING_FILES 32u
#define SEMIHOSTING_TYPED 256u
#define SEMIHOSTING_ROOM 4096u
#define SEMIHOSTING_NAME 1024u
#define SEMIHOSTING_ARGUMENTS 4096u

/* One that a program has open.  In a machine that goes on from a recording, it
 * is opened where it is first used. */
struct semihosting_file {
	bool is_open;
	int file;		/* or -1 */
	uint32_t mode;
	uint64_t at;		/* where it is read or written next */
	char name[SEMIHOSTING_NAME];
};

struct semihosting {
	const struct board *board;
	char command_line[SEMIHOSTING_ARGUMENTS];

	/* As of struct virt_options: what is written to the console. */
	void (*said)(void *context, uint64_t addr, const uint8_t *bytes,
		     size_t size);
	void *context;

	uint64_t clock;		/* seconds since 1970, at the start */
	uint64_t heap, heap_end, stack, stack_end;	/* for programs */
	struct semihosting_file files[SEMIHOSTING_FILES];	/* by handles */
	uint32_t error;		/* of the call before */
	uint32_t features_at;	/* how much was read of what is offered */
	uint8_t typed[SEMIHOSTING_TYPED];
	size_t typed_count;
	uint8_t bytes[SEMIHOSTING_ROOM];	/* of the answer */
};

void semihosting_init(struct semihosting *semihosting);
void semihosting_release(struct semihosting *semihosting);

size_t semihosting_room(const struct semihosting *semihosting);
void semihosting_type(struct semihosting *semihosting, const uint8_t *bytes,
		      size_t count);

/* At most so many of what was typed; 0: there is nothing. */
size_t semihosting_take(struct semihosting *semihosting, uint8_t *out,
			size_t most);

/* As of struct live_kind. */
void semihosting_call(struct semihosting *semihosting, bool closed,
		      struct live_answer *answer);

/* What a call with this result has made of files; nothing is done. */
void semihosting_follow(struct semihosting *semihosting, uint32_t result);
void semihosting_state(struct semihosting *semihosting, struct state *state);

#endif
