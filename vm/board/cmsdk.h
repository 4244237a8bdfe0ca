/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmsdk.h - devices of Arm's Cortex-M System Design Kit, and of the FPGA boards
 * that are made of it
 *
 * Source: Cortex-M System Design Kit Technical Reference Manual (DDI 0479),
 * chapter 4; Arm MPS2 FPGA Prototyping Board Technical Reference Manual, for
 * the system registers.
 *
 * Units:      offsets are from a device's first register; `now` is in ticks of
 *             the board, `cycle` ticks of the device's clock.
 */
#ifndef CPREC_VM_BOARD_CMSDK_H
#define CPREC_VM_BOARD_CMSDK_H

#include <stdbool.h>
#include <stdint.h>

struct state;

/* The last registers of a device: what it is. */
bool cmsdk_identity(uint64_t offset, uint8_t part, uint8_t version,
		    uint64_t *value);

/* ------- serial lines ------- */

struct cmsdk_uart {
	uint32_t control, divider;
	bool has_byte, overran, sent, received;	/* the latter: interrupts */
	uint8_t byte;
	void (*out)(void *context, uint8_t byte);
	void *context;
};

uint64_t cmsdk_uart_read(struct cmsdk_uart *uart, uint64_t offset);
void cmsdk_uart_write(struct cmsdk_uart *uart, uint64_t offset, uint32_t value);
void cmsdk_uart_receive(struct cmsdk_uart *uart, uint8_t byte);

/* What was typed, and is not read yet, is no part of its state; a replay was
 * told `value` by a register, or of the interrupt of a byte. */
void cmsdk_uart_state(struct cmsdk_uart *uart, unsigned number,
		      struct state *state);
void cmsdk_uart_follow(struct cmsdk_uart *uart, uint64_t offset,
		       uint64_t value);
void cmsdk_uart_received(struct cmsdk_uart *uart);

/* ------- timers: they count down, and begin anew ------- */

struct cmsdk_timer {
	uint32_t control, reload;
	uint32_t left;		/* while it stands */
	uint64_t zero_at;	/* while it runs */
	bool interrupts;
};

uint64_t cmsdk_timer_read(struct cmsdk_timer *timer, uint64_t offset,
			  uint64_t now, unsigned cycle);
void cmsdk_timer_write(struct cmsdk_timer *timer, uint64_t offset,
		       uint32_t value, uint64_t now, unsigned cycle);
void cmsdk_timer_look(struct cmsdk_timer *timer, uint64_t now, unsigned cycle);
uint64_t cmsdk_timer_next(const struct cmsdk_timer *timer);
void cmsdk_timer_state(struct cmsdk_timer *timer, unsigned number,
		       struct state *state);

/* Two of another kind, in one device. */
struct cmsdk_dual {
	struct cmsdk_dual_half {
		uint32_t control, load, left;
		uint64_t zero_at;
		bool interrupts;
	} halves[2];
};

uint64_t cmsdk_dual_read(struct cmsdk_dual *dual, uint64_t offset,
			 uint64_t now, unsigned cycle);
void cmsdk_dual_write(struct cmsdk_dual *dual, uint64_t offset, uint32_t value,
		      uint64_t now, unsigned cycle);
void cmsdk_dual_look(struct cmsdk_dual *dual, uint64_t now, unsigned cycle);
uint64_t cmsdk_dual_next(const struct cmsdk_dual *dual);
bool cmsdk_dual_interrupts(const struct cmsdk_dual *dual);
void cmsdk_dual_state(struct cmsdk_dual *dual, struct state *state);

/* Counts down, and resets the machine the second time. */
struct cmsdk_watchdog {
	uint32_t control, load;
	uint64_t zero_at;
	bool interrupts, locked, resets;
};

void cmsdk_watchdog_init(struct cmsdk_watchdog *dog);
uint64_t cmsdk_watchdog_read(struct cmsdk_watchdog *dog, uint64_t offset,
			     uint64_t now, unsigned cycle);
void cmsdk_watchdog_write(struct cmsdk_watchdog *dog, uint64_t offset,
			  uint32_t value, uint64_t now, unsigned cycle);
void cmsdk_watchdog_look(struct cmsdk_watchdog *dog, uint64_t now,
			 unsigned cycle);
uint64_t cmsdk_watchdog_next(const struct cmsdk_watchdog *dog);
void cmsdk_watchdog_state(struct cmsdk_watchdog *dog, struct state *state);

/* ------- pins ------- */

/* Nothing is connected: what is put out is what comes in. */
struct cmsdk_gpio {
	uint16_t out, enabled, alternate;
	uint16_t interrupts, edges, highs;	/* enabled; kinds of them */
	uint16_t status, before;
};

uint64_t cmsdk_gpio_read(struct cmsdk_gpio *gpio, uint64_t offset);
void cmsdk_gpio_write(struct cmsdk_gpio *gpio, uint64_t offset, uint32_t value);
void cmsdk_gpio_state(struct cmsdk_gpio *gpio, unsigned number,
		      struct state *state);

#endif
