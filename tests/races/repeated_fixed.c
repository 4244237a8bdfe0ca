/* SPDX-License-Identifier: GPL-2.0-or-later */
/* repeated_fixed.c - a repeated string instruction beside a read */
#include "race.h"

static char buffer[256];
static volatile int seen;

static void fill(void)
{
	void *to = buffer;
	size_t count = 200;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(7) : "memory");
}

static void look(void)
{
	seen = buffer[200];
}

int main(void)
{
	race(fill, look);
	return seen != 0;
}
