/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reader_fixed.c - writer and reader lock */
#include "race.h"

static int shared;
static volatile int seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void writer(void)
{
	pthread_mutex_lock(&lock);
	shared = 5;
	pthread_mutex_unlock(&lock);
}

static void reader(void)
{
	pthread_mutex_lock(&lock);
	seen = shared;
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	race(writer, reader);
	return seen != 0 && seen != 5;
}
