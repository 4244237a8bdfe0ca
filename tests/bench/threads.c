/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads.c - what threads do with each other, so many times: see `threads` */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, WORDS = 1 << 15 };

static unsigned long times, threads;
static unsigned long results[MOST];
static pthread_barrier_t begin;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static unsigned long counter, sent, taken, room;

/* A part of all the work, on a part of all the memory: its own.  The number of
 * threads is a power of two. */
static unsigned long work_alone(unsigned long me)
{
	unsigned long count = WORDS / threads, sum = me;
	unsigned long *words = calloc(count, sizeof(*words));

	for (unsigned long i = 0; i < times / threads; i++) {
		unsigned long *word = &words[sum & (count - 1)];

		sum = sum * 6364136223846793005u + *word + i;
		*word ^= sum >> 7;
	}
	free(words);
	return sum;
}

static unsigned long count_locked(unsigned long me)
{
	for (unsigned long i = 0; i < times / threads; i++) {
		pthread_mutex_lock(&lock);
		counter++;
		pthread_mutex_unlock(&lock);
	}
	return me;
}

static unsigned long count_atomically(unsigned long me)
{
	for (unsigned long i = 0; i < times / threads; i++)
		__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
	return me;
}

static void send_all(void)
{
	for (unsigned long i = 0; i < times; i++) {
		pthread_mutex_lock(&lock);
		while (sent - taken == room)
			pthread_cond_wait(&not_full, &lock);
		sent++;
		pthread_cond_signal(&not_empty);
		pthread_mutex_unlock(&lock);
	}
}

static void take_all(void)
{
	for (unsigned long i = 0; i < times; i++) {
		pthread_mutex_lock(&lock);
		while (sent == taken)
			pthread_cond_wait(&not_empty, &lock);
		taken++;
		pthread_cond_signal(&not_full);
		pthread_mutex_unlock(&lock);
	}
}

static unsigned long hand_over(unsigned long me)
{
	if (me % 2)
		take_all();
	else
		send_all();
	return taken;
}

static const struct {
	const char *name;
	unsigned long (*routine)(unsigned long);
	unsigned long room;
} works[] = {
	{ "private", work_alone, 0 },
	{ "mutex", count_locked, 0 },
	{ "atomic", count_atomically, 0 },
	{ "hand-over", hand_over, 1 },
	{ "queue", hand_over, 64 },
};

static unsigned long (*routine)(unsigned long);

static void *run(void *argument)
{
	unsigned long me = (unsigned long)argument;

	pthread_barrier_wait(&begin);
	results[me] = routine(me);
	return NULL;
}

/* usage: threads WORK THREADS TIMES */
int main(int argc, char **argv)
{
	pthread_t started[MOST];
	unsigned long sum = 0;

	for (size_t i = 0; argc == 4 && i < sizeof(works) / sizeof(*works); i++)
		if (!strcmp(works[i].name, argv[1])) {
			routine = works[i].routine;
			room = works[i].room;
		}
	threads = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
	times = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	if (!routine || threads < 1 || threads > MOST)
		return 2;
	pthread_barrier_init(&begin, NULL, (unsigned)threads);
	for (unsigned long i = 0; i < threads; i++)
		pthread_create(&started[i], NULL, run, (void *)i);
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(started[i], NULL);
	for (unsigned long i = 0; i < threads; i++)
		sum += results[i];
	printf("%lu %lu\n", sum, counter);
	return 0;
}
