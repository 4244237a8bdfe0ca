/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cortex_m.c - the ARMv7-M processor of a board, and its registers */
#include "vm/board/cortex_m.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

static const struct engine_cortex_m *engines(const struct board *board)
{
	return engine_cortex_m(board->engine);
}

static uint32_t engine_word(const struct board *board, unsigned reg)
{
	uint32_t value = 0;

	engine_read(board->engine, reg, &value);
	return value;
}

static void set_engine_word(struct board *board, unsigned reg, uint32_t value)
{
	engine_write(board->engine, reg, &value);
}

/* ------- registers ------- */

static bool in_handler(const struct board *board)
{
	return *engines(board)->exception;
}

/* Whether SP is PSP. */
static bool uses_psp(const struct board *board)
{
	return !in_handler(board) && *engines(board)->control & CONTROL_SPSEL;
}

bool cm_is_privileged(const struct board *board)
{
	return in_handler(board) ||
	       !(*engines(board)->control & CONTROL_NPRIV);
}

void cm_set_pc(struct board *board, uint32_t addr)
{
	set_engine_word(board, CM_PC, addr);
}

static uint32_t control(const struct board *board)
{
	return (*engines(board)->control & (CONTROL_NPRIV | CONTROL_SPSEL)) |
	       (*engines(board)->float_control & CONTROL_FPCA);
}

/* The stack pointers stay what they are: each has its place by its use. */
static void set_control(struct board *board, uint32_t value)
{
	const struct engine_cortex_m *own = engines(board);
	bool before = uses_psp(board);
	uint32_t sp = engine_word(board, CM_SP);

	*own->control = value & (CONTROL_NPRIV | CONTROL_SPSEL);
	*own->float_control = (*own->float_control & ~CONTROL_FPCA) |
			      (value & CONTROL_FPCA);
	if (uses_psp(board) != before) {
		set_engine_word(board, CM_SP, *own->other_sp);
		*own->other_sp = sp;
	}
	engine_cortex_m_changed(board->engine);
}

static void set_exception(struct board *board, uint32_t number)
{
	const struct engine_cortex_m *own = engines(board);
	bool before = uses_psp(board);
	uint32_t sp = engine_word(board, CM_SP);

	*own->exception = number;
	if (uses_psp(board) == before)
		return;
	set_engine_word(board, CM_SP, *own->other_sp);
	*own->other_sp = sp;
}

static void set_xpsr(struct board *board, uint32_t value)
{
	set_exception(board, value & XPSR_EXCEPTION);
	set_engine_word(board, CM_XPSR, value);
	engine_cortex_m_changed(board->engine);
}

static uint32_t stack(const struct board *board, unsigned reg)
{
	return uses_psp(board) == (reg == CM_PSP) ?
		       engine_word(board, CM_SP) : *engines(board)->other_sp;
}

static void set_stack(struct board *board, unsigned reg, uint32_t value)
{
	if (uses_psp(board) == (reg == CM_PSP))
		set_engine_word(board, CM_SP, value);
	else
		*engines(board)->other_sp = value;
}

/* Where the engine has a mask; NULL: it is none. */
static uint32_t *mask(const struct board *board, unsigned reg)
{
	switch (reg) {
	case CM_PRIMASK:
		return engines(board)->primask;
	case CM_BASEPRI:
		return engines(board)->basepri;
	case CM_FAULTMASK:
		return engines(board)->faultmask;
	default:
		return NULL;
	}
}

static uint64_t eight(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* What the engine has in one piece. */
static bool is_engines(unsigned reg)
{
	return reg < CM_MSP || reg == CM_FPSCR ||
	       (reg >= CM_D0 && reg < CM_PRIORITIES);
}

static uint64_t value_of(const struct board *board, unsigned reg)
{
	const struct cortex_m *m = board->cortex_m;

	switch (reg) {
	case CM_MSP:
	case CM_PSP:
		return stack(board, reg);
	case CM_CONTROL:
		return control(board);
	case CM_ACTIVE:
		return m->active;
	case CM_IDLE:
		return board->idle;
	default:
		break;
	}
	if (mask(board, reg))
		return *mask(board, reg);
	if (reg >= CM_PRIORITIES)
		return eight(&m->priorities[8 * (reg - CM_PRIORITIES)]);
	return *cm_system(board, reg);
}

static bool get(const struct board *board, unsigned reg, uint64_t *value)
{
	if (is_engines(reg))
		return false;
	*value = value_of(board, reg);
	return true;
}

static bool set(struct board *board, unsigned reg, uint64_t value)
{
	struct cortex_m *m = board->cortex_m;

	if (reg == CM_XPSR)
		set_xpsr(board, (uint32_t)value);
	else if (reg == CM_PC)
		cm_set_pc(board, (uint32_t)value |
			  (engine_word(board, CM_XPSR) & XPSR_THUMB ? 1 : 0));
	else if (is_engines(reg))
		return false;
	else if (reg == CM_MSP || reg == CM_PSP)
		set_stack(board, reg, (uint32_t)value);
	else if (reg == CM_CONTROL)
		set_control(board, (uint32_t)value);
	else if (mask(board, reg))
		*mask(board, reg) = (uint32_t)value;
	else if (reg == CM_ACTIVE)
		m->active = value;
	else if (reg == CM_IDLE)
		board->idle = value;
	else if (reg >= CM_PRIORITIES)
		memcpy(&m->priorities[8 * (reg - CM_PRIORITIES)], &value, 8);
	else
		*cm_system(board, reg) = (uint32_t)value;
	return true;
}

/*
 * The mode first: it says which stack pointer is SP, which is then there by its
 * own name.  The program counter last: it needs T.
 */
static void set_all(struct board *board, const struct reg_file *regs)
{
	const struct reg_table *table = reg_table(ARCH_CORTEX_M);

	board_set_reg(board, CM_XPSR, reg_get(table, regs, CM_XPSR));
	board_set_reg(board, CM_CONTROL, reg_get(table, regs, CM_CONTROL));
	for (unsigned reg = 0; reg < CM_REG_COUNT; reg++)
		if (reg != CM_PC && reg != CM_XPSR && reg != CM_CONTROL)
			board_set_reg(board, reg, reg_get(table, regs, reg));
	board_set_reg(board, CM_PC, reg_get(table, regs, CM_PC));
	engine_align_all(board->engine,
			 *cm_system(board, CM_CCR) & CCR_UNALIGN_TRP);
	board->drops_all = true;
	engine_cortex_m_changed(board->engine);
}

/* ------- the processor ------- */

static int start(struct board *board, const char *model, struct failure *why)
{
	struct cortex_m *m = calloc(1, sizeof(*m));

	if (!m)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	board->cortex_m = m;
	m->has_float = strcmp(model, "cortex-m3") != 0;
	m->has_bit_band = strcmp(model, "cortex-m7") != 0;
	*cm_system(board, CM_CCR) = CCR_STKALIGN;
	if (m->has_float)
		*cm_system(board, CM_FPCCR) = FPCCR_ASPEN | FPCCR_LSPEN;
	return 0;
}

static void end(struct board *board)
{
	free(board->cortex_m);
}

static const struct engine_machine_calls calls = {
	.basic = { BOARD_BASIC_CALLS, .invalid = cm_invalid },
	.exception = cm_exception,
	.read = cm_read,
	.write = cm_write,
};

const struct board_kind board_kind_cortex_m = {
	.arch = ARCH_CORTEX_M,
	.ticks_per_second = 1000000000,
	.steps_per_tick = 1,
	.pc = CM_PC,
	.idle = CM_IDLE,
	.result = CM_R0,
	.calls = &calls,
	.start = start,
	.end = end,
	.get = get,
	.set = set,
	.set_all = set_all,
	.size = cm_size,
	.count = cm_count,
	.limit = cm_limit,
	.enter = cm_enter,
	.interrupt = cm_interrupt,
	.unfetched = cm_unfetched,
	.waits = cm_waits,
};
