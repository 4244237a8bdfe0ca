/* SPDX-License-Identifier: GPL-2.0-or-later */
/* start.c - vectors of firmware, its start, and its console */
#include "firmware.h"

/* ------- the console ------- */

void say(const char *text)
{
	while (*text) {
		while (UART_STATE(0) & 1)
			continue;
		UART_DATA(0) = (uint8_t)*text++;
	}
}

void say_value(const char *what, uint32_t value)
{
	char digits[9];

	for (unsigned i = 0; i < 8; i++)
		digits[i] = "0123456789abcdef"[value >> (28 - 4 * i) & 15];
	digits[8] = 0;
	say(what);
	say(" ");
	say(digits);
	say("\n");
}

void leave(uint32_t status)
{
	const uint32_t block[2] = { 0x20026, status };
	register uint32_t operation __asm__("r0") = 0x20;
	register const uint32_t *argument __asm__("r1") = block;

	__asm__ volatile("bkpt 0xab" : "+r"(operation) : "r"(argument)
			 : "memory");
	for (;;)
		continue;
}

/* ------- calls and faults ------- */

volatile uint32_t process_frame_xpsr, process_return;

/* Of firmware that has none of its own. */
__attribute__((weak)) uint32_t svc_handle(uint32_t *frame)
{
	return frame[0];
}

__attribute__((weak)) void fault_handle(uint32_t *frame, uint32_t number)
{
	say_value("fault", number);
	say_value("at", frame[6]);
	leave(1);
}

/* 9: the caller gets its privileges back. */
__attribute__((used)) static void svc_look(uint32_t *frame, uint32_t back)
{
	uint8_t number = ((uint8_t *)frame[6])[-2];

	if (number == 3) {
		process_frame_xpsr = frame[7];
		process_return = back;
	}
	if (number == 9) {
		uint32_t control;

		__asm__ volatile("mrs %0, control" : "=r"(control));
		__asm__ volatile("msr control, %0" :: "r"(control & ~1u));
	}
	svc_handle(frame);
}

__attribute__((naked)) static void svc(void)
{
	__asm__ volatile("tst lr, #4\nite eq\nmrseq r0, msp\nmrsne r0, psp\n"
			 "mov r1, lr\nb svc_look");
}

__attribute__((naked)) static void fault(void)
{
	__asm__ volatile("tst lr, #4\nite eq\nmrseq r0, msp\nmrsne r0, psp\n"
			 "mrs r1, ipsr\nb fault_handle");
}

__attribute__((naked)) uint32_t svc1(uint32_t value)
{
	(void)value;
	__asm__ volatile("svc #1\nbx lr");
}

__attribute__((naked)) uint32_t svc2(uint32_t value)
{
	(void)value;
	__asm__ volatile("svc #2\nbx lr");
}

/* ------- vectors ------- */

extern uint32_t stack_top[], data_start[], data_end[], data_from[],
	bss_start[], bss_end[];

static void reset(void)
{
	for (uint32_t *to = data_start, *from = data_from; to < data_end;)
		*to++ = *from++;
	for (uint32_t *to = bss_start; to < bss_end;)
		*to++ = 0;
	UART_BAUD(0) = 16;
	UART_CTRL(0) = 1;
	leave((uint32_t)main());
}

void nothing(void)
{
}

#define WEAK(name)                                                             \
	void name(void) __attribute__((weak, alias("nothing")))

WEAK(pendsv); WEAK(systick); WEAK(timer0); WEAK(dual); WEAK(uart1_tx);
WEAK(uart0_rx); WEAK(irq24); WEAK(irq25); WEAK(irq26); WEAK(irq27); WEAK(nmi);

__attribute__((section(".vectors"), used))
static void *const vectors[48] = {
	stack_top, reset, nmi, fault, fault, fault, fault,
	[11] = svc, [14] = pendsv, [15] = systick,
	[16 + 0] = uart0_rx, [16 + 3] = uart1_tx, [16 + 8] = timer0, [16 + 10] = dual,
	[16 + 24] = irq24, irq25, irq26, irq27,
};
