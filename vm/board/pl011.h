/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pl011.h - a serial line, which is the console: PL011
 *
 * Bytes leave at once.  Those that come in wait in a queue, which may be longer
 * than the device's own would be.
 *
 * Source: PrimeCell UART (PL011), revision r1p5 (DDI 0183G), chapter 3.
 */
#ifndef CPREC_VM_BOARD_PL011_H
#define CPREC_VM_BOARD_PL011_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PL011_DATA 0u		/* offset of the register for bytes */
#define PL011_QUEUE 4096u

struct pl011 {
	uint32_t interrupts, mask;	/* raised ones, those let through */
	uint32_t control, line, levels, whole, fraction;
	uint8_t queue[PL011_QUEUE];
	size_t first, count;		/* of the queue */
	void (*out)(void *context, uint8_t byte);
	void *context;
};

/* `out` is called with what the guest writes. */
void pl011_init(struct pl011 *uart, void (*out)(void *context, uint8_t byte),
		void *context);

/* How many bytes there is room for; they come in. */
size_t pl011_room(const struct pl011 *uart);
void pl011_receive(struct pl011 *uart, const uint8_t *bytes, size_t count);

/* Whether it wants to interrupt. */
bool pl011_interrupts(const struct pl011 *uart);

struct state;
/* But for the queue: what was typed and not read yet. */
void pl011_state(struct pl011 *uart, struct state *state);

uint64_t pl011_read(void *uart, uint64_t offset, unsigned size);
void pl011_write(void *uart, uint64_t offset, unsigned size, uint64_t value);

#endif
