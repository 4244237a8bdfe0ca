/* SPDX-License-Identifier: GPL-2.0-or-later */
/* environment_fixed.c - the same with a lock */
#include "race.h"

#include <stdlib.h>

static const char *volatile seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void changer(void)
{
	pthread_mutex_lock(&lock);
	setenv("COLOUR", "light blue", 1);
	pthread_mutex_unlock(&lock);
}

static void reader(void)
{
	later();
	pthread_mutex_lock(&lock);
	seen = getenv("COLOUR");
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	setenv("COLOUR", "red", 1);
	race(changer, reader);
	return !seen;
}
