/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads.c - threads of Zephyr in all states; says which there are, and ends by
 * semihosting.  Zephyr must list its threads, with names and stacks, and do
 * without an MPU.
 */
#include <kernel.h>
#include <sys/printk.h>
#include <zephyr.h>

#define STACK 768
#define REPORTS 4
#define PRIORITY_SLEEP 2
#define PRIORITY_WAIT -3
#define PRIORITY_NEVER 4
#define PRIORITY_COMPUTE 6
#define PRIORITY_LATER 5

static K_SEM_DEFINE(given, 0, 1);
static volatile unsigned computed;

static void sleeps(void)
{
	for (;;)
		k_msleep(3);
}

static void waits(void)
{
	for (;;)
		k_sem_take(&given, K_FOREVER);
}

static void computes(void)
{
	for (;;)
		computed++;
}

K_THREAD_DEFINE(sleep, STACK, sleeps, NULL, NULL, NULL, PRIORITY_SLEEP, 0, 0);
K_THREAD_DEFINE(wait, STACK, waits, NULL, NULL, NULL, PRIORITY_WAIT, 0, 0);
K_THREAD_DEFINE(never, STACK, sleeps, NULL, NULL, NULL, PRIORITY_NEVER, 0, 0);
K_THREAD_DEFINE(compute, STACK, computes, NULL, NULL, NULL, PRIORITY_COMPUTE,
		0, 0);
K_THREAD_DEFINE(later, STACK, sleeps, NULL, NULL, NULL, PRIORITY_LATER, 0,
		100000);

static void say(const struct k_thread *thread, void *unused)
{
	(void)unused;
	printk("thread %s, state %s\n priority %d\n",
	       k_thread_name_get((k_tid_t)thread),
	       k_thread_state_str((k_tid_t)thread), thread->base.prio);
}

/* Where a question about the threads must be answered as here. */
__attribute__((noinline)) void report(void)
{
	printk("report\n");
	k_thread_foreach_unlocked(say, NULL);
}

static void leave(int status)
{
	const unsigned block[] = { 0x20026, (unsigned)status };
	register unsigned operation __asm__("r0") = 0x20;
	register const unsigned *argument __asm__("r1") = block;

	__asm__ volatile("bkpt 0xab"
			 : "+r"(operation)
			 : "r"(argument)
			 : "memory");
}

void main(void)
{
	k_thread_suspend(never);
	for (int i = 0; i < REPORTS; i++) {
		report();
		k_msleep(5);
		k_sem_give(&given);
	}
	leave(7);
}
