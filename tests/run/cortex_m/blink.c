/* SPDX-License-Identifier: GPL-2.0-or-later */
/* blink.c - a LED on a pin, by a handler: as in docs/machines.md */
#define REG(addr) (*(volatile unsigned *)(addr))
#define GPIO_OUT REG(0x40010004)
#define GPIO_ENABLE REG(0x40010010)
#define SYST_CSR REG(0xe000e010)
#define SYST_RVR REG(0xe000e014)

static volatile unsigned ticks;
static unsigned level;

void systick(void)
{
	if (++ticks % 20)
		return;
	level ^= 1 << 5;
	GPIO_OUT = level;
}

void start(void)
{
	GPIO_ENABLE = 1 << 5;
	SYST_RVR = 25000 - 1;
	SYST_CSR = 7;
	while (ticks < 100)
		__asm__ volatile("wfi");
	/* semihosting: the end */
	__asm__ volatile("mov r0, #0x18\n ldr r1, =0x20026\n bkpt 0xab");
}

__attribute__((section(".vectors"), used))
void *const vectors[16] = { (void *)0x20004000, start, [15] = systick };
