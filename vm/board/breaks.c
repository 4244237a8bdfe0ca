/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * breaks.c - breakpoints of a board
 *
 * A block ends before an instruction with a breakpoint, so the next one begins
 * with it; that one always calls when it is entered.  Blocks stay so when the
 * breakpoint is gone: to translate them anew takes longer, and whoever clears
 * one will set it again.
 */
#include "vm/board/board_internal.h"

#include "formats/error.h"

int board_break_set(struct board *board, guest_addr pc, struct failure *why)
{
	if (!number_map_find(&board->cuts, pc)) {
		if (number_map_set(&board->cuts, pc, 0))
			return failed(why, ERR_NO_MEMORY, "out of memory");
		/* The code may be any process's, and mapped anywhere. */
		board->drops_all = true;
	}
	return number_map_set(&board->breaks, pc, 0) ?
		       failed(why, ERR_NO_MEMORY, "out of memory") : 0;
}

void board_break_clear(struct board *board, guest_addr pc)
{
	number_map_remove(&board->breaks, pc);
}

bool board_break_is_set(const struct board *board, guest_addr pc)
{
	return number_map_find(&board->breaks, pc);
}

void board_break_pass(struct board *board)
{
	board->passed = board_reg(board, board->kind->pc);
	board->passed_at = board_steps(board);
}

/* Whether a block must begin there, and call. */
bool breaks_may_stop(const struct board *board, guest_addr pc)
{
	return (board->cuts.count && number_map_find(&board->cuts, pc)) ||
	       watch_is_told(board, pc);
}

unsigned breaks_cut(const struct board *board, guest_addr pc, unsigned most)
{
	unsigned count = 1;

	if (!board->cuts.count && !board->watcher)
		return most;
	pc += board->kind->size(board, pc);
	while (count < most && !breaks_may_stop(board, pc)) {
		pc += board->kind->size(board, pc);
		count++;
	}
	return count;
}

/*
 * The first instruction of a handler cannot be stopped at if an instruction led
 * to it that did not retire: at that time, the processor stands before that one.
 */
bool breaks_stop(const struct board *board, guest_addr pc, uint64_t now)
{
	return board->breaks.count && number_map_find(&board->breaks, pc) &&
	       (pc != board->passed || now != board->passed_at) &&
	       now != board->aborted_at;
}
