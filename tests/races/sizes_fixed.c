/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sizes_fixed.c - eight bytes are written, the one after them is read */
#include "race.h"

static struct {
	volatile uint64_t all;
	volatile uint8_t next;
} word;
static volatile int seen;

static void write_all(void)
{
	word.all = UINT64_MAX;
}

static void read_next(void)
{
	seen = word.next;
}

int main(void)
{
	race(write_all, read_next);
	return seen != 0;
}
