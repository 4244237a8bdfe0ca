/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text_fixed.c - the same with a lock */
#include "race.h"

#include <stdio.h>
#include <string.h>

static char shared[64] = "nothing";
static volatile size_t length;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void writer(void)
{
	pthread_mutex_lock(&lock);
	snprintf(shared, sizeof(shared), "%d of %s", 17, "many");
	pthread_mutex_unlock(&lock);
}

static void reader(void)
{
	later();
	pthread_mutex_lock(&lock);
	length = strlen(shared);
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	race(writer, reader);
	return length == 0;
}
