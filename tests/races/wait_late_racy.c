/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wait_late_racy.c - takes the goods before it waits for them */
#include "race.h"

static int goods;
static volatile int seen;
static sem_t delivered;

static void producer(void)
{
	goods = 7;	/* RACE:a */
	sem_post(&delivered);
}

static void consumer(void)
{
	seen = goods;	/* RACE:a */
	sem_wait(&delivered);
}

int main(void)
{
	sem_init(&delivered, 0, 0);
	race(producer, consumer);
	return seen != 0 && seen != 7;
}
