/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reader_racy.c - the writer locks, the reader does not */
#include "race.h"

static int shared;
static volatile int seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void writer(void)
{
	pthread_mutex_lock(&lock);
	shared = 5;	/* RACE:a */
	pthread_mutex_unlock(&lock);
}

static void reader(void)
{
	seen = shared;	/* RACE:a */
}

int main(void)
{
	race(writer, reader);
	return seen != 0 && seen != 5;
}
