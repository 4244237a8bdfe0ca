/* SPDX-License-Identifier: GPL-2.0-or-later */
/* received_fixed.c - the same with a lock */
#include "race.h"

#include <unistd.h>

static char shared[16];
static int ends[2];
static volatile ssize_t sizes[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void receive(int i)
{
	pthread_mutex_lock(&lock);
	sizes[i] = read(ends[0], shared, 8);
	pthread_mutex_unlock(&lock);
}

static void one(void)
{
	receive(0);
}

static void two(void)
{
	receive(1);
}

int main(void)
{
	if (pipe(ends) || write(ends[1], "sixteen letters.", 16) != 16)
		return 1;
	race(one, two);
	return sizes[0] != 8 || sizes[1] != 8;
}
