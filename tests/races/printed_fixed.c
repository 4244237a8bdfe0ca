/* SPDX-License-Identifier: GPL-2.0-or-later */
/* printed_fixed.c - the same with a lock; both print */
#include "race.h"

#include <stdio.h>
#include <string.h>

static char shared[32] = "a text";
static volatile size_t size = 7;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void printer(void)
{
	printf("one prints\n");
	pthread_mutex_lock(&lock);
	printf("%s\n", shared);
	pthread_mutex_unlock(&lock);
	fflush(stdout);
}

static void changer(void)
{
	later();
	pthread_mutex_lock(&lock);
	memcpy(shared, "b text", size);
	pthread_mutex_unlock(&lock);
	puts("the other prints");
	fflush(stdout);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOFBF, 4096);
	race(printer, changer);
	return shared[0] != 'b';
}
