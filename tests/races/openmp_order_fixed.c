/* SPDX-License-Identifier: GPL-2.0-or-later */
/* openmp_order_fixed.c - all that OpenMP has to order threads */
#include <omp.h>
#include <stdio.h>
#include "race.h"

static int input, output, once, locked, named, inner, counted;
static int order[12], next, chained, results[3], parts[40], last;

static int count(int depth)
{
	int left, right;

	if (!depth)
		return 1;
#pragma omp task shared(left)
	left = count(depth - 1);
#pragma omp task shared(right)
	right = count(depth - 1);
#pragma omp taskwait
	return left + right;
}

static void tasks(void)
{
#pragma omp task
	output = 2;
	later();
#pragma omp taskwait
	once += output;
#pragma omp task depend(out: chained)
	chained = 1;
#pragma omp task depend(inout: chained)
	chained++;
#pragma omp task depend(in: chained)
	results[0] = chained;
#pragma omp taskgroup
	{
#pragma omp task
		results[1] = 3;
	}
	results[2] = results[1];
#pragma omp taskloop
	for (int i = 0; i < 40; i++)
		parts[i] += i;
	counted = count(4);
}

static void locks(omp_lock_t *lock, omp_nest_lock_t *nested)
{
	omp_set_lock(lock);
	locked++;
	omp_unset_lock(lock);
	omp_set_nest_lock(nested);
	omp_set_nest_lock(nested);
	inner++;
	omp_unset_nest_lock(nested);
	omp_unset_nest_lock(nested);
#pragma omp critical(name)
	named++;
}

int main(void)
{
	omp_nest_lock_t nested;
	omp_lock_t lock;
	int copied = 0, sections[3] = { 0 };

	omp_init_lock(&lock);
	omp_init_nest_lock(&nested);
#pragma omp parallel num_threads(3)
	{
#pragma omp single
		{
			later();
			input = 1;
		}
		if (input != 1)
			once++;
#pragma omp for ordered schedule(dynamic, 2)
		for (int i = 0; i < 12; i++) {
#pragma omp ordered
			order[next++] = i;
		}
#pragma omp for schedule(guided) lastprivate(last)
		for (int i = 0; i < 40; i++) {
			parts[i] = i;
			last = i;
			locks(&lock, &nested);
		}
#pragma omp masked
		parts[0] = last;
#pragma omp barrier
		if (parts[0] != last)
			parts[last] = omp_get_thread_num();
	}
#pragma omp parallel num_threads(3) private(copied)
	{
#pragma omp single copyprivate(copied)
		copied = input;
#pragma omp critical
		once += copied;
	}
#pragma omp parallel sections num_threads(3)
	{
#pragma omp section
		sections[0] = 1;
#pragma omp section
		sections[1] = 2;
#pragma omp section
		sections[2] = 3;
	}
#pragma omp parallel num_threads(3)
#pragma omp single
	tasks();
	omp_destroy_nest_lock(&nested);
	omp_destroy_lock(&lock);
	printf("%d %d %d %d %d %d\n", once, locked + named + inner, counted,
	       sections[0] + sections[1] + sections[2], next, results[0]);
	return copied;
}
