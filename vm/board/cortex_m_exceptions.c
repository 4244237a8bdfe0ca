/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cortex_m_exceptions.c - ARMv7-M enters exceptions, and returns from them
 *
 * Between two instructions no time passes.  So there is no late arrival, and
 * tail-chaining is a return and an entry: both leave the same frame.
 *
 * Source: ARMv7-M Architecture Reference Manual, B1.5.4 (priorities), B1.5.6
 * (entry), B1.5.7 (stack), B1.5.8 (return), B1.5.14 (faults), B1.5.15 (lockup).
 */
#include "vm/board/cortex_m.h"

#include <stdio.h>
#include <string.h>

#define PRIORITY_LOWEST 256
#define PRIORITY_HARD_FAULT (-1)

#define FRAME 0x20u		/* bytes */
#define FRAME_FLOAT 0x68u
#define FRAME_ALIGNED (1u << 9)	/* of XPSR in it: four bytes were left out */
#define FLOATS_AT 0x20u		/* S0 to S15, FPSCR */
#define FLOATS 16u

/* Of EXC_RETURN. */
#define RETURN_BITS 0xffffffe1u
#define RETURN_NO_FLOAT 0x10u
#define RETURN_THREAD 8u
#define RETURN_PSP 4u

#define SLEEPONEXIT 2u

/* ------- priorities ------- */

static int group_of(const struct board *board, unsigned priority)
{
	unsigned group = *cm_system(board, CM_AIRCR) >> 8 & 7;

	return (int)(priority & ~((2u << group) - 1));
}

int cm_priority_of(const struct board *board, unsigned number)
{
	return number <= CM_HARD_FAULT ? (int)number - 4 :
	       group_of(board, board->cortex_m->priorities[number]);
}

int cm_priority(const struct board *board, bool with_primask)
{
	unsigned base = cm_reg(board, CM_BASEPRI);
	int lowest = PRIORITY_LOWEST;

	for (unsigned i = CM_NMI; i < CM_EXCEPTIONS; i++)
		if (board->cortex_m->active >> i & 1 &&
		    cm_priority_of(board, i) < lowest)
			lowest = cm_priority_of(board, i);
	if (base && group_of(board, base) < lowest)
		lowest = group_of(board, base);
	if (with_primask && cm_reg(board, CM_PRIMASK) & 1 && lowest > 0)
		lowest = 0;
	if (cm_reg(board, CM_FAULTMASK) & 1 && lowest > PRIORITY_HARD_FAULT)
		lowest = PRIORITY_HARD_FAULT;
	return lowest;
}

/* ------- memory ------- */

/* Also in the middle of a run; a page's first write is a fault, as always. */
static void store(struct board *board, uint32_t addr, uint32_t value)
{
	uint8_t *bytes = ram_at(&board->ram, addr, sizeof(value));

	if (bytes)
		memcpy(bytes, &value, sizeof(value));
}

static bool is_ram(const struct board *board, uint32_t addr, uint32_t size)
{
	return board_bytes(board, addr, size);
}

/* ------- floating point ------- */

static void store_floats(struct board *board, uint32_t addr)
{
	for (unsigned i = 0; i < FLOATS / 2; i++) {
		uint64_t both = board_reg(board, CM_D0 + i);

		store(board, addr + 8 * i, (uint32_t)both);
		store(board, addr + 8 * i + 4, (uint32_t)(both >> 32));
	}
	store(board, addr + 4 * FLOATS, cm_reg(board, CM_FPSCR));
}

static void load_floats(struct board *board, uint32_t addr)
{
	for (unsigned i = 0; i < FLOATS / 2; i++)
		board_set_reg(board, CM_D0 + i,
			      board_word(board, addr + 8 * i) |
			      (uint64_t)board_word(board, addr + 8 * i + 4)
				      << 32);
	board_set_reg(board, CM_FPSCR, board_word(board, addr + 4 * FLOATS));
}

void cm_preserve_float(struct board *board)
{
	uint32_t *control = cm_system(board, CM_FPCCR);

	if (!(*control & FPCCR_LSPACT))
		return;
	*control &= ~FPCCR_LSPACT;
	store_floats(board, *cm_system(board, CM_FPCAR));
}

/* Room for them is in the frame: they are stored when they are needed. */
static void leave_floats(struct board *board, uint32_t frame)
{
	uint32_t *control = cm_system(board, CM_FPCCR);
	bool in_thread = !(cm_reg(board, CM_XPSR) & XPSR_EXCEPTION);

	if (!(*control & FPCCR_LSPEN)) {
		store_floats(board, frame + FLOATS_AT);
		return;
	}
	*cm_system(board, CM_FPCAR) = frame + FLOATS_AT;
	*control = (*control & (FPCCR_ASPEN | FPCCR_LSPEN)) | FPCCR_LSPACT |
		   (in_thread ? 8 : 0) | (cm_is_privileged(board) ? 0 : 2);
}

/* ------- entry ------- */

/* What the bits of a fault's status mean. */
static const char *fault_words(uint32_t status)
{
	static const struct {
		uint32_t bit;
		const char *words;
	} table[] = {
		{ CFSR_IACCVIOL, "no code may be there" },
		{ CFSR_DACCVIOL, "an access that is not allowed" },
		{ CFSR_IBUSERR, "there is no code" },
		{ CFSR_PRECISERR, "an access to what is not there" },
		{ CFSR_UNSTKERR, "no stack frame to return by" },
		{ CFSR_STKERR, "no memory for a stack frame" },
		{ CFSR_UNDEFINSTR, "an undefined instruction" },
		{ CFSR_INVSTATE, "code that is not Thumb" },
		{ CFSR_INVPC, "an invalid return from an exception" },
		{ CFSR_NOCP, "a coprocessor that is not there or not on" },
		{ CFSR_UNALIGNED, "an access that is not aligned" },
		{ CFSR_DIVBYZERO, "a division by zero" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (status & table[i].bit)
			return table[i].words;
	return "what no status tells";
}

void cm_lock_up(struct board *board, const char *why, guest_addr pc)
{
	const struct cortex_m *m = board->cortex_m;

	snprintf(board->fault, sizeof(board->fault), "HardFault at 0x%llx"
		 " (%s); %s", (unsigned long long)m->fault_at,
		 fault_words(m->fault_status), why);
	board_set_reg(board, CM_PC, pc);
	board_stop(board, STOPPED_LOCKED);
}

static void note_hard_fault(struct board *board, guest_addr pc)
{
	board->cortex_m->fault_at = pc;
	board->cortex_m->fault_status = *cm_system(board, CM_CFSR);
}

/* The frame; false: there is no memory for it.  `*back` is EXC_RETURN. */
static bool push_frame(struct board *board, guest_addr pc, uint32_t *back)
{
	uint32_t xpsr = cm_reg(board, CM_XPSR), sp = cm_reg(board, CM_SP);
	uint32_t control = cm_reg(board, CM_CONTROL);
	bool floats = control & CONTROL_FPCA;
	bool aligns = floats || *cm_system(board, CM_CCR) & CCR_STKALIGN;
	uint32_t size = floats ? FRAME_FLOAT : FRAME;
	uint32_t frame = (sp - size) & ~(aligns ? 7u : 3u);

	*back = (xpsr & XPSR_EXCEPTION ? 0xfffffff1 :
		 control & CONTROL_SPSEL ? 0xfffffffd : 0xfffffff9) &
		~(floats ? RETURN_NO_FLOAT : 0);
	board_set_reg(board, CM_SP, frame);
	if (!is_ram(board, frame, size))
		return false;
	for (unsigned i = 0; i < 4; i++)
		store(board, frame + 4 * i, cm_reg(board, CM_R0 + i));
	store(board, frame + 16, cm_reg(board, CM_R12));
	store(board, frame + 20, cm_reg(board, CM_LR));
	store(board, frame + 24, (uint32_t)pc);
	store(board, frame + 28, (xpsr & ~FRAME_ALIGNED) |
	      (aligns && sp & 4 ? FRAME_ALIGNED : 0));
	if (floats)
		leave_floats(board, frame);
	return true;
}

/* The handler begins, with this EXC_RETURN. */
static void begin_handler(struct board *board, unsigned number, uint32_t back,
			  guest_addr pc)
{
	uint32_t vector = *cm_system(board, CM_VTOR) + 4 * number;
	uint32_t handler;

	if (!is_ram(board, vector, 4)) {
		*cm_system(board, CM_HFSR) |= HFSR_VECTTBL;
		if (number == CM_HARD_FAULT) {
			cm_lock_up(board, "its vector is not in memory", pc);
			return;
		}
		number = CM_HARD_FAULT;
		vector = *cm_system(board, CM_VTOR) + 4 * number;
	}
	handler = board_word(board, vector);
	board->cortex_m->active |= UINT64_C(1) << number;
	board_set_reg(board, CM_XPSR, (cm_reg(board, CM_XPSR) & 0xf80f0000 &
				       ~XPSR_IT) | number |
		      (handler & 1 ? XPSR_THUMB : 0));
	board_set_reg(board, CM_CONTROL,
		      cm_reg(board, CM_CONTROL) & CONTROL_NPRIV);
	board_set_reg(board, CM_LR, back);
	board_set_reg(board, CM_MONITOR, UINT64_MAX);
	cm_set_pc(board, handler);
	board_look_soon(board);
}

static bool is_enabled(const struct board *board, unsigned number)
{
	return *cm_system(board, CM_SHCSR) >> (number + 12) & 1;
}

/* The stack itself is not there: another fault takes the place of `number`. */
static unsigned derive(struct board *board, unsigned number)
{
	*cm_system(board, CM_CFSR) |= CFSR_STKERR;
	if (is_enabled(board, CM_BUS_FAULT) && number > CM_BUS_FAULT &&
	    cm_priority_of(board, CM_BUS_FAULT) <
		    cm_priority(board, true))
		return CM_BUS_FAULT;
	*cm_system(board, CM_HFSR) |= HFSR_FORCED;
	return CM_HARD_FAULT;
}

static void enter(struct board *board, unsigned number, guest_addr pc)
{
	uint32_t back;

	if (!push_frame(board, pc, &back)) {
		if (number <= CM_HARD_FAULT) {
			cm_lock_up(board, "there is no memory for its stack"
					  " frame", pc);
			return;
		}
		number = derive(board, number);
		if (number == CM_HARD_FAULT)
			note_hard_fault(board, pc);
	}
	begin_handler(board, number, back, pc);
}

bool cm_interrupt(struct board *board, guest_addr pc, unsigned number)
{
	if (number >= CM_EXCEPTIONS ||
	    cm_priority_of(board, number) >= cm_priority(board, true))
		return false;
	enter(board, number, pc);
	return true;
}

/* ------- faults ------- */

/* Which exception is entered: one that cannot be becomes a HardFault. */
static unsigned escalate(struct board *board, unsigned number)
{
	if (number == CM_HARD_FAULT ||
	    (cm_priority_of(board, number) < cm_priority(board, true) &&
	     (number == CM_SVC || is_enabled(board, number))))
		return number;
	*cm_system(board, CM_HFSR) |= HFSR_FORCED;
	return CM_HARD_FAULT;
}

void cm_take(struct board *board, unsigned number, guest_addr pc)
{
	number = escalate(board, number);
	if (number == CM_HARD_FAULT &&
	    cm_priority(board, true) <= PRIORITY_HARD_FAULT) {
		cm_lock_up(board, "then a fault in its handler", pc);
		return;
	}
	if (number == CM_HARD_FAULT)
		note_hard_fault(board, pc);
	enter(board, number, pc);
}

static unsigned exception_of(uint32_t status)
{
	return status & 0xff ? CM_MEM_FAULT :
	       status & 0xff00 ? CM_BUS_FAULT : CM_USAGE_FAULT;
}

void cm_fault(struct board *board, uint32_t status, guest_addr pc)
{
	*cm_system(board, CM_CFSR) |= status;
	board->aborted_at = board_steps(board);
	cm_take(board, exception_of(status), pc);
}

#define DEVICES_FROM 0x40000000u	/* where nothing may be executed, */
#define DEVICES_TO 0x60000000u
#define OUTSIDE 0xa0000000u		/* and from there on */

void cm_unfetched(struct board *board, guest_addr pc)
{
	bool never = (pc >= DEVICES_FROM && pc < DEVICES_TO) || pc >= OUTSIDE;

	cm_fault(board, never ? CFSR_IACCVIOL : CFSR_IBUSERR, pc);
}

/* ------- return ------- */

static void leave_exception(struct board *board, unsigned number)
{
	board->cortex_m->active &= ~(UINT64_C(1) << number);
	if (number != CM_NMI)
		board_set_reg(board, CM_FAULTMASK, 0);
}

/* Whether EXC_RETURN is one that may be here. */
static bool is_return(const struct board *board, uint32_t back)
{
	unsigned number = cm_reg(board, CM_XPSR) & XPSR_EXCEPTION;
	uint64_t active = board->cortex_m->active, one = 1;
	unsigned mode = back & 0xf;

	if ((back & RETURN_BITS) != (0xffffffffu & RETURN_BITS) ||
	    number >= CM_EXCEPTIONS || !(active >> number & 1) ||
	    (!(back & RETURN_NO_FLOAT) && !board->cortex_m->has_float))
		return false;
	active &= ~(one << number);
	if (mode == 1)
		return active;
	return (mode == 9 || mode == 13) &&
	       (!active || *cm_system(board, CM_CCR) & CCR_NONBASETHRDENA);
}

/* A fault of the return itself: no frame is pushed, the one there stays. */
static void fail_return(struct board *board, uint32_t status, uint32_t back)
{
	guest_addr pc = cm_reg(board, CM_PC);
	unsigned number;

	*cm_system(board, CM_CFSR) |= status;
	number = escalate(board, exception_of(status));
	if (number == CM_HARD_FAULT &&
	    cm_priority(board, true) <= PRIORITY_HARD_FAULT)
		cm_lock_up(board, "then a fault when its handler returned", pc);
	else
		begin_handler(board, number, back, pc);
}

static void pop_registers(struct board *board, uint32_t frame)
{
	for (unsigned i = 0; i < 4; i++)
		board_set_reg(board, CM_R0 + i, board_word(board, frame + 4 * i));
	board_set_reg(board, CM_R12, board_word(board, frame + 16));
	board_set_reg(board, CM_LR, board_word(board, frame + 20));
}

static void pop_floats(struct board *board, uint32_t frame)
{
	uint32_t *control = cm_system(board, CM_FPCCR);

	if (*control & FPCCR_LSPACT)
		*control &= ~FPCCR_LSPACT;
	else
		load_floats(board, frame + FLOATS_AT);
}

/* What the frame says is the state. */
static void pop_frame(struct board *board, uint32_t frame, uint32_t back)
{
	bool floats = !(back & RETURN_NO_FLOAT);
	uint32_t size = floats ? FRAME_FLOAT : FRAME;
	uint32_t xpsr = board_word(board, frame + 28);
	uint32_t pc = board_word(board, frame + 24);
	uint32_t control = cm_reg(board, CM_CONTROL) & CONTROL_NPRIV;
	uint32_t after = (frame + size) |
			 (xpsr & FRAME_ALIGNED &&
			  (floats || *cm_system(board, CM_CCR) & CCR_STKALIGN) ?
			  4 : 0);

	pop_registers(board, frame);
	if (floats)
		pop_floats(board, frame);
	board_set_reg(board, back & RETURN_PSP ? CM_PSP : CM_MSP, after);
	board_set_reg(board, CM_XPSR, xpsr & ~FRAME_ALIGNED);
	board_set_reg(board, CM_CONTROL,
		      control | (floats ? CONTROL_FPCA : 0) |
		      (back & RETURN_PSP ? CONTROL_SPSEL : 0));
	board_set_reg(board, CM_MONITOR, UINT64_MAX);
	cm_set_pc(board, (pc & ~1u) | (xpsr & XPSR_THUMB ? 1 : 0));
}

static void leave_handler(struct board *board)
{
	uint32_t back = cm_reg(board, CM_PC) | 1;
	bool valid = is_return(board, back);
	uint32_t frame;

	leave_exception(board, cm_reg(board, CM_XPSR) & XPSR_EXCEPTION);
	if (!valid) {
		fail_return(board, CFSR_INVPC, back);
		return;
	}
	frame = cm_reg(board, back & RETURN_PSP ? CM_PSP : CM_MSP);
	if (!is_ram(board, frame, back & RETURN_NO_FLOAT ? FRAME :
							   FRAME_FLOAT)) {
		fail_return(board, CFSR_UNSTKERR, back);
		return;
	}
	if (!(board_word(board, frame + 28) & XPSR_EXCEPTION) !=
	    !!(back & RETURN_THREAD)) {
		fail_return(board, CFSR_INVPC, back);
		return;
	}
	pop_frame(board, frame, back);
	board_look_soon(board);
	if (*cm_system(board, CM_SCR) & SLEEPONEXIT && back & RETURN_THREAD)
		board_stop(board, STOPPED_TO_WAIT);
}

/* ------- what the engine raises ------- */

#define STATUS_KIND 0xfu	/* of a short DFSR */
#define STATUS_ALIGNMENT 1u
#define PRIVATE_BUS 0xe0000000u

static void take_data(struct board *board,
		      const struct engine_exception *exception, guest_addr pc)
{
	unsigned status = exception->status & STATUS_KIND;
	uint32_t addr = (uint32_t)exception->address;

	if (status == STATUS_ALIGNMENT) {
		cm_fault(board, CFSR_UNALIGNED, pc);
	} else if (status == ENGINE_BUS_FAILED || addr >= PRIVATE_BUS) {
		*cm_system(board, CM_BFAR) = addr;
		cm_fault(board, CFSR_PRECISERR | CFSR_BFARVALID, pc);
	} else {
		*cm_system(board, CM_MMFAR) = addr;
		cm_fault(board, CFSR_DACCVIOL | CFSR_MMARVALID, pc);
	}
}

#define SEMIHOSTING 0xbeabu	/* BKPT 0xab */

/* A breakpoint, if nobody debugs: a HardFault. */
static void take_breakpoint(struct board *board, guest_addr pc)
{
	unsigned size;

	if (cm_insn(board, pc, &size) == SEMIHOSTING) {
		board_set_steps(board, board_steps(board) + 1);
		board_set_reg(board, CM_PC, pc + 2);
		board_stop(board, STOPPED_BY_CALL);
		return;
	}
	*cm_system(board, CM_HFSR) |= HFSR_DEBUGEVT;
	cm_take(board, CM_HARD_FAULT, pc);
}

/* Also of a coprocessor; and of any, in code that is not Thumb. */
static void take_undefined(struct board *board, guest_addr pc)
{
	bool is_thumb = cm_reg(board, CM_XPSR) & XPSR_THUMB;
	unsigned size;
	uint32_t insn = cm_insn(board, pc, &size);

	cm_fault(board, !is_thumb ? CFSR_INVSTATE :
		 cm_is_coprocessor(insn, size) ? CFSR_NOCP : CFSR_UNDEFINSTR,
		 pc);
}

void cm_exception(void *context, const struct engine_exception *exception)
{
	struct board *board = context;
	guest_addr pc = cm_reg(board, CM_PC);

	board_count_exception(board, exception);
	switch (exception->kind) {
	case EXCEPTION_UNDEFINED:
	case EXCEPTION_NO_COPROCESSOR:
	case EXCEPTION_NOT_THUMB:
		take_undefined(board, pc);
		break;
	case EXCEPTION_SVC:
		cm_take(board, CM_SVC, pc);
		break;
	case EXCEPTION_FETCH:
		cm_unfetched(board, pc);
		break;
	case EXCEPTION_DATA:
		take_data(board, exception, pc);
		break;
	case EXCEPTION_BRK:
		take_breakpoint(board, pc);
		break;
	case EXCEPTION_RETURN:
		leave_handler(board);
		break;
	default:
		board->unknown = exception->kind;
		board_stop(board, STOPPED_BY_UNKNOWN);
	}
}

/*
 * What the engine does not execute: WFE or YIELD, behind which it stands (no
 * event is ever missing: they do nothing); code that is not Thumb, after which
 * it stops in any case; or an undefined instruction.  The latter two come as
 * exceptions next.
 */
void cm_invalid(void *context)
{
	struct board *board = context;
	const struct engine_block *block = board_block(board);
	guest_addr pc = cm_reg(board, CM_PC);

	if (!(cm_reg(board, CM_XPSR) & XPSR_THUMB)) {
		board_stop(board, STOPPED_TO_GO_ON);
	} else if (block && pc == block->pc + block->size) {
		engine_counter(board->engine)->current = 0;
		cm_set_pc(board, (uint32_t)pc | 1);
	}
}
