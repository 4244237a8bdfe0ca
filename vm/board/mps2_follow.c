/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mps2_follow.c - devices that follow a recording, to become a live machine's
 *
 * As of virt_follow.c.  Where a live machine looks at lines - before the block
 * behind one that has accessed a device, or is interrupted - so does this: what
 * becomes pending depends on that.
 */
#include "vm/board/mps2_internal.h"
#include "vm/board/state.h"

void mps2_connect(void *live, struct board *board)
{
	struct mps2 *mps2 = live;

	mps2->board = mps2->nvic.board = board;
	mps2->semihosting.board = board;
}

void mps2_state(void *live, struct state *state)
{
	struct mps2 *mps2 = live;

	if (state->out)
		mps2_set_lines(mps2);
	nvic_state(&mps2->nvic, state);
	for (unsigned i = 0; i < MPS2_UARTS; i++)
		cmsdk_uart_state(&mps2->uarts[i], i, state);
	for (unsigned i = 0; i < MPS2_TIMERS; i++)
		cmsdk_timer_state(&mps2->timers[i], i, state);
	cmsdk_dual_state(&mps2->dual, state);
	cmsdk_watchdog_state(&mps2->dog, state);
	for (unsigned i = 0; i < MPS2_GPIOS; i++)
		cmsdk_gpio_state(&mps2->gpios[i], i, state);
	state_device(state, "fpga", 0);
	STATE_NUMBER(state, mps2->leds, UINT32_MAX);
	STATE_NUMBER(state, mps2->switches, UINT32_MAX);
	STATE_NUMBER(state, mps2->misc, UINT32_MAX);
	STATE_NUMBER(state, mps2->prescale, UINT32_MAX);
	device_registers_state(&mps2->registers, state);
	semihosting_state(&mps2->semihosting, state);
}

static void look(struct mps2 *mps2)
{
	uint64_t now = board_steps_at_block(mps2->board);

	if (now != mps2->followed_at)
		mps2_set_lines(mps2);
	mps2->followed_at = now;
}

void mps2_follow_read(void *live, uint64_t addr, uint64_t value)
{
	struct mps2 *mps2 = live;
	struct cmsdk_uart *uart = mps2_uart(mps2, addr);
	uint64_t other;

	look(mps2);
	mps2_read_device(mps2, addr, sizeof(uint32_t), &other);
	if (uart)
		cmsdk_uart_follow(uart, addr & 0xfff, value);
}

void mps2_follow_write(void *live, uint64_t addr, unsigned size,
		       uint64_t value)
{
	struct mps2 *mps2 = live;

	look(mps2);
	mps2_write_device(mps2, addr, size, value);
}

/* That it was interrupted by a byte tells that there was one. */
void mps2_follow_interrupt(void *live, unsigned number)
{
	struct mps2 *mps2 = live;
	struct cmsdk_uart *uart = mps2_uart_of(mps2, number);

	if (uart)
		cmsdk_uart_received(uart);
	mps2_set_lines(mps2);
	nvic_taken(&mps2->nvic, number);
}

void mps2_follow_stores(void *live, bool resets)
{
	if (resets)
		mps2_reset(live);
}

void mps2_follow_call(void *live, uint64_t result, const uint64_t *error)
{
	struct mps2 *mps2 = live;

	if (error)
		mps2->semihosting.error = (uint32_t)*error;
	semihosting_follow(&mps2->semihosting, (uint32_t)result);
}
