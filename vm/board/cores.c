/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cores.c - cores that take turns
 *
 * There is one engine: the registers in it are those of the present core.  So
 * what one core translates all execute, and what one drops of the page tables
 * that were looked up is dropped for all.
 */
#include "vm/board/board_internal.h"

#include <assert.h>

struct core *board_present(struct board *board)
{
	return &board->cores[board->core];
}

void board_set_cores(struct board *board, unsigned count)
{
	struct reg_file regs;

	assert(0 < count && count <= BOARD_CORES_MOST);
	board_registers(board, &regs);
	for (unsigned i = board->core_count; i < count; i++)
		board->cores[i] = (struct core){ .regs = regs };
	board->core_count = count;
}

unsigned board_cores(const struct board *board)
{
	return board->core_count;
}

unsigned board_core(const struct board *board)
{
	return board->core;
}

/* Time is that of all. */
static void share(const struct board *board, struct reg_file *regs)
{
	reg_set(reg_table(board->kind->arch), regs, board->kind->idle,
		board_reg(board, board->kind->idle));
}

void board_switch(struct board *board, unsigned core)
{
	struct reg_file *before = &board_present(board)->regs;
	struct reg_file *after = &board->cores[core].regs;

	assert(core < board->core_count);
	if (core == board->core)
		return;
	board_registers(board, before);
	if (board->kind->monitor)
		reg_set(reg_table(board->kind->arch), before,
			board->kind->monitor, UINT64_MAX);
	share(board, after);
	board->core = core;
	board_set_registers(board, after);
}

void board_core_registers(const struct board *board, unsigned core,
			  struct reg_file *out)
{
	if (core == board->core) {
		board_registers(board, out);
		return;
	}
	*out = board->cores[core].regs;
	share(board, out);
}

/* Those that the board has itself, as timers: they go on. */
static void set_own(struct board *board, unsigned core,
		    const struct reg_file *regs)
{
	const struct reg_table *table = reg_table(board->kind->arch);
	unsigned present = board->core;

	board->core = core;
	for (unsigned reg = 0; reg < table->count; reg++)
		if (table->regs[reg].size <= sizeof(uint64_t) &&
		    reg != board->kind->idle)
			board->kind->set(board, reg, reg_get(table, regs, reg));
	board->core = present;
}

void board_set_core_registers(struct board *board, unsigned core,
			      const struct reg_file *regs)
{
	if (core == board->core) {
		board_set_registers(board, regs);
		return;
	}
	board->cores[core].regs = *regs;
	set_own(board, core, regs);
}
