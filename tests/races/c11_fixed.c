/* SPDX-License-Identifier: GPL-2.0-or-later */
/* c11_fixed.c - threads of C11 with a lock */
#include <threads.h>

#include "race.h"

static int counter;
static mtx_t lock;

static int run(void *argument)
{
	(void)argument;
	mtx_lock(&lock);
	counter++;
	mtx_unlock(&lock);
	later();
	return 0;
}

int main(void)
{
	thrd_t one, two;

	mtx_init(&lock, mtx_plain);
	thrd_create(&one, run, NULL);
	thrd_create(&two, run, NULL);
	thrd_join(one, NULL);
	thrd_join(two, NULL);
	return counter != 2;
}
