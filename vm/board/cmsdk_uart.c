/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmsdk_uart.c - serial lines and pins of the CMSDK; see cmsdk.h */
#include "vm/board/cmsdk.h"

#include "vm/board/state.h"

/* Where identities begin; a byte in each word. */
#define IDENTITY 0xfd0u

bool cmsdk_identity(uint64_t offset, uint8_t part, uint8_t version,
		    uint64_t *value)
{
	const uint8_t bytes[] = {
		4, 0, 0, 0, part, 0xb8, version, 0, 0x0d, 0xf0, 0x05, 0xb1,
	};

	if (offset < IDENTITY)
		return false;
	*value = offset % 4 ? 0 : bytes[(offset - IDENTITY) / 4];
	return true;
}

/* ------- serial lines ------- */

enum { DATA = 0, STATE = 4, CONTROL = 8, INTERRUPTS = 12, DIVIDER = 16 };

#define STATE_FULL 2u		/* of bytes that came */
#define STATE_OVERRUN 8u
#define CONTROL_SENDS 1u
#define CONTROL_RECEIVES 2u
#define CONTROL_SENT 4u		/* interrupts */
#define CONTROL_RECEIVED 8u
#define INTERRUPT_SENT 1u
#define INTERRUPT_RECEIVED 2u
#define INTERRUPT_OVERRUN 8u

static uint64_t take_byte(struct cmsdk_uart *uart)
{
	uart->has_byte = false;
	return uart->byte;
}

uint64_t cmsdk_uart_read(struct cmsdk_uart *uart, uint64_t offset)
{
	uint64_t value;

	if (cmsdk_identity(offset, 0x21, 0x1b, &value))
		return value;
	switch (offset) {
	case DATA:
		return take_byte(uart);
	case STATE:
		return (uart->has_byte ? STATE_FULL : 0) |
		       (uart->overran ? STATE_OVERRUN : 0);
	case CONTROL:
		return uart->control;
	case INTERRUPTS:
		return (uart->sent ? INTERRUPT_SENT : 0) |
		       (uart->received ? INTERRUPT_RECEIVED : 0) |
		       (uart->overran && uart->control & 0x20 ?
				INTERRUPT_OVERRUN : 0);
	case DIVIDER:
		return uart->divider;
	default:
		return 0;
	}
}

/* A byte is sent as soon as it is written. */
static void send(struct cmsdk_uart *uart, uint8_t byte)
{
	uart->out(uart->context, byte);
	if (uart->control & CONTROL_SENT)
		uart->sent = true;
}

static void clear(struct cmsdk_uart *uart, uint32_t value)
{
	if (value & INTERRUPT_SENT)
		uart->sent = false;
	if (value & INTERRUPT_RECEIVED)
		uart->received = false;
	if (value & INTERRUPT_OVERRUN)
		uart->overran = false;
}

void cmsdk_uart_write(struct cmsdk_uart *uart, uint64_t offset, uint32_t value)
{
	switch (offset) {
	case DATA:
		send(uart, (uint8_t)value);
		break;
	case STATE:
		if (value & STATE_OVERRUN)
			uart->overran = false;
		break;
	case CONTROL:
		uart->control = value & 0x7f;
		break;
	case INTERRUPTS:
		clear(uart, value);
		break;
	case DIVIDER:
		uart->divider = value & 0xfffff;
		break;
	}
}

void cmsdk_uart_receive(struct cmsdk_uart *uart, uint8_t byte)
{
	if (!(uart->control & CONTROL_RECEIVES))
		return;
	uart->overran |= uart->has_byte;
	uart->byte = byte;
	uart->has_byte = true;
	if (uart->control & CONTROL_RECEIVED)
		uart->received = true;
}

void cmsdk_uart_state(struct cmsdk_uart *uart, unsigned number,
		      struct state *state)
{
	state_device(state, "uart", number);
	STATE_NUMBER(state, uart->control, UINT32_MAX);
	STATE_NUMBER(state, uart->divider, UINT32_MAX);
	STATE_NUMBER(state, uart->sent, 1);
	STATE_NUMBER(state, uart->received, 1);
	STATE_NUMBER(state, uart->overran, 1);
}

void cmsdk_uart_follow(struct cmsdk_uart *uart, uint64_t offset, uint64_t value)
{
	if (offset == STATE)
		uart->overran = value & STATE_OVERRUN;
	else if (offset == INTERRUPTS)
		uart->received = value & INTERRUPT_RECEIVED;
}

void cmsdk_uart_received(struct cmsdk_uart *uart)
{
	uart->received = true;
}

/* ------- pins ------- */

enum {
	PINS = 0, PINS_OUT = 4, ENABLE = 0x10, DISABLE = 0x14,
	ALTERNATE = 0x18, NO_ALTERNATE = 0x1c, INTERRUPT = 0x20,
	NO_INTERRUPT = 0x24, EDGES = 0x28, LEVELS = 0x2c, HIGHS = 0x30,
	LOWS = 0x34, STATUS = 0x38,
	LOWER = 0x400,		/* bits of the lower byte, by a mask */
	UPPER = 0x800,
};

static uint16_t pins(const struct cmsdk_gpio *gpio)
{
	return gpio->out & gpio->enabled;
}

static void look_at_pins(struct cmsdk_gpio *gpio)
{
	uint16_t now = pins(gpio), high = gpio->highs;
	uint16_t edges = (uint16_t)((high & now & ~gpio->before) |
				    (~high & ~now & gpio->before));
	uint16_t levels = (uint16_t)~(now ^ high);

	gpio->status |= gpio->interrupts &
			((gpio->edges & edges) | (~gpio->edges & levels));
	gpio->before = now;
}

uint64_t cmsdk_gpio_read(struct cmsdk_gpio *gpio, uint64_t offset)
{
	uint64_t value;

	if (cmsdk_identity(offset, 0x20, 0x1b, &value))
		return value;
	if (offset >= UPPER && offset < UPPER + LOWER)
		return pins(gpio) & (offset - UPPER) / 4 << 8;
	if (offset >= LOWER && offset < UPPER)
		return pins(gpio) & (offset - LOWER) / 4;
	switch (offset) {
	case PINS:
		return pins(gpio);
	case PINS_OUT:
		return gpio->out;
	case ENABLE:
	case DISABLE:
		return gpio->enabled;
	case ALTERNATE:
	case NO_ALTERNATE:
		return gpio->alternate;
	case INTERRUPT:
	case NO_INTERRUPT:
		return gpio->interrupts;
	case EDGES:
	case LEVELS:
		return gpio->edges;
	case HIGHS:
	case LOWS:
		return gpio->highs;
	case STATUS:
		return gpio->status;
	default:
		return 0;
	}
}

static void write_masked(struct cmsdk_gpio *gpio, uint16_t mask, uint16_t value)
{
	gpio->out = (uint16_t)((gpio->out & ~mask) | (value & mask));
}

/* One register sets bits, the one behind it clears them. */
static void write_bits(struct cmsdk_gpio *gpio, uint64_t offset, uint16_t bits)
{
	uint16_t *const pairs[] = {
		&gpio->enabled, &gpio->alternate, &gpio->interrupts,
		&gpio->edges, &gpio->highs,
	};
	uint16_t *pair = pairs[(offset - ENABLE) / 8];

	*pair = offset & 4 ? (uint16_t)(*pair & ~bits) :
			     (uint16_t)(*pair | bits);
}

void cmsdk_gpio_write(struct cmsdk_gpio *gpio, uint64_t offset, uint32_t value)
{
	uint16_t bits = (uint16_t)value;

	if (offset >= UPPER && offset < UPPER + LOWER)
		write_masked(gpio, (uint16_t)((offset - UPPER) / 4 << 8), bits);
	else if (offset >= LOWER && offset < UPPER)
		write_masked(gpio, (uint16_t)((offset - LOWER) / 4), bits);
	else if (offset == PINS || offset == PINS_OUT)
		gpio->out = bits;
	else if (offset >= ENABLE && offset <= LOWS && offset % 4 == 0)
		write_bits(gpio, offset, bits);
	else if (offset == STATUS)
		gpio->status &= (uint16_t)~bits;
	look_at_pins(gpio);
}

void cmsdk_gpio_state(struct cmsdk_gpio *gpio, unsigned number,
		      struct state *state)
{
	state_device(state, "gpio", number);
	STATE_NUMBER(state, gpio->out, UINT16_MAX);
	STATE_NUMBER(state, gpio->enabled, UINT16_MAX);
	STATE_NUMBER(state, gpio->alternate, UINT16_MAX);
	STATE_NUMBER(state, gpio->interrupts, UINT16_MAX);
	STATE_NUMBER(state, gpio->edges, UINT16_MAX);
	STATE_NUMBER(state, gpio->highs, UINT16_MAX);
	STATE_NUMBER(state, gpio->status, UINT16_MAX);
	STATE_NUMBER(state, gpio->before, UINT16_MAX);
}
