/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * monitor_arm64.c - a store-exclusive fails behind whatever entered the kernel
 *
 * Memory holds the marked value again each time: only the monitor tells.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>

#ifdef __arm__
typedef uint32_t number;
#define MARK "ldrex %1, [%2]\n"
#define STORE_MARKED "strex %0, %1, [%2]"
#define REGISTERS "r0", "ip", "lr"
#define TELL "mov ip, #1\nstr ip, [%3]\n"
#define WAIT "1: ldr ip, [%3]\ncmp ip, #2\nbne 1b\n"
#define CALL "mov ip, r7\nmov r7, #20\nsvc #0\nmov r7, ip\n"
#else
typedef uint64_t number;
#define MARK "ldxr %1, [%2]\n"
#define STORE_MARKED "stxr %w0, %1, [%2]"
#define REGISTERS "x0", "x8"
#define TELL "mov w8, #1\nstr w8, [%3]\n"
#define WAIT "1: ldr w8, [%3]\ncmp w8, #2\nb.ne 1b\n"
#define CALL "mov x8, #172\nsvc #0\n"		/* getpid */
#endif

static number word = 5;
static volatile int turn;

static void *write_twice(void *unused)
{
	while (turn != 1)
		;
	*(volatile number *)&word = 6;
	*(volatile number *)&word = 5;
	turn = 2;
	return unused;
}

static void on_alarm(int signal)
{
	(void)signal;
	turn = 2;
}

/* 1: the store failed.  Between it and the load, these are executed. */
#define STORE(between, ...)                                                    \
	({                                                                     \
		unsigned failed_;                                              \
		number value_;                                                 \
		__asm__ volatile(MARK between STORE_MARKED                     \
				 : "=&r"(failed_), "=&r"(value_)               \
				 : "r"(&word), "r"(&turn)                      \
				 : "memory", "cc", REGISTERS);                 \
		failed_;                                                       \
	})

int main(void)
{
	const struct itimerval soon = { .it_value = { .tv_usec = 20000 } };
	pthread_t thread;

	printf("nothing: %u\n", STORE(""));
	printf("a clear: %u\n", STORE("clrex\n"));
	printf("a system call: %u\n", STORE(CALL));
	pthread_create(&thread, NULL, write_twice, NULL);
	printf("another thread: %u\n", STORE(TELL WAIT));
	pthread_join(thread, NULL);
	turn = 0;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &soon, NULL);
	printf("a signal: %u\n", STORE(WAIT));
	return 0;
}
