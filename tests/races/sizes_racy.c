/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sizes_racy.c - eight bytes are written, the last of them is read */
#include "race.h"

static union {
	volatile uint64_t all;
	volatile uint8_t bytes[8];
} word;
static volatile int seen;

static void write_all(void)
{
	word.all = UINT64_MAX;	/* RACE:a */
}

static void read_last(void)
{
	seen = word.bytes[7];	/* RACE:a */
}

int main(void)
{
	race(write_all, read_last);
	return seen != 0 && seen != 255;
}
