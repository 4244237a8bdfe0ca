/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reset_fixed.c - plain stores, before others change the same indivisibly */
#include <stdlib.h>
#include "race.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t phase;
static int early, late, guarded;
static int *elsewhere;

static void add(void)
{
	__sync_fetch_and_add(&late, 1);
	pthread_barrier_wait(&phase);
	pthread_barrier_wait(&phase);
	__sync_fetch_and_add(&early, 1);
	__sync_fetch_and_add(elsewhere, 1);
	pthread_mutex_lock(&lock);
	__sync_fetch_and_add(&guarded, 1);
	pthread_mutex_unlock(&lock);
}

static void reset(void)
{
	pthread_mutex_lock(&lock);
	guarded = 5;
	pthread_mutex_unlock(&lock);
	pthread_barrier_wait(&phase);
	late = 0;
	early = 0;
	*elsewhere = 0;
	pthread_barrier_wait(&phase);
	later();
	pthread_mutex_lock(&lock);
	guarded = 0;
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	pthread_barrier_init(&phase, NULL, 2);
	elsewhere = calloc(1, sizeof(*elsewhere));
	*elsewhere = 3;
	race(add, reset);
	free(elsewhere);
	return 0;
}
