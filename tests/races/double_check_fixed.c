/* SPDX-License-Identifier: GPL-2.0-or-later */
/* double_check_fixed.c - double-checked locking with an atomic pointer */
#include "race.h"

static int object;
static _Atomic(int *) instance;
static volatile int seen[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int get(void)
{
	int *found = atomic_load(&instance);

	if (!found) {
		pthread_mutex_lock(&lock);
		if (!atomic_load(&instance)) {
			object = 4;
			atomic_store(&instance, &object);
		}
		found = atomic_load(&instance);
		pthread_mutex_unlock(&lock);
	}
	return *found;
}

static void one(void)
{
	seen[0] = get();
}

static void two(void)
{
	later();
	seen[1] = get();
}

int main(void)
{
	race(one, two);
	return seen[0] != 4 || seen[1] != 4;
}
