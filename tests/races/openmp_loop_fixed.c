/* SPDX-License-Identifier: GPL-2.0-or-later */
/* openmp_loop_fixed.c - threads of a loop have sums of their own */
#include <stdio.h>
#include "race.h"

static int sum;
static int parts[100];

int main(void)
{
#pragma omp parallel for num_threads(3)
	for (int i = 0; i < 100; i++)
		parts[i] = i;
#pragma omp parallel for num_threads(3) reduction(+: sum)
	for (int i = 0; i < 100; i++)
		sum += parts[i];
	printf("%d\n", sum);
	return 0;
}
