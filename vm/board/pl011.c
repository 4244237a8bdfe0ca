/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pl011.c - see pl011.h */
#include "vm/board/pl011.h"

#include "vm/board/state.h"

enum {
	UARTFR = 0x18, UARTIBRD = 0x24, UARTFBRD = 0x28, UARTLCR_H = 0x2c,
	UARTCR = 0x30, UARTIFLS = 0x34, UARTIMSC = 0x38, UARTRIS = 0x3c,
	UARTMIS = 0x40, UARTICR = 0x44, IDENTITY_START = 0xfe0,
	IDENTITY_END = 0x1000,
};

/* Of the flag register. */
#define RECEIVES_NOTHING 0x10u
#define SENDS_NOTHING 0x80u

/* Of the interrupt registers. */
#define RAISED_BY_INPUT 0x50u	/* a level is reached; there has been a pause */
#define RAISED_BY_OUTPUT 0x20u

#define CONTROL_START 0x300u	/* it sends and receives */
#define LEVELS_START 0x12u

void pl011_init(struct pl011 *uart, void (*out)(void *context, uint8_t byte),
		void *context)
{
	*uart = (struct pl011){
		.control = CONTROL_START, .levels = LEVELS_START,
		.out = out, .context = context,
	};
}

size_t pl011_room(const struct pl011 *uart)
{
	return PL011_QUEUE - uart->count;
}

static void look_at_queue(struct pl011 *uart)
{
	if (uart->count)
		uart->interrupts |= RAISED_BY_INPUT;
	else
		uart->interrupts &= ~RAISED_BY_INPUT;
}

void pl011_receive(struct pl011 *uart, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		uart->queue[(uart->first + uart->count++) % PL011_QUEUE] =
			bytes[i];
	look_at_queue(uart);
}

static uint8_t take(struct pl011 *uart)
{
	uint8_t byte = 0;

	if (uart->count) {
		byte = uart->queue[uart->first];
		uart->first = (uart->first + 1) % PL011_QUEUE;
		uart->count--;
	}
	look_at_queue(uart);
	return byte;
}

bool pl011_interrupts(const struct pl011 *uart)
{
	return uart->interrupts & uart->mask;
}

static uint8_t identity(uint64_t offset)
{
	static const uint8_t bytes[] = { 0x11, 0x10, 0x14, 0x00,
					 0x0d, 0xf0, 0x05, 0xb1 };

	return bytes[(offset - IDENTITY_START) / 4];
}

uint64_t pl011_read(void *context, uint64_t offset, unsigned size)
{
	struct pl011 *uart = context;

	(void)size;
	if (offset >= IDENTITY_START && offset < IDENTITY_END)
		return identity(offset);
	switch (offset) {
	case PL011_DATA:
		return take(uart);
	case UARTFR:
		return SENDS_NOTHING | (uart->count ? 0 : RECEIVES_NOTHING);
	case UARTIBRD:
		return uart->whole;
	case UARTFBRD:
		return uart->fraction;
	case UARTLCR_H:
		return uart->line;
	case UARTCR:
		return uart->control;
	case UARTIFLS:
		return uart->levels;
	case UARTIMSC:
		return uart->mask;
	case UARTRIS:
		return uart->interrupts;
	case UARTMIS:
		return uart->interrupts & uart->mask;
	default:
		return 0;
	}
}

void pl011_write(void *context, uint64_t offset, unsigned size, uint64_t value)
{
	struct pl011 *uart = context;
	uint32_t word = (uint32_t)value;

	(void)size;
	switch (offset) {
	case PL011_DATA:
		uart->out(uart->context, (uint8_t)value);
		uart->interrupts |= RAISED_BY_OUTPUT;
		break;
	case UARTIBRD:
		uart->whole = word;
		break;
	case UARTFBRD:
		uart->fraction = word;
		break;
	case UARTLCR_H:
		uart->line = word;
		break;
	case UARTCR:
		uart->control = word;
		break;
	case UARTIFLS:
		uart->levels = word;
		break;
	case UARTIMSC:
		uart->mask = word;
		/* All has been sent long ago. */
		uart->interrupts |= word & RAISED_BY_OUTPUT;
		break;
	case UARTICR:
		uart->interrupts &= ~word;
		look_at_queue(uart);
		break;
	}
}

void pl011_state(struct pl011 *uart, struct state *state)
{
	state_device(state, "pl011", 0);
	STATE_NUMBER(state, uart->interrupts, UINT32_MAX);
	STATE_NUMBER(state, uart->mask, UINT32_MAX);
	STATE_NUMBER(state, uart->control, UINT32_MAX);
	STATE_NUMBER(state, uart->line, UINT32_MAX);
	STATE_NUMBER(state, uart->levels, UINT32_MAX);
	STATE_NUMBER(state, uart->whole, UINT32_MAX);
	STATE_NUMBER(state, uart->fraction, UINT32_MAX);
	look_at_queue(uart);
}
