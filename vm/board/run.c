/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run.c - running a board, counting, and stopping at an exact step
 *
 * The engine has a budget, which each block lowers by its instructions when it
 * is entered.  What is granted ends at the next time that something is due;
 * the block that wants more asks here.
 */
#include "vm/board/board_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/error.h"

#define NEVER UINT64_MAX

/* ------- counting ------- */

uint64_t board_steps(const struct board *board)
{
	return board->base + (uint64_t)(board->granted -
					engine_counter(board->engine)->budget);
}

/* So many are granted, and so many steps had been done before. */
static void grant(struct board *board, uint64_t steps, uint64_t more)
{
	uint64_t before = board->base + (uint64_t)board->granted;

	board->base = steps;
	board->granted = more < INT64_MAX ? (int64_t)more : INT64_MAX;
	engine_counter(board->engine)->budget = board->granted;
	watch_shift(board, steps + (uint64_t)board->granted - before);
}

void board_set_steps(struct board *board, uint64_t steps)
{
	grant(board, steps, 0);
}

void board_look_soon(struct board *board)
{
	board->look_at = 0;
	board->held = false;
	grant(board, board_steps(board), 0);
}

void board_pause(struct board *board)
{
	board->pauses = true;
	board_look_soon(board);
}

const struct engine_block *board_block(const struct board *board)
{
	uint32_t current = engine_counter(board->engine)->current;

	return current ? &board->blocks[current] : NULL;
}

uint64_t board_steps_at_block(const struct board *board)
{
	const struct engine_block *block = board_block(board);

	return board_steps(board) - (block ? block->count : 0);
}

/* All of the block is counted when it is entered. */
uint64_t board_steps_at(const struct board *board, guest_addr pc)
{
	const struct engine_block *block = board_block(board);

	if (!block || pc - block->pc > block->size)
		return board_steps(board);
	return board_steps_at_block(board) +
	       board->kind->count(board, block->pc,
				  (uint32_t)(pc - block->pc));
}

/* ------- what the engine calls ------- */

void board_stop(struct board *board, enum board_stopped why)
{
	board->stopped = why;
	engine_stop(board->engine);
}

unsigned board_on_translate(void *context, guest_addr pc, unsigned most)
{
	struct board *board = context;
	uint64_t addr;

	if (board_translate(board, pc, &addr))
		ram_watch_code(&board->ram, addr);
	if (board->kind->limit)
		most = board->kind->limit(board, pc, most);
	most = breaks_cut(board, pc, most);
	return board->cut && pc == board->cut_at && board->cut < most ?
		       board->cut : most;
}

uint32_t board_on_meet(void *context, guest_addr pc, uint32_t size)
{
	struct board *board = context;

	if (board->block_count == board->block_room) {
		uint32_t room = board->block_room * 2;
		struct engine_block *larger =
			realloc(board->blocks, room * sizeof(*larger));

		/* The engine has no way back. */
		if (!larger)
			give_up("out of memory");
		board->blocks = larger;
		board->block_room = room;
	}
	board->blocks[board->block_count] = (struct engine_block){
		.pc = pc, .size = size,
		.count = (uint16_t)board->kind->count(board, pc, size),
	};
	return board->block_count++;
}

static bool must_refresh(const struct board *board)
{
	return board->ram.changed_count || board->drops_all ||
	       board->block_count >= engine_blocks_most(board->engine);
}

/*
 * What is masked for long, as while a kernel that has panicked counts the
 * seconds until it resets, is not asked for before each block.
 */
#define MASKED_LONG UINT64_C(100000)	/* steps */
#define MASKED_PAUSE UINT64_C(1000)

static void stay_masked(struct board *board, uint64_t now)
{
	board->held = board->kind->has_line;
	if (!board->is_masked)
		board->masked_at = now;
	board->is_masked = true;
	if (now - board->masked_at >= MASKED_LONG)
		board->look_at = now + MASKED_PAUSE;
}

/* Asks the world, if it is time; whether the guest was interrupted. */
static bool look(struct board *board, uint64_t now, guest_addr pc)
{
	const struct board_world *world = board->world;
	uint64_t next = NEVER;
	unsigned number = 0;

	if (now < board->look_at)
		return false;
	board->look_at = world->look ? now : NEVER;
	if (!world->look)
		return false;
	if (!board->held && !world->look(world->context, &number, &next)) {
		board->look_at = next;
		board->is_masked = false;
		return false;
	}
	if (!board->kind->interrupt(board, pc, number)) {
		stay_masked(board, now);
		return false;
	}
	board->held = board->is_masked = false;
	world->taken(world->context, number);
	return true;
}

/* Before a block: whether it may be executed, all of it. */
static bool attend(struct board *board, uint32_t number)
{
	const struct engine_block *block = &board->blocks[number];
	uint64_t now = board_steps(board);

	board->stop_block = number;
	watch_tell(board);
	if (must_refresh(board)) {
		board_stop(board, STOPPED_TO_REFRESH);
		return false;
	}
	/* Behind an instruction that has not retired, this is no state of that
	 * time: who comes again stops before it. */
	if (board->pauses && board->aborted_at != now) {
		board_stop(board, STOPPED_TO_PAUSE);
		return false;
	}
	/* An interrupt where a run ends belongs to the next one. */
	if (now < board->until && look(board, now, block->pc))
		return false;
	if (now < board->until && breaks_stop(board, block->pc, now)) {
		board_stop(board, STOPPED_AT_BREAK);
		return false;
	}
	if (block->count > board->until - now) {
		board_stop(board, STOPPED_BEFORE);
		return false;
	}
	watch_instruction(board, now, block->pc);
	return true;
}

static bool may_inline(struct board *board, const struct engine_block *block)
{
	return !board->kind->enter || board->kind->enter(board, block);
}

const struct engine_block *board_on_enter(void *context, uint32_t number,
					  enum engine_entry entry)
{
	struct board *board = context;
	struct counter *counter = engine_counter(board->engine);
	const struct engine_block *block = &board->blocks[number];
	bool calls = breaks_may_stop(board, block->pc);
	uint64_t end, limit;

	if (entry == ENTRY_COUNTED) {
		counter->budget += block->count;
	} else if (!calls && counter->budget >= block->count) {
		counter->budget -= block->count;
		counter->current = number;
		return may_inline(board, block) ? block : NULL;
	}
	counter->current = 0;
	if (!attend(board, number))
		return NULL;
	end = board_steps(board) + block->count;
	limit = board->look_at < board->until ? board->look_at : board->until;
	limit = limit > end && !board->pauses ? limit - end : 0;
	if (limit > watch_limit(board) - block->count)
		limit = watch_limit(board) - block->count;
	grant(board, end, limit);
	counter->current = number;
	return entry == ENTRY_CALLED && may_inline(board, block) && !calls ?
		       block : NULL;
}

void board_leave_block(struct board *board, guest_addr pc)
{
	grant(board, board_steps_at(board, pc), 0);
	engine_counter(board->engine)->current = 0;
}

void board_count_exception(struct board *board,
			   const struct engine_exception *exception)
{
	guest_addr pc = board_reg(board, board->kind->pc);

	if (exception->kind == EXCEPTION_DATA)
		watch_take_back(board, pc);
	/* One that cannot be fetched is behind a block that is done. */
	if (exception->kind != EXCEPTION_FETCH)
		board_leave_block(board, pc);
	engine_counter(board->engine)->current = 0;
	watch_tell(board);
	if (exception->kind != EXCEPTION_SVC &&
	    exception->kind != EXCEPTION_HVC &&
	    exception->kind != EXCEPTION_RETURN)
		board->aborted_at = board_steps(board);
}

/* ------- running ------- */

/* Drops translations of code that has changed; all, if there are too many. */
static void refresh(struct board *board)
{
	struct ram *ram = &board->ram;

	for (size_t i = 0; i < ram->changed_count; i++)
		engine_drop_ram(board->engine,
				ram_guest_page(ram, ram->changed[i])
					<< GUEST_PAGE_SHIFT);
	ram->changed_count = 0;
	if (!board->drops_all &&
	    board->block_count < engine_blocks_most(board->engine))
		return;
	engine_drop_all(board->engine);
	board->block_count = 1;
	board->drops_all = false;
}

/* Runs the engine until it stops by itself. */
static int run_engine(struct board *board, struct failure *why)
{
	guest_addr pc = board_reg(board, board->kind->pc);
	enum engine_exit exit;

	board->stopped = STOPPED_NOT;
	grant(board, board_steps(board), 0);
	exit = engine_run(board->engine, pc, 0);
	engine_counter(board->engine)->current = 0;
	watch_tell(board);
	if (board->stopped == STOPPED_BEFORE ||
	    board->stopped == STOPPED_TO_REFRESH ||
	    board->stopped == STOPPED_TO_PAUSE ||
	    board->stopped == STOPPED_AT_BREAK)
		board_set_reg(board, board->kind->pc,
			      board->blocks[board->stop_block].pc);
	pc = board_reg(board, board->kind->pc);
	if (board->stopped == STOPPED_NOT && exit == ENGINE_UNFETCHED &&
	    board->kind->unfetched) {
		board->stopped = STOPPED_TO_GO_ON;
		board->kind->unfetched(board, pc);
		return 0;
	}
	if (board->stopped == STOPPED_BY_UNKNOWN)
		return failed(why, ERR_SYSTEM, "the engine raised exception %u"
			      " at 0x%llx, which is not known", board->unknown,
			      (unsigned long long)pc);
	if (board->stopped != STOPPED_NOT ||
	    (exit == ENGINE_RETURNED && board->kind->waits(board, pc)))
		return 0;
	return failed(why, ERR_SYSTEM, "the engine stopped at 0x%llx: %s",
		      (unsigned long long)pc, engine_error(board->engine));
}

/* The same; the block that the guest stands at is to end where it must stop. */
static int run_part(struct board *board, struct failure *why)
{
	struct engine_block block = board->blocks[board->stop_block];
	int rc;

	board->cut_at = block.pc;
	board->cut = (unsigned)(board->until - board_steps(board));
	engine_drop(board->engine, block.pc, block.size);
	rc = run_engine(board, why);
	engine_drop(board->engine, block.pc, block.size);
	board->cut = 0;
	return rc;
}

/* Whether a run is over, and why. */
static bool is_over(struct board *board, bool exact, enum board_stop *stop)
{
	switch (board->stopped) {
	case STOPPED_NOT:
	case STOPPED_TO_WAIT:
		*stop = BOARD_WAITS;
		return true;
	case STOPPED_BY_CALL:
		*stop = BOARD_CALLS;
		return true;
	case STOPPED_LOCKED:
		if (board->kind->locked)
			board->kind->locked(board);
		*stop = BOARD_LOCKED;
		return true;
	case STOPPED_TO_PAUSE:
		*stop = BOARD_PAUSES;
		return true;
	case STOPPED_AT_BREAK:
		*stop = BOARD_AT_BREAK;
		return true;
	case STOPPED_BEFORE:
		*stop = BOARD_AT_STEPS;
		return !exact;
	default:
		return false;
	}
}

int board_run(struct board *board, uint64_t until, bool exact,
	      enum board_stop *stop, struct failure *why)
{
	bool part = false;

	board->until = until;
	board->look_at = 0;
	/* Behind a wait, or of another core, nothing was masked for long. */
	board->held = board->is_masked = false;
	board->pauses = false;
	*stop = BOARD_AT_STEPS;
	while (board_steps(board) < until) {
		int rc = part ? run_part(board, why) : run_engine(board, why);

		if (rc)
			return rc;
		refresh(board);
		part = board->stopped == STOPPED_BEFORE;
		if (is_over(board, exact, stop))
			break;
	}
	board->passed_at = board->aborted_at = UINT64_MAX;
	return 0;
}

bool board_interrupt(struct board *board, unsigned number)
{
	return board->kind->interrupt(board,
				      board_reg(board, board->kind->pc),
				      number);
}

const char *board_fault(const struct board *board)
{
	return board->fault;
}

bool board_is_stuck(struct board *board)
{
	if (!board->kind->is_stuck || !board->kind->is_stuck(board))
		return false;
	snprintf(board->fault, sizeof(board->fault), "a loop that does"
		 " nothing, with interrupts off");
	return true;
}

uint64_t board_left_programs(const struct board *board, unsigned core)
{
	return board->cores[core].left_programs;
}
