/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * system.c - registers of the system that the engine would answer wrongly
 *
 * Those of the generic timer: the engine reads the host's clock.  Those that
 * say what the processor is: the engine claims more than a board has.
 *
 * Source: Arm Architecture Reference Manual, D19.12 (timers), D19.2.61 and
 * following (identification).
 */
#include "formats/processor.h"
#include "vm/board/board_internal.h"

#define COUNTER_CONTROL ENGINE_SYSTEM(3, 0, 14, 1, 0)	/* CNTKCTL_EL1 */

#define FREQUENCY ENGINE_SYSTEM(3, 3, 14, 0, 0)
#define PHYSICAL_COUNT ENGINE_SYSTEM(3, 3, 14, 0, 1)
#define VIRTUAL_COUNT ENGINE_SYSTEM(3, 3, 14, 0, 2)
#define PHYSICAL_TIMER ENGINE_SYSTEM(3, 3, 14, 2, 0)
#define VIRTUAL_TIMER ENGINE_SYSTEM(3, 3, 14, 3, 0)
#define CYCLES ENGINE_SYSTEM(3, 3, 9, 13, 0)

/* The last digit of a timer's registers. */
enum { TIMER_VALUE, TIMER_CONTROL, TIMER_COMPARE };

#define CONTROL_WRITABLE 3u
#define CONTROL_STATUS 4u

/* ------- the timer ------- */

static bool is_timer(unsigned name, enum board_timer *which)
{
	*which = (name & ~7u) == VIRTUAL_TIMER ? BOARD_TIMER_VIRTUAL :
						 BOARD_TIMER_PHYSICAL;
	return ((name & ~7u) == VIRTUAL_TIMER ||
		(name & ~7u) == PHYSICAL_TIMER) &&
	       (name & 7) <= TIMER_COMPARE;
}

/* Bits of CNTKCTL_EL1 of which EL0 needs one. */
static unsigned wanted_bits(unsigned name)
{
	switch (name) {
	case FREQUENCY:
		return 3;
	case PHYSICAL_COUNT:
		return 1;
	case VIRTUAL_COUNT:
		return 2;
	default:
		return (name & ~7u) == VIRTUAL_TIMER ? 1u << 8 : 1u << 9;
	}
}

/* If not, the engine raises the exception. */
static bool is_allowed(struct board *board, unsigned name)
{
	return PSTATE_LEVEL(board_reg(board, ARM64_CPSR)) ||
	       engine_read_system(board->engine, COUNTER_CONTROL) &
		       wanted_bits(name);
}

/* The counter, at the instruction that asks. */
static uint64_t count_now(const struct board *board)
{
	return timers_ticks(board, board_steps_at(board, board_reg(board,
								   ARM64_PC)));
}

static uint64_t read_timer(const struct board *board, const struct timer *timer,
			   unsigned name)
{
	uint64_t now = count_now(board);

	switch (name & 7) {
	case TIMER_VALUE:
		return (uint32_t)(timer->compare - now);
	case TIMER_CONTROL:
		return timer->control |
		       (timer_is_up(timer, now) ? CONTROL_STATUS : 0);
	default:
		return timer->compare;
	}
}

static void write_timer(struct board *board, struct timer *timer,
			unsigned name, uint64_t value)
{
	switch (name & 7) {
	case TIMER_VALUE:
		timer->compare = count_now(board) +
				 (uint64_t)(int64_t)(int32_t)value;
		break;
	case TIMER_CONTROL:
		timer->control = value & CONTROL_WRITABLE;
		break;
	default:
		timer->compare = value;
	}
	board_look_soon(board);
}

/* ------- what the processor is ------- */

/* Fields of four bits, by the place of their lowest. */
#define FIELD(at) (UINT64_C(15) << (at))

/* What a register has of each field that is not cleared. */
static const struct {
	unsigned name;
	uint64_t cleared, set;
} identities[] = {
	/* No SVE, EL2, EL3; EL0 and EL1 of 64 bits only. */
	{ ENGINE_SYSTEM(3, 0, 0, 4, 0),
	  FIELD(32) | FIELD(12) | FIELD(8) | FIELD(4) | FIELD(0), 0x11 },
	/* No BTI, tags and so on; nothing of SVE. */
	{ ENGINE_SYSTEM(3, 0, 0, 4, 1), UINT64_MAX, 0 },
	{ ENGINE_SYSTEM(3, 0, 0, 4, 4), UINT64_MAX, 0 },
	/* No counters of performance. */
	{ ENGINE_SYSTEM(3, 0, 0, 5, 0), FIELD(8), 0 },
	/* No random numbers. */
	{ ENGINE_SYSTEM(3, 0, 0, 6, 0), FIELD(60), 0 },
	/* No pointer authentication. */
	{ ENGINE_SYSTEM(3, 0, 0, 6, 1),
	  FIELD(28) | FIELD(24) | FIELD(8) | FIELD(4), 0 },
};

/* Each core has a number in it, from 0 on. */
#define AFFINITY ENGINE_SYSTEM(3, 0, 0, 0, 5)

static bool read_identity(struct board *board, unsigned name, uint64_t *value)
{
	bool may = PSTATE_LEVEL(board_reg(board, ARM64_CPSR));

	/* The engine raises the exception. */
	if (!may && board->behaviour >= BEHAVIOUR_CHECKS)
		return false;
	if (name == AFFINITY && may) {
		*value = engine_read_system(board->engine, name) | board->core;
		return true;
	}
	for (size_t i = 0; i < sizeof(identities) / sizeof(identities[0]); i++)
		if (identities[i].name == name) {
			*value = engine_read_system(board->engine, name);
			*value &= ~identities[i].cleared;
			*value |= identities[i].set;
			return true;
		}
	return false;
}

/* ------- page tables ------- */

#define SYSTEM_CONTROL ENGINE_SYSTEM(3, 0, 1, 0, 0)	/* SCTLR_EL1 */
#define VECTORS ENGINE_SYSTEM(3, 0, 12, 0, 0)	/* VBAR_EL1 */
#define TABLE_LOW ENGINE_SYSTEM(3, 0, 2, 0, 0)	/* TTBR0_EL1 */
#define TABLE_HIGH ENGINE_SYSTEM(3, 0, 2, 0, 1)	/* TTBR1_EL1 */
#define TABLE_CONTROL ENGINE_SYSTEM(3, 0, 2, 0, 2)	/* TCR_EL1 */

static uint64_t *member(struct page_tables *tables, unsigned name)
{
	switch (name) {
	case SYSTEM_CONTROL:
		return &tables->system;
	case TABLE_LOW:
		return &tables->low;
	case TABLE_HIGH:
		return &tables->high;
	case TABLE_CONTROL:
		return &tables->control;
	case VECTORS:
		return &tables->vectors;
	default:
		return NULL;
	}
}

/* The engine is to do it; programs may not. */
static void see_tables(const struct board *board, unsigned name, uint64_t value)
{
	struct page_tables tables = { 0 };

	if (!member(&tables, name) ||
	    !PSTATE_LEVEL(board_reg(board, ARM64_CPSR)))
		return;
	tables = board_tables(board);
	*member(&tables, name) = value;
	watch_tables(board, board_steps_at(board, board_reg(board, ARM64_PC)) +
			    1, &tables);
}

/* ------- both ------- */

bool system_read(void *context, unsigned name, uint64_t *value)
{
	struct board *board = context;
	enum board_timer which;
	bool timer = is_timer(name, &which);

	if (!timer && name != FREQUENCY && name != PHYSICAL_COUNT &&
	    name != VIRTUAL_COUNT && name != CYCLES)
		return read_identity(board, name, value);
	if (name == CYCLES) {
		*value = board_steps_at(board, board_reg(board, ARM64_PC));
		return PSTATE_LEVEL(board_reg(board, ARM64_CPSR));
	}
	if (!is_allowed(board, name))
		return false;
	if (timer)
		*value = read_timer(board, &board_present(board)->timers[which],
				    name);
	else
		*value = name == FREQUENCY ? board_ticks_per_second(board) :
					     count_now(board);
	return true;
}

bool system_write(void *context, unsigned name, uint64_t value)
{
	struct board *board = context;
	enum board_timer which;

	/* It may change what addresses mean. */
	watch_tell(board);
	if (board->watcher)
		see_tables(board, name, value);
	if (name == FREQUENCY)
		return true;
	if (!is_timer(name, &which) || !is_allowed(board, name))
		return false;
	write_timer(board, &board_present(board)->timers[which], name, value);
	return true;
}
