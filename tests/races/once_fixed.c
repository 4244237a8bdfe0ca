/* SPDX-License-Identifier: GPL-2.0-or-later */
/* once_fixed.c - initialized by pthread_once */
#include "race.h"

static int value;
static volatile int seen[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void initialize(void)
{
	value = 9;
}

static int get(void)
{
	pthread_once(&once, initialize);
	return value;
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
	return seen[0] != 9 || seen[1] != 9;
}
