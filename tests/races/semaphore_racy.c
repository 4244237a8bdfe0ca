/* SPDX-License-Identifier: GPL-2.0-or-later */
/* semaphore_racy.c - a semaphore that lets two in */
#include "race.h"

static int shared;
static sem_t room;

static void change(void)
{
	sem_wait(&room);
	meet();
	shared++;	/* RACE:a */
	sem_post(&room);
}

int main(void)
{
	sem_init(&room, 0, 2);
	race(change, change);
	return shared == 0;
}
