/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cortex_m.h - the ARMv7-M processor of a board
 *
 * What of its interrupt controller a replay needs is here: priorities, what is
 * active, status of faults.  What is pending or enabled, and the system timer,
 * only a live machine has (nvic.h): when it interrupts is recorded.
 *
 * cortex_m.c has its registers; cortex_m_exceptions.c enters exceptions and
 * returns; cortex_m_system.c has what is written to the system control space,
 * and addresses that are neither RAM nor devices; cortex_m_code.c knows
 * instructions that need attention before the engine executes them.
 *
 * Source: ARMv7-M Architecture Reference Manual (DDI 0403E), B1.5 (exceptions),
 * B3.2 (system control space), B3.4 (NVIC).
 */
#ifndef CPREC_VM_BOARD_CORTEX_M_H
#define CPREC_VM_BOARD_CORTEX_M_H

#include "vm/board/board_internal.h"

/* Numbers of exceptions. */
enum {
	CM_NMI = 2, CM_HARD_FAULT = 3, CM_MEM_FAULT = 4, CM_BUS_FAULT = 5,
	CM_USAGE_FAULT = 6, CM_SVC = 11, CM_PENDSV = 14, CM_SYSTICK = 15,
	CM_IRQ = 16,
};
#define CM_EXCEPTIONS 48u	/* with 32 interrupts */

/* Bits of CFSR. */
#define CFSR_IACCVIOL (1u << 0)
#define CFSR_DACCVIOL (1u << 1)
#define CFSR_MMARVALID (1u << 7)
#define CFSR_IBUSERR (1u << 8)
#define CFSR_PRECISERR (1u << 9)
#define CFSR_UNSTKERR (1u << 11)
#define CFSR_STKERR (1u << 12)
#define CFSR_BFARVALID (1u << 15)
#define CFSR_UNDEFINSTR (1u << 16)
#define CFSR_INVSTATE (1u << 17)
#define CFSR_INVPC (1u << 18)
#define CFSR_NOCP (1u << 19)
#define CFSR_UNALIGNED (1u << 24)
#define CFSR_DIVBYZERO (1u << 25)

#define HFSR_VECTTBL (1u << 1)
#define HFSR_FORCED (1u << 30)
#define HFSR_DEBUGEVT (1u << 31)

#define CCR_UNALIGN_TRP (1u << 3)
#define CCR_DIV_0_TRP (1u << 4)
#define CCR_STKALIGN (1u << 9)
#define CCR_NONBASETHRDENA (1u << 0)

#define FPCCR_LSPACT 1u
#define FPCCR_LSPEN (1u << 30)
#define FPCCR_ASPEN (1u << 31)

#define CONTROL_NPRIV 1u
#define CONTROL_SPSEL 2u
#define CONTROL_FPCA 4u

#define XPSR_EXCEPTION 0x1ffu
#define XPSR_IT 0x0600fc00u
#define XPSR_THUMB (1u << 24)

#define CM_PRIORITY_BITS 0xe0u	/* those that there are: the highest three */

struct cortex_m {
	bool has_float, has_bit_band;
	uint32_t system[CM_D0 - CM_VTOR];	/* from CM_VTOR on */
	uint8_t priorities[CM_EXCEPTIONS];
	uint64_t active;	/* a bit each */
	/* The newest HardFault: where it was, and what; for its user only. */
	guest_addr fault_at;
	uint32_t fault_status;
};

/* ------- cortex_m.c ------- */

static inline uint32_t *cm_system(const struct board *board, unsigned reg)
{
	return &board->cortex_m->system[reg - CM_VTOR];
}

static inline uint32_t cm_reg(const struct board *board, unsigned reg)
{
	return (uint32_t)board_reg(board, reg);
}

/* With what the address says of T. */
void cm_set_pc(struct board *board, uint32_t addr);

bool cm_is_privileged(const struct board *board);

/* ------- cortex_m_exceptions.c ------- */

/* The priority that an exception must be below, to be entered. */
int cm_priority(const struct board *board, bool with_primask);
int cm_priority_of(const struct board *board, unsigned number);

/* An exception at an instruction, or a fault with these bits of CFSR. */
void cm_take(struct board *board, unsigned number, guest_addr pc);
void cm_fault(struct board *board, uint32_t status, guest_addr pc);

void cm_unfetched(struct board *board, guest_addr pc);

/* It will never go on: why. */
void cm_lock_up(struct board *board, const char *why, guest_addr pc);

bool cm_interrupt(struct board *board, guest_addr pc, unsigned number);
void cm_exception(void *context, const struct engine_exception *exception);
void cm_invalid(void *context);

/* The registers of floating point are stored where they belong, if they are
 * not yet. */
void cm_preserve_float(struct board *board);

/* ------- cortex_m_system.c ------- */

uint64_t cm_read(void *context, uint64_t addr, unsigned size);
void cm_write(void *context, uint64_t addr, unsigned size, uint64_t value);

/* ------- cortex_m_code.c ------- */

/* The instruction at an address, and its size: of 32 bits, the first half is
 * the upper one. */
uint32_t cm_insn(const struct board *board, guest_addr pc, unsigned *size);

/* Of a coprocessor, or of floating point. */
bool cm_is_coprocessor(uint32_t insn, unsigned size);

unsigned cm_size(const struct board *board, guest_addr pc);
unsigned cm_count(const struct board *board, guest_addr pc, uint32_t size);
unsigned cm_limit(struct board *board, guest_addr pc, unsigned most);
bool cm_enter(struct board *board, const struct engine_block *block);
bool cm_waits(const struct board *board, guest_addr pc);

#endif
