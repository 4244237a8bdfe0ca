/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wide_fixed.c - sixteen bytes at once beside a read */
#include <emmintrin.h>

#include "race.h"

static char buffer[64] __attribute__((aligned(16)));
static volatile int seen;

static void fill(void)
{
	__m128i sevens = _mm_set1_epi8(7);

	*(__m128i *)buffer = sevens;
}

static void look(void)
{
	seen = buffer[16];
}

int main(void)
{
	race(fill, look);
	return seen != 0;
}
