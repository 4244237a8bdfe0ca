/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ends.c - firmware that ends in some way: -DEND says how */
#include "firmware.h"

void fault_handle(uint32_t *frame, uint32_t number)
{
	(void)frame;
	say_value("fault", number);
	__asm__ volatile("udf #1");
}

#if END == 1			/* a fault in the handler of faults */
int main(void)
{
	__asm__ volatile("udf #0");
	return 0;
}
#elif END == 2			/* a reset */
int main(void)
{
	say("reset\n");
	AIRCR = AIRCR_KEY | 4;
	for (;;)
		continue;
}
#elif END == 3			/* it waits for nothing */
int main(void)
{
	say("asleep\n");
	for (;;)
		__asm__ volatile("wfe\nyield\nwfi");
}
#elif END == 4			/* devices that are not there */
int main(void)
{
	for (unsigned i = 0; i < 3; i++)
		say_value("there", REG(0x40050000) + REG8(0x40050002));
	REG(0x40050000) = 1;
	REG(0x40050004) = 1;
	REG8(0x40050005) = 0x22;
	say_value("and", REG(0x40050004));
	return 0;
}
#elif END == 5			/* what is typed */
static volatile char line[80];
static volatile unsigned count;

HANDLER(uart0_rx)
{
	line[count++] = (char)UART_DATA(0);
	UART_INT(0) = 2;
}

int main(void)
{
	UART_CTRL(0) = 11;
	NVIC_ISER = 1;
	while (!count || line[count - 1] != '\n')
		__asm__ volatile("wfi");
	line[count] = 0;
	say("typed ");
	say((char *)line);
	return (int)count;
}
#elif END == 6			/* the stack is gone */
int main(void)
{
	__asm__ volatile("mov sp, %0\nsvc #1" :: "r"(0x90000000));
	return 0;
}
#elif END == 8			/* it begins anew */
static uint32_t *const kept = (uint32_t *)0x20300000;

int main(void)
{
	uint32_t times = ++*kept;

	say_value("began", times);
	/* All of these are as at the start. */
	say_value("was", (GPIO0_OUT == 0) | (SYST_RVR == 0) << 4);
	GPIO0_OUT = 5;
	SYST_RVR = 77;
	if (times == 1)
		AIRCR = AIRCR_KEY | 4;
	if (times == 3)
		return 3;
	DOG_LOAD = 1000;
	DOG_CONTROL = 3;
	for (;;)
		continue;
}
#elif END == 7			/* code that is not there */
int main(void)
{
	SHCSR = 0;
	((void (*)(void))0x60000001)();
	return 0;
}
#endif
