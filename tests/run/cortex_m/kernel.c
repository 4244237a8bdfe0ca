/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel.c - a small preemptive kernel: tasks on stacks of their own, that are
 * switched by time and when they wait; a queue between two of them.  It says
 * what does not depend on when.
 */
#include "firmware.h"

#define TASKS 5u
#define STACK 256u
#define ITEMS 50u

struct task {
	uint32_t *sp;
	uint32_t wakes;		/* tick; 0: it runs */
	uint32_t stack[STACK] __attribute__((aligned(8)));
};

static struct task tasks[TASKS];
static volatile unsigned current;
static volatile uint32_t ticks;
static volatile uint32_t queue, queue_full, spins[2], sum, switches;
static volatile int done;

/* ------- switching ------- */

HANDLER(systick)
{
	ticks++;
	ICSR = ICSR_PENDSVSET;
}

__attribute__((used)) static uint32_t *choose(uint32_t *sp)
{
	unsigned next = current;

	tasks[current].sp = sp;
	switches++;
	do {
		next = (next + 1) % TASKS;
	} while (tasks[next].wakes > ticks);
	tasks[next].wakes = 0;
	current = next;
	return tasks[next].sp;
}

__attribute__((naked)) void pendsv(void)
{
	__asm__ volatile(
		"mrs r0, psp\n"
#ifdef FLOATS
		"tst lr, #16\n"
		"it eq\n"
		"vstmdbeq r0!, {s16-s31}\n"
#endif
		"stmdb r0!, {r4-r11, lr}\n"
		"cpsid i\n"
		"bl choose\n"
		"cpsie i\n"
		"ldmia r0!, {r4-r11, lr}\n"
#ifdef FLOATS
		"tst lr, #16\n"
		"it eq\n"
		"vldmiaeq r0!, {s16-s31}\n"
#endif
		"msr psp, r0\n"
		"isb\n"
		"bx lr\n");
}

static void rest(uint32_t count)
{
	tasks[current].wakes = ticks + count;
	ICSR = ICSR_PENDSVSET;
	barrier();
}

/* ------- tasks ------- */

static void produce(void)
{
	for (uint32_t i = 1; i <= ITEMS; i++) {
		while (queue_full)
			rest(1);
		queue = i * i;
		queue_full = 1;
	}
	for (;;)
		rest(1000);
}

static void consume(void)
{
	for (uint32_t i = 1; i <= ITEMS; i++) {
		while (!queue_full)
			rest(1);
		sum += queue;
		queue_full = 0;
		if (i % 50 == 0)
			say_value("sum", sum);
	}
	done = 1;
	for (;;)
		rest(1000);
}

/* Each computes the same again and again, whoever interrupts. */
static void spin_0(void)
{
	uint32_t first = 0;

	for (;;) {
		uint32_t x = 1;

		for (uint32_t i = 0; i < 500; i++)
			x = x & 1 ? x >> 1 ^ 0xedb88320 : x >> 1;
		if (!first)
			first = x;
		if (x != first)
			leave(2);
		spins[0]++;
	}
}

#ifdef FLOATS
typedef float number;
#else
typedef uint32_t number;
#endif

static void spin_1(void)
{
	number first = 0;

	for (;;) {
		number x = 1;

		for (uint32_t i = 1; i < 200; i++)
			x += (number)1000000 / (number)(i * i);
		if (first == 0)
			first = x;
		if (x != first)
			leave(3);
		spins[1]++;
	}
}

static void watch(void)
{
	while (!done)
		rest(3);
	say_value("both computed", spins[0] > 10 && spins[1] > 10);
	say_value("switched", switches > 100);
	leave(0);
}

static void make(unsigned i, void (*function)(void))
{
	uint32_t *frame = tasks[i].stack + STACK - 8;

	frame[6] = (uint32_t)function & ~1u;
	frame[7] = 1u << 24;
	frame -= 9;
	frame[8] = 0xfffffffd;
	tasks[i].sp = frame;
}

int main(void)
{
#ifdef FLOATS
	CPACR |= 0xf << 20;
	barrier();
#endif
	make(0, produce);
	make(1, consume);
	make(2, spin_0);
	make(3, spin_1);
	make(4, watch);
	SHPR(14) = SHPR(15) = 0xe0;
	SYST_RVR = 24999;
	SYST_CVR = 0;
	SYST_CSR = 7;
	/* This becomes the first task. */
	__asm__ volatile(
		"msr psp, %0\n"
		"mov r0, #2\n"
		"msr control, r0\n"
		"isb\n"
		"bx %1\n"
		:: "r"(tasks[0].stack + STACK), "r"(produce) : "r0");
	return 0;
}
