/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines.c - threads that write, each its own lines, to both standard streams
 *
 * Every line begins with the number of the thread that writes it.  The line
 * itself is made by another thread, in memory that both use.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Others run while a line that is so long is written. */
enum { THREADS = 4, LINES = 12, LONG_LINE = 6000 };

struct desk {
	_Atomic int made;	/* lines; taken ones are overwritten */
	_Atomic int taken;
	_Atomic int tid;	/* of the thread that sits here */
	char line[LONG_LINE];
	size_t size;
};

static struct desk desks[THREADS];
static volatile unsigned long sum;

static void work(unsigned turns)
{
	for (unsigned i = 0; i < turns; i++)
		sum += i;
}

static int put(int stream, const char *line, size_t size)
{
	/* Part of it from memory of its own. */
	char half[LONG_LINE];
	struct iovec parts[2] = {
		{ half, size / 2 },
		{ (void *)(line + size / 2), size - size / 2 },
	};

	memcpy(half, line, size / 2);
	return writev(stream, parts, 2) == (ssize_t)size ? 0 : 1;
}

static void *sit(void *argument)
{
	struct desk *desk = argument;
	size_t bad = 0;

	desk->tid = gettid();
	for (int i = 0; i < LINES; i++) {
		while (desk->made == i)
			sched_yield();
		bad += put(i % 3 == 2 ? 2 : 1, desk->line, desk->size);
		work(3000);
		desk->taken = i + 1;
	}
	return (void *)bad;
}

static void make(struct desk *desk, int number)
{
	while (!desk->tid || desk->taken < number)
		sched_yield();
	desk->size = (size_t)snprintf(desk->line, sizeof(desk->line),
				      "%d: line %d of desk %d\n", desk->tid,
				      number, (int)(desk - desks));
	if (number % 4 == 3) {
		memset(desk->line + desk->size - 1, '.',
		       LONG_LINE - desk->size);
		desk->line[LONG_LINE - 1] = '\n';
		desk->size = LONG_LINE;
	}
	desk->made = number + 1;
}

int main(void)
{
	pthread_t threads[THREADS];
	size_t bad = 0;
	char line[100];
	int size;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, sit, &desks[i]))
			return 1;
	for (int number = 0; number < LINES; number++) {
		for (int i = 0; i < THREADS; i++)
			make(&desks[i], number);
		size = snprintf(line, sizeof(line), "%d: made %d\n", getpid(),
				number);
		bad += put(1, line, (size_t)size);
	}
	for (int i = 0; i < THREADS; i++) {
		void *result;

		pthread_join(threads[i], &result);
		bad += (size_t)result;
	}
	return bad ? 1 : 0;
}
