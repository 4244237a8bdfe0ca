/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deadlock.c - two locks in two orders, which only a rare schedule shows */
#include <pthread.h>
#include <stdio.h>

enum { TRANSFERS = 100, WORK = 150, WINDOW = 10 };

struct account {
	pthread_mutex_t lock;
	long balance;
};

static struct account accounts[] = {
	{ PTHREAD_MUTEX_INITIALIZER, 1000 },
	{ PTHREAD_MUTEX_INITIALIZER, 1000 },
};

static volatile long computed;

static void compute(int rounds)
{
	for (volatile int i = 0; i < rounds; i++)
		computed = computed * 33 + i;
}

static void transfer(struct account *from, struct account *to)
{
	pthread_mutex_lock(&from->lock);
	compute(WINDOW);
	pthread_mutex_lock(&to->lock);
	from->balance--;
	to->balance++;
	pthread_mutex_unlock(&to->lock);
	pthread_mutex_unlock(&from->lock);
}

static void *transfer_all(void *argument)
{
	struct account *from = argument;
	struct account *to = from == &accounts[0] ? &accounts[1] : &accounts[0];

	for (int i = 0; i < TRANSFERS; i++) {
		transfer(from, to);
		compute(WORK);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	printf("begins\n");
	fflush(stdout);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, transfer_all, &accounts[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%ld %ld\n", accounts[0].balance, accounts[1].balance);
	return 0;
}
