/* SPDX-License-Identifier: GPL-2.0-or-later */
/* openmp_loop_racy.c - threads of a loop add to one sum */
#include <stdio.h>
#include "race.h"

static int sum;
static int parts[100];

int main(void)
{
#pragma omp parallel for num_threads(3)
	for (int i = 0; i < 100; i++)
		parts[i] = i;
#pragma omp parallel for num_threads(3)		/* RACE? */
	for (int i = 0; i < 100; i++)		/* RACE? */
		sum += parts[i];		/* RACE:sum */
	printf("%d\n", sum);
	return 0;
}
