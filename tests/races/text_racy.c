/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text_racy.c - one writes a text with snprintf(), another measures it */
#include "race.h"

#include <stdio.h>
#include <string.h>

static char shared[64] = "nothing";
static volatile size_t length;

static void writer(void)
{
	snprintf(shared, sizeof(shared), "%d of %s", 17, "many");	/* RACE:a */
}

static void reader(void)
{
	later();
	length = strlen(shared);	/* RACE:a */
}

int main(void)
{
	race(writer, reader);
	return length == 0;
}
