/* SPDX-License-Identifier: GPL-2.0-or-later */
/* board.c - a board: made, its registers, its memory */
#include "vm/board/board_internal.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

#define BLOCKS_FIRST 4096u

static uint64_t now(const void *context)
{
	return board_steps_at_block(context);
}

static void code_changed(void *context)
{
	board_look_soon(context);
}

static int create(struct board *board, const char *model, struct failure *why)
{
	struct engine_ram ram;
	int rc;

	board->blocks = calloc(BLOCKS_FIRST, sizeof(*board->blocks));
	if (!board->blocks)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	board->block_room = BLOCKS_FIRST;
	board->block_count = 1;
	board->ram.now = now;
	board->ram.code_changed = code_changed;
	board->ram.context = board;
	rc = ram_create(&board->ram, why);
	if (rc)
		return rc;
	ram = (struct engine_ram){ board->ram.base, board->ram.size,
				   board->ram.host };
	rc = engine_open_machine(&board->engine, model, &ram, &board_calls,
				 board, why);
	if (!rc)
		ram_close(&board->ram);
	return rc;
}

int board_create(struct board **out, const char *model,
		 const struct board_ram *ram, const struct board_world *world,
		 struct failure *why)
{
	struct board *board = calloc(1, sizeof(*board));
	int rc;

	if (!board)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	board->world = world;
	board->aborted_at = board->passed_at = UINT64_MAX;
	board->ram.base = ram->base;
	board->ram.size = ram->size;
	rc = create(board, model, why);
	if (rc) {
		board_destroy(board);
		return rc;
	}
	*out = board;
	return 0;
}

void board_destroy(struct board *board)
{
	if (!board)
		return;
	engine_close(board->engine);
	ram_release(&board->ram);
	number_map_release(&board->breaks);
	number_map_release(&board->cuts);
	free(board->blocks);
	free(board);
}

/* ------- registers ------- */

static uint64_t *own_register(struct board *board, unsigned reg)
{
	switch (reg) {
	case ARM64_CNTV_CVAL:
		return &board->timers[BOARD_TIMER_VIRTUAL].compare;
	case ARM64_CNTP_CVAL:
		return &board->timers[BOARD_TIMER_PHYSICAL].compare;
	case ARM64_IDLE:
		return &board->idle;
	default:
		return NULL;
	}
}

static unsigned *own_control(struct board *board, unsigned reg)
{
	switch (reg) {
	case ARM64_CNTV_CTL:
		return &board->timers[BOARD_TIMER_VIRTUAL].control;
	case ARM64_CNTP_CTL:
		return &board->timers[BOARD_TIMER_PHYSICAL].control;
	default:
		return NULL;
	}
}

uint64_t board_reg(const struct board *board, unsigned reg)
{
	struct board *own = (struct board *)(uintptr_t)board;
	uint64_t value = 0;

	if (own_register(own, reg))
		return *own_register(own, reg);
	if (own_control(own, reg))
		return *own_control(own, reg);
	engine_read(board->engine, reg, &value);
	return value;
}

void board_set_reg(struct board *board, unsigned reg, uint64_t value)
{
	if (own_register(board, reg))
		*own_register(board, reg) = value;
	else if (own_control(board, reg))
		*own_control(board, reg) = (unsigned)value;
	else
		engine_write(board->engine, reg, &value);
}

static const struct reg_table *table(void)
{
	return reg_table(ARCH_AARCH64_MACHINE);
}

static bool is_wide(unsigned reg)
{
	return table()->regs[reg].size > sizeof(uint64_t);
}

void board_registers(const struct board *board, struct reg_file *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned reg = 0; reg < ARM64_MACHINE_REG_COUNT; reg++)
		if (is_wide(reg))
			engine_read(board->engine, reg,
				    out->bytes + table()->regs[reg].offset);
		else
			reg_set(table(), out, reg, board_reg(board, reg));
}

/*
 * While those of the system are written, the processor is at EL1, with its own
 * stack pointer and no translation: then that of SP is the present one, and the
 * engine walks no table that is not there yet.
 */
static void set_system(struct board *board, const struct reg_file *regs)
{
	board_set_reg(board, ARM64_SCTLR, 0);
	for (unsigned reg = ARM64_SP_EL0; reg < ARM64_MACHINE_REG_COUNT; reg++)
		if (reg != ARM64_SCTLR)
			board_set_reg(board, reg, reg_get(table(), regs, reg));
}

/* SCTLR_EL1 is written last: only then the engine sees the level. */
void board_set_registers(struct board *board, const struct reg_file *regs)
{
	set_system(board, regs);
	for (unsigned reg = 0; reg < ARM64_SP_EL0; reg++)
		if (is_wide(reg))
			engine_write(board->engine, reg,
				     regs->bytes + table()->regs[reg].offset);
		else
			board_set_reg(board, reg, reg_get(table(), regs, reg));
	board_set_reg(board, ARM64_SCTLR, reg_get(table(), regs, ARM64_SCTLR));
	engine_flush_tlb(board->engine);
}

struct board_view board_view(const struct board *board)
{
	return (struct board_view){
		.is_program = !PSTATE_LEVEL(board_reg(board, ARM64_CPSR)),
		.program_sp = board_reg(board, ARM64_SP_EL0),
		.kernel_sp = board_reg(board, ARM64_SP_EL1),
		.tables = board_tables(board),
	};
}

/* ------- memory ------- */

struct board_ram board_ram(const struct board *board)
{
	return (struct board_ram){ board->ram.base, board->ram.size };
}

const uint8_t *board_bytes(const struct board *board, uint64_t addr,
			   uint64_t size)
{
	return ram_at(&board->ram, addr, size);
}

void board_store(struct board *board, uint64_t addr, const void *bytes,
		 size_t size)
{
	ram_open(&board->ram, addr);
	memcpy(ram_at(&board->ram, addr, size), bytes, size);
}

const struct board_write *board_writes(const struct board *board, size_t *count)
{
	*count = board->ram.written_count;
	return board->ram.written;
}

void board_close(struct board *board)
{
	ram_close(&board->ram);
}
