/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hits.c - four threads count the visitors of a page, and miss some */
#include <pthread.h>
#include <stdio.h>

#define THREADS 4
#define VISITS 20000

struct page {
	const char *name;
	pthread_mutex_t lock;
	long visits;
	long visits_of_robots;
};

static struct page page = { "index.html", PTHREAD_MUTEX_INITIALIZER, 0, 0 };

static void count(struct page *seen, int is_robot)
{
	if (is_robot) {
		seen->visits_of_robots++;
		seen->visits++;
		return;
	}
	pthread_mutex_lock(&seen->lock);
	seen->visits++;
	pthread_mutex_unlock(&seen->lock);
}

static void *visit(void *first)
{
	for (long i = 0; i < VISITS; i++)
		count(&page, (i + *(long *)first) % 10 == 0);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	long first[THREADS];

	for (int i = 0; i < THREADS; i++) {
		first[i] = i;
		pthread_create(&threads[i], NULL, visit, &first[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%s: %ld of %d visits\n", page.name, page.visits,
	       THREADS * VISITS);
	return 0;
}
