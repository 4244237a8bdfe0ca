/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wide_racy.c - sixteen bytes at once against a read */
#include <emmintrin.h>

#include "race.h"

static char buffer[64] __attribute__((aligned(16)));
static volatile int seen;

static void fill(void)
{
	__m128i sevens = _mm_set1_epi8(7);

	*(__m128i *)buffer = sevens;	/* RACE:a */
}

static void look(void)
{
	seen = buffer[15];	/* RACE:a */
}

int main(void)
{
	race(fill, look);
	return seen != 0 && seen != 7;
}
