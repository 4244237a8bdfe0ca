/* SPDX-License-Identifier: GPL-2.0-or-later */
/* early_unlock_fixed.c - read and written under the lock */
#include "race.h"

static int balance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void deposit(void)
{
	int before;

	meet();
	pthread_mutex_lock(&lock);
	before = balance;
	balance = before + 10;
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	race(deposit, deposit);
	return balance != 20;
}
