/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inherited_stack_fixed.c - who inherits a stack does not race for it */
#include "race.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static _Thread_local int own;

static void *add(void *detached)
{
	volatile int local[64];

	pthread_mutex_lock(&lock);
	total++;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 64; i++)
		local[i] = i;
	own += local[1];
	if (detached)
		pthread_detach(pthread_self());
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int seen;

	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, add, i < 2 ? &total : NULL);
		if (i < 2)
			later();
	}
	pthread_join(thread, NULL);
	pthread_mutex_lock(&lock);
	seen = total;
	pthread_mutex_unlock(&lock);
	return seen != 3;
}
