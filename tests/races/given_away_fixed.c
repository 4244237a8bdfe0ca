/* SPDX-License-Identifier: GPL-2.0-or-later */
/* given_away_fixed.c - does not touch memory that it has given away */
#include <stdlib.h>

#include "race.h"

static int *given;
static volatile int seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void giver(void)
{
	int *object = calloc(1, sizeof(*object));

	*object = 3;
	pthread_mutex_lock(&lock);
	given = object;
	pthread_mutex_unlock(&lock);
}

static void taker(void)
{
	int *object = NULL;

	while (!object) {
		pthread_mutex_lock(&lock);
		object = given;
		pthread_mutex_unlock(&lock);
	}
	seen = *object;
	free(object);
}

int main(void)
{
	race(giver, taker);
	return seen != 3;
}
