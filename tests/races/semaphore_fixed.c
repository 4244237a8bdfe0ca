/* SPDX-License-Identifier: GPL-2.0-or-later */
/* semaphore_fixed.c - a semaphore that lets one in */
#include "race.h"

static int shared;
static sem_t room;

static void change(void)
{
	meet();
	sem_wait(&room);
	shared++;
	sem_post(&room);
}

int main(void)
{
	sem_init(&room, 0, 1);
	race(change, change);
	return shared != 2;
}
