/* SPDX-License-Identifier: GPL-2.0-or-later */
/* double_check_racy.c - double-checked locking with a plain pointer */
#include "race.h"

static int object;
static int *volatile instance;
static volatile int seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void create(void)
{
	pthread_mutex_lock(&lock);
	object = 4;	/* RACE:b */
	instance = &object;	/* RACE:a */
	pthread_mutex_unlock(&lock);
}

static void use(void)
{
	int *found;

	later();
	found = instance;	/* RACE:a */
	seen = found ? *found : 4;	/* RACE:b */
}

int main(void)
{
	race(create, use);
	return seen != 4;
}
