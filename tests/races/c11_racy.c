/* SPDX-License-Identifier: GPL-2.0-or-later */
/* c11_racy.c - threads of C11 without a lock */
#include <threads.h>

#include "race.h"

static int counter;

static int run(void *argument)
{
	(void)argument;
	counter++;	/* RACE:a */
	later();
	return 0;
}

int main(void)
{
	thrd_t one, two;

	thrd_create(&one, run, NULL);
	thrd_create(&two, run, NULL);
	thrd_join(one, NULL);
	thrd_join(two, NULL);
	return counter == 0;
}
