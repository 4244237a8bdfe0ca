/* SPDX-License-Identifier: GPL-2.0-or-later */
/* openmp_share_fixed.c - threads that fetch their part of a loop, one by one */
#include <stdio.h>
#include "race.h"

static int latest;

/* Whoever waits has done something before: another thread goes on. */
int main(void)
{
#pragma omp parallel for num_threads(2) schedule(dynamic, 1)
	for (int i = 0; i < 8; i++) {
		if (i % 2) {
			later();
			continue;
		}
#pragma omp critical
		latest = i;
	}
	printf("%d\n", latest);
	return 0;
}
