/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_threads_jit.c - code that some threads write and others execute */
#include <sched.h>
#include <sys/mman.h>

#include "tests/guests/guest_threads.h"

enum { PAGE = 4096, ROUNDS = 100, WORKERS = 3 };

static uint8_t *code;		/* pages that may be written and executed */
static int turn, sum_of_all;

/* mov eax, value; ret */
static void write_constant(uint8_t *at, uint32_t value)
{
	at[0] = 0xb8;
	memcpy(at + 1, &value, 4);
	at[5] = 0xc3;
}

/* call target; add eax, 1; ret */
static void write_caller(uint8_t *at, const uint8_t *target)
{
	int32_t distance = (int32_t)(target - (at + 5));

	at[0] = 0xe8;
	memcpy(at + 1, &distance, 4);
	memcpy(at + 5, "\x83\xc0\x01\xc3", 4);
}

/* Makes a call go elsewhere, in one aligned store, as compilers do. */
static void patch_caller(uint8_t *at, const uint8_t *target)
{
	int32_t distance = (int32_t)(target - (at + 5));

	__atomic_store_n((int32_t *)(void *)(at + 1), distance,
			 __ATOMIC_SEQ_CST);
}

static unsigned call(const uint8_t *at)
{
	unsigned (*function)(void);

	memcpy(&function, &at, sizeof(at));
	return function();
}

/* A caller's operand is aligned if it stands 3 bytes behind such a place. */
static uint8_t *slot(int page, int number)
{
	return code + page * PAGE + number * 16 + 3;
}

static void test_alone(void)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		write_constant(slot(0, 0), i);
		write_constant(slot(1, 1), i + 1000);
		write_caller(slot(0, 2), slot(0, 0));
		wrong += call(slot(0, 2)) != i + 1;
		patch_caller(slot(0, 2), slot(1, 1));
		wrong += call(slot(0, 2)) != i + 1001;
	}
	CHECK(wrong == 0);
}

/* Waits for each new function, and calls it. */
static void *call_new(void *argument)
{
	int me = (int)(intptr_t)argument, sum = 0;

	for (int i = 0; i < ROUNDS; i++) {
		while (load(&turn) != i * (WORKERS + 1) + me + 1)
			sched_yield();
		sum += (int)call(slot(2, 0));
		add(&turn, 1);
	}
	add(&sum_of_all, sum);
	return NULL;
}

/* One writes, all call: the same place, in turns. */
static void test_written_by_one(void)
{
	pthread_t threads[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		threads[i] = start(call_new, (void *)(intptr_t)i);
	for (int i = 0; i < ROUNDS; i++) {
		while (load(&turn) != i * (WORKERS + 1))
			sched_yield();
		write_constant(slot(2, 0), (uint32_t)i);
		add(&turn, 1);
	}
	for (int i = 0; i < WORKERS; i++)
		join(threads[i]);
	CHECK(load(&sum_of_all) == WORKERS * ROUNDS * (ROUNDS - 1) / 2);
}

static int seen_last, wrong_values;

/* Calls all the time, while the call is made to go elsewhere. */
static void *call_always(void *argument)
{
	unsigned last = 0;

	(void)argument;
	while (last != ROUNDS) {
		unsigned now = call(slot(3, 0)) - 1;

		if (now < last || now > ROUNDS)
			add(&wrong_values, 1);
		last = now;
		store(&seen_last, (int)now);
		sched_yield();
	}
	return NULL;
}

static void test_patched_meanwhile(void)
{
	pthread_t threads[WORKERS];

	write_constant(slot(4, 0), 0);
	write_caller(slot(3, 0), slot(4, 0));
	for (int i = 0; i < WORKERS; i++)
		threads[i] = start(call_always, NULL);
	for (unsigned i = 1; i <= ROUNDS; i++) {
		uint8_t *target = slot(4 + (int)i % 2, (int)i);

		write_constant(target, i);
		patch_caller(slot(3, 0), target);
		while (load(&seen_last) != (int)i)
			sched_yield();
	}
	for (int i = 0; i < WORKERS; i++)
		join(threads[i]);
	CHECK(load(&wrong_values) == 0);
}

/* ------- code that changes its own caller before it returns to it ------- */

static uint8_t *patched;
static unsigned times;

/* Called by what it changes: the next call goes elsewhere. */
static unsigned resolve(void)
{
	patch_caller(patched, slot(7, 5));
	return 100 + times++;
}

/* mov rax, resolve; jmp rax */
static void write_jump(uint8_t *at, unsigned (*target)(void))
{
	memcpy(at, "\x48\xb8", 2);
	memcpy(at + 2, &target, 8);
	memcpy(at + 10, "\xff\xe0", 2);
}

static void *resolve_all(void *argument)
{
	unsigned wrong = 0;

	(void)argument;
	write_jump(slot(7, 0), resolve);
	write_constant(slot(7, 5), 7);
	for (unsigned i = 0; i < ROUNDS; i++) {
		patched = slot(6, (int)i);
		write_caller(patched, slot(7, 0));
		/* The stack is aligned for it by the caller's call. */
		wrong += call(patched) != 101 + i;
		wrong += call(patched) != 8;
	}
	return (void *)(uintptr_t)wrong;
}

/* Code whose page loses and gets permissions, in different threads. */
static void *protect(void *argument)
{
	unsigned wrong = 0;

	(void)argument;
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (mprotect(code + 8 * PAGE, PAGE, PROT_READ | PROT_WRITE))
			add(&wrong_values, 1);
		write_constant(slot(8, 0), i);
		if (mprotect(code + 8 * PAGE, PAGE, PROT_READ | PROT_EXEC))
			add(&wrong_values, 1);
		wrong += call(slot(8, 0)) != i;
	}
	return (void *)(uintptr_t)wrong;
}

int main(void)
{
	guest_watchdog(100);
	code = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(code != MAP_FAILED);
	test_alone();
	CHECK(!join(start(resolve_all, NULL)));
	times = 0;
	CHECK(!resolve_all(NULL));
	test_written_by_one();
	test_patched_meanwhile();
	CHECK(!join(start(protect, NULL)));
	CHECK(!protect(NULL));
	CHECK(load(&wrong_values) == 0);
	return guest_end();
}
