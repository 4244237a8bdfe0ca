/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wait_late_fixed.c - waits for the goods, then takes them */
#include "race.h"

static int goods;
static volatile int seen;
static sem_t delivered;

static void producer(void)
{
	goods = 7;
	sem_post(&delivered);
}

static void consumer(void)
{
	sem_wait(&delivered);
	seen = goods;
}

int main(void)
{
	sem_init(&delivered, 0, 0);
	race(producer, consumer);
	return seen != 7;
}
