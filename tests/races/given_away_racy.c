/* SPDX-License-Identifier: GPL-2.0-or-later */
/* given_away_racy.c - writes to memory that it has given away */
#include <stdlib.h>

#include "race.h"

static int *given;
static volatile int seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void giver(void)
{
	int *object = calloc(1, sizeof(*object));

	pthread_mutex_lock(&lock);
	given = object;
	pthread_mutex_unlock(&lock);
	*object = 3;	/* RACE:a */
	meet();
}

static void taker(void)
{
	int *object = NULL;

	while (!object) {
		pthread_mutex_lock(&lock);
		object = given;
		pthread_mutex_unlock(&lock);
	}
	seen = *object;	/* RACE:a */
	meet();
	free(object);
}

int main(void)
{
	race(giver, taker);
	return seen != 0 && seen != 3;
}
