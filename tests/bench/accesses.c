/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accesses.c - what it costs a replay to log accesses to data
 *
 * Replays a recording as it is; while stores to a variable are told (the count
 * of arguments); to a page of the stack, the busiest that there is; all stores;
 * and all accesses, with their values.  In turn, a few rounds; prints the
 * medians of the processor's time as ratios to the first.  Or only one of these,
 * by its number, for a profiler.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/error.h"
#include "replayer/replayer.h"

#define ROUNDS_MOST 99

static const struct mode {
	const char *name;
	unsigned accesses;
	enum { EVERYWHERE, VARIABLE, PAGE } where;
} modes[] = {
	{ "replay", 0, EVERYWHERE },
	{ "stores to a variable", VM_WRITES, VARIABLE },
	{ "stores to a page", VM_WRITES, PAGE },
	{ "all stores", VM_WRITES, EVERYWHERE },
	{ "all stores, with values", VM_WRITES | VM_VALUES, EVERYWHERE },
	{ "all accesses", VM_ALL, EVERYWHERE },
	{ "all accesses, with values", VM_ALL | VM_VALUES, EVERYWHERE },
};
#define MODES (sizeof(modes) / sizeof(modes[0]))

static struct failure why;

static void check(int rc)
{
	if (!rc)
		return;
	fprintf(stderr, "accesses: %s\n", why.text);
	exit(1);
}

static void count(void *context, const struct vm_access_told *list,
		  size_t told)
{
	uint64_t *sum = context;

	(void)list;
	*sum += told;
}

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static struct vm_range range(const struct mode *mode, uint64_t sp)
{
	uint64_t page = (sp - GUEST_PAGE) & ~(uint64_t)(GUEST_PAGE - 1);

	switch (mode->where) {
	case VARIABLE:
		return (struct vm_range){ sp, sp + 7 };
	case PAGE:
		return (struct vm_range){ page, page + GUEST_PAGE - 1 };
	default:
		return VM_EVERYWHERE;
	}
}

/* From the start to the end. */
static double replay(const char *path, const struct mode *mode, uint64_t *told)
{
	struct position start, end;
	struct recording *recording;
	struct replayer *replayer;
	struct replay_observer observer = { 0 };
	double before;
	uint64_t sp;

	check(recording_open(&recording, path, &why));
	check(replayer_create(&replayer, recording, &why));
	start = (struct position){ recording_start(recording), 0 };
	end = (struct position){ recording_end(recording), 0 };
	check(replayer_seek(replayer, &start, &why));
	sp = vm_reg(replayer_vm(replayer),
		    recording_reg_table(recording)->sp);
	observer.guest = (struct vm_observer) {
		.accessed = count, .accesses = mode->accesses,
		.data = range(mode, sp), .context = told,
	};
	*told = 0;
	if (mode->accesses)
		check(replayer_observe(replayer, &observer, &why));
	replayer_in_order(replayer, true);
	before = now();
	check(replayer_seek(replayer, &end, &why));
	before = now() - before;
	replayer_destroy(replayer);
	recording_close(recording);
	return before;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	static double seconds[MODES][ROUNDS_MOST];
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 3;
	size_t from = argc > 3 ? (size_t)atoi(argv[3]) : 0;
	size_t end = argc > 3 ? from + 1 : MODES;
	uint64_t told[MODES];

	if (argc < 2 || end > MODES || !rounds || rounds > ROUNDS_MOST) {
		fprintf(stderr, "usage: accesses RECORDING [ROUNDS [MODE]]\n");
		return 2;
	}
	replayer_take_faults();
	for (unsigned i = 0; i < rounds; i++)
		for (size_t j = from; j < end; j++)
			seconds[j][i] = replay(argv[1], &modes[j], &told[j]);
	for (size_t j = from; j < end; j++) {
		qsort(seconds[j], rounds, sizeof(double), compare);
		printf("%-26s %8.2f s  %5.2f  %12llu told\n", modes[j].name,
		       seconds[j][rounds / 2],
		       seconds[j][rounds / 2] / seconds[from][rounds / 2],
		       (unsigned long long)told[j]);
	}
	return 0;
}
