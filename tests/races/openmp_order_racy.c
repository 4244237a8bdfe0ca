/* SPDX-License-Identifier: GPL-2.0-or-later */
/* openmp_order_racy.c - nobody waits for what one thread or a task computes */
#include <stdio.h>
#include "race.h"

static int input, output, seen[2];

int main(void)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp single nowait
		{
			later();
			input = 1;		/* RACE:input */
		}
		seen[0] += input > 1;		/* RACE:input */
	}
#pragma omp parallel num_threads(2)
#pragma omp single
	{
#pragma omp task
		output = 2;			/* RACE:output */
		later();
		seen[1] = output;		/* RACE:output */
	}
	printf("%d %d\n", input, seen[1]);
	return 0;
}
