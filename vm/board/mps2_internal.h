/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mps2_internal.h - Arm's MPS2 boards as their own files see them
 *
 * mps2.c makes one and is a live machine; mps2_follow.c has its devices follow
 * a recording.
 */
#ifndef CPREC_VM_BOARD_MPS2_INTERNAL_H
#define CPREC_VM_BOARD_MPS2_INTERNAL_H

#include "vm/board/cmsdk.h"
#include "vm/board/device_file.h"
#include "vm/board/firmware.h"
#include "vm/board/live.h"
#include "vm/board/nvic.h"
#include "vm/board/semihosting.h"

#define MPS2_UARTS 5u
#define MPS2_TIMERS 2u
#define MPS2_GPIOS 4u
#define MPS2_TOLD_MOST 256u

struct mps2 {
	const struct mps2_board *kind;
	struct live_options options;
	struct board *board;
	struct firmware firmware;
	struct device_registers registers;
	struct semihosting semihosting;
	struct nvic nvic;
	struct cmsdk_uart uarts[MPS2_UARTS];
	struct cmsdk_timer timers[MPS2_TIMERS];
	struct cmsdk_dual dual;
	struct cmsdk_watchdog dog;
	struct cmsdk_gpio gpios[MPS2_GPIOS];
	uint32_t leds, switches, misc, prescale;	/* of the FPGA */
	uint64_t told[MPS2_TOLD_MOST];	/* addresses that nothing is at */
	unsigned told_count;
	struct region *regions;
	size_t region_count, region_room;
	uint64_t followed_at;	/* steps at the block that a device was
				   last accessed in */
};

/* What is at an address answers, or is told; false: nothing is. */
bool mps2_read_device(struct mps2 *mps2, uint64_t addr, unsigned size,
		      uint64_t *value);
bool mps2_write_device(struct mps2 *mps2, uint64_t addr, unsigned size,
		       uint64_t value);

/* The UART that is at an address, or that interrupts with this exception for a
 * byte; NULL: none is. */
struct cmsdk_uart *mps2_uart(struct mps2 *mps2, uint64_t addr);
struct cmsdk_uart *mps2_uart_of(struct mps2 *mps2, unsigned number);

/* Devices raise and lower their lines; what comes of that is pending. */
void mps2_set_lines(struct mps2 *mps2);

/* As of struct live_kind. */
void mps2_reset(void *live);

/* ------- mps2_follow.c, as of struct live_kind ------- */

void mps2_connect(void *live, struct board *board);
void mps2_follow_read(void *live, uint64_t addr, uint64_t value);
void mps2_follow_write(void *live, uint64_t addr, unsigned size,
		       uint64_t value);
void mps2_follow_interrupt(void *live, unsigned number);
void mps2_follow_stores(void *live, bool resets);
void mps2_follow_call(void *live, uint64_t result, const uint64_t *error);
void mps2_state(void *live, struct state *state);

#endif
