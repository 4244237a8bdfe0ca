/* SPDX-License-Identifier: GPL-2.0-or-later */
/* early_unlock_racy.c - read under the lock, written after it */
#include "race.h"

static int balance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void deposit(void)
{
	int before;

	pthread_mutex_lock(&lock);
	before = balance;
	pthread_mutex_unlock(&lock);
	meet();
	balance = before + 10;	/* RACE:a */
}

int main(void)
{
	race(deposit, deposit);
	return balance == 0;
}
