/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_code.c - programs that write code: many functions on few pages, which
 * are rewritten while others beside them were executed, as a just-in-time
 * compiler does; also with the protection changed in between, and by another
 * thread.
 */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/guests/guest.h"
#include "tests/guests/guest_machine.h"

enum { FUNCTIONS = 200, ROOM = 32, SIZE = FUNCTIONS * ROOM, TURNS = 3000 };

static uint8_t *code;

static void write_function(int number, int value)
{
	write_answer(code + number * ROOM, (uint32_t)value);
}

static int call(int number)
{
	int (*function)(void);
	uint8_t *at = code + number * ROOM;

	memcpy(&function, &at, sizeof(function));
	return function();
}

static void map_code(int prot)
{
	code = mmap(NULL, SIZE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < FUNCTIONS; i++)
		write_function(i, i);
}

static void test_beside(void)
{
	int wrong = 0;

	map_code(PROT_READ | PROT_WRITE | PROT_EXEC);
	for (int i = 0; i < TURNS; i++) {
		int first = i % 100, second = i * 7 % 100 + 100;

		write_function(first, i);
		write_function(second, i * 3);
		wrong += call(first) != i;
		wrong += call(second) != i * 3;
		for (int k = 0; k < 3; k++)
			call((i + k) % 100);
		if (i % 64 == 0)
			getppid();
	}
	CHECK(wrong == 0);
	munmap(code, SIZE);
}

static void test_protected(void)
{
	int wrong = 0;

	map_code(PROT_READ | PROT_WRITE);
	mprotect(code, SIZE, PROT_READ | PROT_EXEC);
	for (int i = 0; i < FUNCTIONS; i++)
		wrong += call(i) != i;
	for (int turn = 1; turn <= 20; turn++) {
		mprotect(code, SIZE, PROT_READ | PROT_WRITE);
		for (int i = turn % 3; i < FUNCTIONS; i += 3)
			write_function(i, i + turn * 1000);
		mprotect(code, SIZE, PROT_READ | PROT_EXEC);
		for (int i = turn % 3; i < FUNCTIONS; i += 3)
			wrong += call(i) != i + turn * 1000;
	}
	CHECK(wrong == 0);
	munmap(code, SIZE);
}

/* ------- written by another thread ------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int written, called;

static void *write_code(void *argument)
{
	(void)argument;
	for (int i = 1; i <= TURNS; i++) {
		pthread_mutex_lock(&lock);
		while (called != i - 1)
			pthread_cond_wait(&changed, &lock);
		write_function(i % 100, i);
		write_function(i * 7 % 100 + 100, -i);
		written = i;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void test_by_thread(void)
{
	pthread_t writer;
	int wrong = 0;

	map_code(PROT_READ | PROT_WRITE | PROT_EXEC);
	pthread_create(&writer, NULL, write_code, NULL);
	for (int i = 1; i <= TURNS; i++) {
		pthread_mutex_lock(&lock);
		while (written != i)
			pthread_cond_wait(&changed, &lock);
		wrong += call(i % 100) != i;
		wrong += call(i * 7 % 100 + 100) != -i;
		called = i;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	pthread_join(writer, NULL);
	CHECK(wrong == 0);
	munmap(code, SIZE);
}

int main(void)
{
	test_beside();
	test_protected();
	test_by_thread();
	return guest_end();
}
