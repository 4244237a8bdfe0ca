/* SPDX-License-Identifier: GPL-2.0-or-later */
/* printed_racy.c - one prints a text that another copies another one to */
#include "race.h"

#include <stdio.h>
#include <string.h>

static char shared[32] = "a text";
static volatile size_t size = 7;

static void printer(void)
{
	printf("one prints\n");
	printf("%s\n", shared);	/* RACE:a */
	fflush(stdout);
}

static void changer(void)
{
	later();
	memcpy(shared, "b text", size);	/* RACE:a */
	puts("the other prints");
	fflush(stdout);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOFBF, 4096);
	race(printer, changer);
	return shared[0] != 'b';
}
