/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Things become true here; the program counts itself what tests want to know, and
 * prints it: "NAME NUMBER".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PLACE ((volatile char *)0x10000000)

struct node {
	struct node *next;
	long id;
	double weight;
	unsigned low : 5, high : 11;
};

static struct node *head, *cursor;
volatile long counter, shared;
static __thread int own;
static char input[16];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void build(int count)
{
	for (int i = 0; i < count; i++) {
		struct node *node = malloc(sizeof(*node) + 700);

		node->id = i * 3;
		node->weight = i / 4.0;
		node->low = i;
		node->high = i * 2;
		node->next = head;
		head = node;			/* built */
	}
}

static void walk(void)
{
	long times = 0;

	for (cursor = head; cursor; cursor = cursor->next)
		times += cursor->id % 7 == 0;
	printf("sevens %ld\n", times);
}

static long collatz(long number)
{
	long steps = 0, peak = number;

	while (number != 1) {
		number = number % 2 ? 3 * number + 1 : number / 2;
		if (number > peak)
			peak = number;		/* higher */
		steps++;			/* step */
	}
	return steps + peak;
}

static void *count(void *unused)
{
	for (int i = 0; i < 5000; i++) {
		pthread_mutex_lock(&lock);
		shared++;
		own++;
		if (shared == 7000)
			printf("crossed %d\n", gettid());
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void map_anew(void)
{
	for (int i = 0; i < 3; i++) {
		void *at = mmap((void *)PLACE, 4096, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
				0);

		if (at == MAP_FAILED)
			exit(1);
		PLACE[9] = (char)(i + 1);
		munmap(at, 4096);
	}
}

static void receive(void)
{
	int ends[2];

	if (pipe(ends) || write(ends[1], "ready", 5) != 5 ||
	    read(ends[0], input, sizeof(input)) != 5)
		exit(1);
}

int main(void)
{
	pthread_t one, two;
	long total = 0;

	for (int i = 0; i < 1000; i++)
		counter++;			/* counted */
	build(40);
	walk();
	for (long i = 1; i < 20; i++)
		total += collatz(i);
	printf("total %ld\n", total);
	pthread_create(&one, NULL, count, NULL);
	pthread_create(&two, NULL, count, NULL);
	pthread_join(one, NULL);
	pthread_join(two, NULL);
	map_anew();
	receive();
	return 0;
}
