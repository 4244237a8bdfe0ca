/* SPDX-License-Identifier: GPL-2.0-or-later */
/* repeated_racy.c - a repeated string instruction against a read */
#include "race.h"

static char buffer[256];
static volatile int seen;

static void fill(void)
{
	void *to = buffer;
	size_t count = sizeof(buffer);

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(7) : "memory");	/* RACE:a */
}

static void look(void)
{
	seen = buffer[200];	/* RACE:a */
}

int main(void)
{
	race(fill, look);
	return seen != 0 && seen != 7;
}
