/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queries.c - writes words in an order that can be told from how many were
 * written: see `queries`
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS_MOST = 1 << 26 };		/* 512 MiB */

static volatile uint64_t words[WORDS_MOST];
static volatile uint64_t written;

int main(int argc, char **argv)
{
	uint64_t bits, times, stride, at = 0;

	if (argc != 4)
		return 2;
	bits = strtoul(argv[1], NULL, 0);
	times = strtoul(argv[2], NULL, 0);
	stride = strtoul(argv[3], NULL, 0);
	if (bits > 26)
		return 2;
	for (uint64_t i = 1; i <= times; i++) {
		at = (at + stride) & ((UINT64_C(1) << bits) - 1);
		words[at] = words[at] * 16 + i;
		written = i;
	}
	printf("%lu\n", (unsigned long)words[0]);
	return 0;
}
