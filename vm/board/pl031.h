/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pl031.h - the clock on the wall: PL031, which counts seconds
 *
 * It has no alarm.  Source: PrimeCell Real Time Clock (PL031), revision r1p3
 * (DDI 0224C), chapter 3.
 */
#ifndef CPREC_VM_BOARD_PL031_H
#define CPREC_VM_BOARD_PL031_H

#include <stdint.h>

struct pl031 {
	uint64_t offset;	/* to the machine's own seconds */
	uint32_t match, load;
	uint64_t (*seconds)(const void *context);
	const void *context;
};

/* `seconds` are those since the machine began, when it was `start`. */
void pl031_init(struct pl031 *clock, uint64_t start,
		uint64_t (*seconds)(const void *context), const void *context);

/* It said so, to who recorded it. */
void pl031_follow(struct pl031 *clock, uint64_t seconds);

struct state;
void pl031_state(struct pl031 *clock, struct state *state);

uint64_t pl031_read(void *clock, uint64_t offset, unsigned size);
void pl031_write(void *clock, uint64_t offset, unsigned size, uint64_t value);

#endif
