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
	struct engine_ram rams[BOARD_RAMS_MOST];
	uint8_t *host;
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
	host = board->ram.host;
	for (unsigned i = 0; i < board->ram.count; i++) {
		const struct board_ram *piece = &board->ram.pieces[i];

		rams[i] = (struct engine_ram){ piece->base, piece->size, host };
		host += piece->size;
	}
	rc = engine_open_machine(&board->engine, board->kind->arch, model, rams,
				 board->ram.count, board->kind->calls, board,
				 why);
	if (!rc && board->kind->start)
		rc = board->kind->start(board, model, why);
	if (!rc)
		ram_close(&board->ram);
	return rc;
}

static const struct board_kind *find_kind(enum arch arch)
{
	static const struct board_kind *const kinds[] = {
		&board_kind_arm64, &board_kind_cortex_m,
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i]->arch == arch)
			return kinds[i];
	return NULL;
}

int board_create(struct board **out, enum arch arch, const char *model,
		 const struct board_ram *rams, unsigned ram_count,
		 const struct board_world *world, struct failure *why)
{
	const struct board_kind *kind = find_kind(arch);
	struct board *board;
	int rc;

	if (!kind || !ram_count || ram_count > BOARD_RAMS_MOST)
		return failed(why, ERR_SYSTEM, "there is no such machine");
	board = calloc(1, sizeof(*board));
	if (!board)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	board->kind = kind;
	board->behaviour = UINT64_MAX;
	board->world = world;
	memcpy(board->ram.pieces, rams, ram_count * sizeof(*rams));
	board->ram.count = ram_count;
	board->aborted_at = board->passed_at = UINT64_MAX;
	board->core_count = 1;
	board->space = BOARD_NO_SPACE;
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
	if (board->kind->end)
		board->kind->end(board);
	engine_close(board->engine);
	ram_release(&board->ram);
	number_map_release(&board->breaks);
	number_map_release(&board->cuts);
	free(board->blocks);
	free(board);
}

/* ------- registers ------- */

unsigned board_reg_idle(const struct board *board)
{
	return board->kind->idle;
}

unsigned board_reg_result(const struct board *board)
{
	return board->kind->result;
}

uint64_t board_reg(const struct board *board, unsigned reg)
{
	uint64_t value = 0;

	if (!board->kind->get(board, reg, &value))
		engine_read(board->engine, reg, &value);
	return value;
}

void board_set_reg(struct board *board, unsigned reg, uint64_t value)
{
	if (!board->kind->set(board, reg, value))
		engine_write(board->engine, reg, &value);
}

void board_registers(const struct board *board, struct reg_file *out)
{
	const struct reg_table *table = reg_table(board->kind->arch);

	memset(out, 0, sizeof(*out));
	for (unsigned reg = 0; reg < table->count; reg++)
		if (table->regs[reg].size > sizeof(uint64_t))
			engine_read(board->engine, reg,
				    out->bytes + table->regs[reg].offset);
		else
			reg_set(table, out, reg, board_reg(board, reg));
}

void board_behave_as(struct board *board, uint64_t behaviour)
{
	board->behaviour = behaviour;
}

void board_set_registers(struct board *board, const struct reg_file *regs)
{
	board->kind->set_all(board, regs);
	engine_flush_tlb(board->engine, false);
}

/* ------- memory ------- */

uint64_t board_pages(const struct board *board)
{
	return board->ram.size >> GUEST_PAGE_SHIFT;
}

uint64_t board_guest_page(const struct board *board, uint64_t page)
{
	return ram_guest_page(&board->ram, page);
}

uint64_t board_page(const struct board *board, uint64_t guest_page)
{
	return ram_page(&board->ram, guest_page << GUEST_PAGE_SHIFT);
}

const uint8_t *board_bytes(const struct board *board, uint64_t addr,
			   uint64_t size)
{
	return ram_at(&board->ram, addr, size);
}

uint32_t board_word(const struct board *board, uint64_t addr)
{
	uint32_t value = 0;
	const uint8_t *bytes = board_bytes(board, addr, sizeof(value));

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return value;
}

void board_store(struct board *board, uint64_t addr, const void *bytes,
		 size_t size)
{
	ram_open(&board->ram, addr);
	memcpy(ram_at(&board->ram, addr, size), bytes, size);
}

void board_load(struct board *board, uint64_t addr, const uint8_t *bytes,
		size_t size)
{
	for (size_t done = 0; done < size;) {
		size_t part = GUEST_PAGE - (addr + done) % GUEST_PAGE;

		if (part > size - done)
			part = size - done;
		board_store(board, addr + done, bytes + done, part);
		done += part;
	}
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
