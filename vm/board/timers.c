/* SPDX-License-Identifier: GPL-2.0-or-later */
/* timers.c - the generic timer: a counter, and two that compare with it */
#include "vm/board/board_internal.h"

/* Bits of the control registers. */
#define CONTROL_ENABLE 1u
#define CONTROL_MASK 2u

uint64_t timers_ticks(const struct board *board, uint64_t steps)
{
	return steps / board->kind->steps_per_tick + board->idle;
}

uint64_t board_ticks(const struct board *board)
{
	return timers_ticks(board, board_steps_at_block(board));
}

uint64_t board_ticks_per_second(const struct board *board)
{
	return board->kind->ticks_per_second;
}

uint64_t board_steps_of(const struct board *board, uint64_t tick)
{
	uint64_t own = tick - board->idle, each = board->kind->steps_per_tick;

	return own < UINT64_MAX / each ? own * each : UINT64_MAX;
}

bool timer_is_up(const struct timer *timer, uint64_t ticks)
{
	return timer->control & CONTROL_ENABLE && ticks >= timer->compare;
}

static bool interrupts(const struct timer *timer)
{
	return (timer->control & (CONTROL_ENABLE | CONTROL_MASK)) ==
	       CONTROL_ENABLE;
}

bool board_timer_is_up(const struct board *board, unsigned core,
		       enum board_timer which)
{
	const struct timer *timer = &board->cores[core].timers[which];

	return interrupts(timer) && timer_is_up(timer, board_ticks(board));
}

uint64_t board_timer_next(const struct board *board)
{
	uint64_t now = board_ticks(board), next = UINT64_MAX;

	for (unsigned i = 0; i < board->core_count * BOARD_TIMERS; i++) {
		const struct timer *timer = &board->cores[i / BOARD_TIMERS]
						     .timers[i % BOARD_TIMERS];

		if (interrupts(timer) && timer->compare > now &&
		    timer->compare < next)
			next = timer->compare;
	}
	return next;
}
