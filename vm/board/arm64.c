/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arm64.c - the AArch64 processor of a board */
#include "vm/board/board_internal.h"

#define WFI 0xd503207fu

/* ------- registers ------- */

static uint64_t *own_register(struct board *board, unsigned reg)
{
	switch (reg) {
	case ARM64_CNTV_CVAL:
		return &board_present(board)->timers[BOARD_TIMER_VIRTUAL]
				.compare;
	case ARM64_CNTP_CVAL:
		return &board_present(board)->timers[BOARD_TIMER_PHYSICAL]
				.compare;
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
		return &board_present(board)->timers[BOARD_TIMER_VIRTUAL]
				.control;
	case ARM64_CNTP_CTL:
		return &board_present(board)->timers[BOARD_TIMER_PHYSICAL]
				.control;
	default:
		return NULL;
	}
}

static bool get(const struct board *board, unsigned reg, uint64_t *value)
{
	struct board *own = (struct board *)(uintptr_t)board;

	if (own_register(own, reg))
		*value = *own_register(own, reg);
	else if (own_control(own, reg))
		*value = *own_control(own, reg);
	else
		return false;
	return true;
}

static bool set(struct board *board, unsigned reg, uint64_t value)
{
	if (own_register(board, reg))
		*own_register(board, reg) = value;
	else if (own_control(board, reg))
		*own_control(board, reg) = (unsigned)value;
	else
		return false;
	return true;
}

static const struct reg_table *table(void)
{
	return reg_table(ARCH_AARCH64_MACHINE);
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
static void set_all(struct board *board, const struct reg_file *regs)
{
	const struct reg_info *info = table()->regs;

	set_system(board, regs);
	for (unsigned reg = 0; reg < ARM64_SP_EL0; reg++)
		if (info[reg].size > sizeof(uint64_t))
			engine_write(board->engine, reg,
				     regs->bytes + info[reg].offset);
		else
			board_set_reg(board, reg, reg_get(table(), regs, reg));
	board_set_reg(board, ARM64_SCTLR, reg_get(table(), regs, ARM64_SCTLR));
}

static uint64_t reg_of(const struct board *board, unsigned core, unsigned reg)
{
	return core == board->core ?
		       board_reg(board, reg) :
		       reg_get(table(), &board->cores[core].regs, reg);
}

static struct page_tables tables_of(const struct board *board, unsigned core)
{
	return (struct page_tables){
		reg_of(board, core, ARM64_TTBR0),
		reg_of(board, core, ARM64_TTBR1),
		reg_of(board, core, ARM64_TCR),
		reg_of(board, core, ARM64_SCTLR),
		reg_of(board, core, ARM64_VBAR),
	};
}

static struct page_tables tables(const struct board *board)
{
	return tables_of(board, board->core);
}

struct board_view board_view(const struct board *board, unsigned core)
{
	return (struct board_view){
		.is_program = !PSTATE_LEVEL(reg_of(board, core, ARM64_CPSR)),
		.program_sp = reg_of(board, core, ARM64_SP_EL0),
		.kernel_sp = reg_of(board, core, ARM64_SP_EL1),
		.tables = tables_of(board, core),
		.left_at = board->cores[core].left_at,
	};
}

/* ------- address spaces ------- */

#define TABLE_MASK UINT64_C(0xfffffffffffe)
#define SPACE_SHIFT 48
#define CONTROL_UPPER (UINT64_C(1) << 22)	/* A1: TTBR1 has the number */
#define CONTROL_WIDE (UINT64_C(1) << 36)	/* AS: of 16 bits, not 8 */

static bool is_wanted_space(const struct board *board, unsigned core)
{
	uint64_t control = reg_of(board, core, ARM64_TCR);
	uint64_t table = reg_of(board, core, control & CONTROL_UPPER ?
					     ARM64_TTBR1 : ARM64_TTBR0);
	uint64_t number = table >> SPACE_SHIFT;

	return (control & CONTROL_WIDE ? number : number & 0xff) ==
	       board->space;
}

void arm64_note_space(struct board *board)
{
	if (board->space == BOARD_NO_SPACE ||
	    !is_wanted_space(board, board->core))
		return;
	board->found_space = true;
	board->space_table = board_reg(board, ARM64_TTBR0) & TABLE_MASK;
}

void board_look_for_space(struct board *board, uint32_t number)
{
	board->space = number;
	board->found_space = false;
}

bool board_found_space(const struct board *board, uint64_t *table)
{
	for (unsigned core = 0; core < board->core_count; core++)
		if (!PSTATE_LEVEL(reg_of(board, core, ARM64_CPSR)) &&
		    is_wanted_space(board, core)) {
			*table = reg_of(board, core, ARM64_TTBR0) & TABLE_MASK;
			return true;
		}
	*table = board->space_table;
	return board->found_space;
}

/* ------- code ------- */

static unsigned size(const struct board *board, guest_addr pc)
{
	(void)board;
	(void)pc;
	return INSN_SIZE;
}

static unsigned count(const struct board *board, guest_addr pc, uint32_t bytes)
{
	(void)board;
	(void)pc;
	return bytes / INSN_SIZE;
}

static bool waits(const struct board *board, guest_addr pc)
{
	return board_insn(board, pc - INSN_SIZE) == WFI;
}

#define STUCK_MOST 8u		/* instructions of a loop */

/* B: where to, from `pc`. */
static bool is_branch(uint32_t insn, guest_addr pc, guest_addr *to)
{
	uint64_t words = insn & 0x3ffffff;

	if (insn >> 26 != 5)
		return false;
	if (words >> 25)
		words |= UINT64_MAX << 26;
	*to = pc + (words << 2);
	return true;
}

/* NOP, YIELD, WFE, WFI, SEV, SEVL; ISB, DSB, DMB. */
static bool does_nothing(uint32_t insn)
{
	return (insn & 0xffffff1f) == 0xd503201f ||
	       (insn & 0xfffff01f) == 0xd503301f;
}

static bool is_stuck(const struct board *board)
{
	guest_addr start = board_reg(board, ARM64_PC), pc = start;

	if (!(board_reg(board, ARM64_CPSR) & PSTATE_MASKS_IRQ))
		return false;
	for (unsigned i = 0; i < STUCK_MOST; i++) {
		uint32_t insn = board_insn(board, pc);

		if (is_branch(insn, pc, &pc)) {
			if (pc == start)
				return true;
			continue;
		}
		if (!does_nothing(insn))
			return false;
		pc += INSN_SIZE;
		if (pc == start)
			return true;
	}
	return false;
}

/* ------- devices ------- */

static uint64_t on_read(void *context, uint64_t addr, unsigned size)
{
	struct board *board = context;

	return board->world->read(board->world->context, addr, size);
}

static void on_write(void *context, uint64_t addr, unsigned size,
		     uint64_t value)
{
	struct board *board = context;

	board->world->write(board->world->context, addr, size, value);
}

static const struct engine_machine_calls calls = {
	.basic = { BOARD_BASIC_CALLS },
	.exception = exceptions_take,
	.read = on_read,
	.write = on_write,
	.read_system = system_read,
	.write_system = system_write,
};

const struct board_kind board_kind_arm64 = {
	.arch = ARCH_AARCH64_MACHINE,
	.ticks_per_second = 62500000,
	.steps_per_tick = 16,
	.pc = ARM64_PC,
	.idle = ARM64_IDLE,
	.result = ARM64_X0,
	.monitor = ARM64_MONITOR,
	.calls = &calls,
	.get = get,
	.set = set,
	.set_all = set_all,
	.tables = tables,
	.size = size,
	.count = count,
	.has_line = true,
	.interrupt = exceptions_interrupt,
	.locked = exceptions_locked,
	.enter = exceptions_enter,
	.unfetched = exceptions_unfetched,
	.waits = waits,
	.is_stuck = is_stuck,
};
