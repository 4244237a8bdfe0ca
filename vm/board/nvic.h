/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvic.h - what only a live ARMv7-M has of its interrupt controller: what is
 * pending and enabled, and the system timer
 *
 * What a replay needs, too, is in the processor (cortex_m.h); reads find it
 * there.
 *
 * Source: ARMv7-M Architecture Reference Manual, B3.2 to B3.4.
 *
 * Units:      ticks of the board.
 */
#ifndef CPREC_VM_BOARD_NVIC_H
#define CPREC_VM_BOARD_NVIC_H

#include <stdbool.h>
#include <stdint.h>

#include "vm/board/board.h"

struct state;

struct nvic {
	struct board *board;
	uint32_t cpuid;
	unsigned clock, reference;	/* ticks of one cycle of each clock */
	uint64_t pending;	/* exceptions, a bit each */
	uint64_t enabled;	/* the same; those below 16 always are */
	uint64_t lines;		/* interrupts that devices assert */
	bool wants_reset;

	/* The system timer. */
	uint32_t control, reload;
	uint64_t zero_at;	/* when it is 0 next */
	bool has_been_zero;
};

#define NVIC_BASE 0xe000e000u
#define NVIC_SIZE 0x1000u

/* `nvic` is zeroed; `clock` and `reference` follow from it. */
void nvic_init(struct nvic *nvic, struct board *board, uint32_t cpuid,
	       unsigned clock, unsigned reference);

uint64_t nvic_read(void *nvic, uint64_t offset, unsigned size);
void nvic_write(void *nvic, uint64_t offset, unsigned size, uint64_t value);

/* An interrupt, from 0 on; or the NMI. */
void nvic_set_line(struct nvic *nvic, unsigned number, bool up);
void nvic_raise_nmi(struct nvic *nvic);

/* Lines have changed, or time has passed. */
void nvic_sample(struct nvic *nvic);

/* As of struct live_kind, behind that. */
bool nvic_interrupts(struct nvic *nvic, unsigned *number);
void nvic_taken(struct nvic *nvic, unsigned number);
bool nvic_wakes(struct nvic *nvic);
uint64_t nvic_next(const struct nvic *nvic);

void nvic_state(struct nvic *nvic, struct state *state);

#endif
