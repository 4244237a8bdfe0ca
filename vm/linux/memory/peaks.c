/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peaks.c - the most memory that the guest had, and used
 *
 * Linux notes what there is before it becomes less, and when it is asked.
 * So does this; but how many pages are in the host's memory must be counted,
 * so it is counted only before much goes, and never takes more than a small
 * part of the time.
 *
 * Source: getrusage(2), proc(5); Linux, update_hiwater_rss().
 */
#include <errno.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "formats/clock.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

#define SHARE 10		/* one part of the time, at most, counts pages */
#define LITTLE (UINT64_C(1) << 20)	/* less need not be noted */

static uint64_t now(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void raise_to(uint64_t *most, uint64_t value)
{
	if (*most < value)
		*most = value;
}

/* Counts now, unless that was done a moment ago. */
static void look(struct linux_process *process)
{
	struct peaks *peaks = &process->space->peaks;
	uint64_t start = now();
	struct usage usage;

	if (start - peaks->looked < SHARE * peaks->took)
		return;
	usage_of(process, &usage);
	raise_to(&peaks->present, usage_present(&usage));
	peaks->shrunk = 0;
	peaks->looked = now();
	peaks->took = peaks->looked - start;
}

void peaks_before_less(struct linux_process *process, uint64_t size)
{
	struct peaks *peaks = &process->space->peaks;
	uint64_t all = memory_size(process->memory);

	raise_to(&peaks->size, all >> GUEST_PAGE_SHIFT);
	peaks->shrunk += size;
	if (peaks->shrunk >= LITTLE && peaks->shrunk >= all / 8 &&
	    peaks->present < all >> GUEST_PAGE_SHIFT)
		look(process);
}

struct peaks peaks_with(struct linux_process *process,
			const struct usage *usage)
{
	struct peaks *peaks = &process->space->peaks;

	raise_to(&peaks->size, usage->size);
	raise_to(&peaks->present, usage_present(usage));
	return *peaks;
}

void peaks_forget(struct linux_process *process)
{
	process->space->peaks = (struct peaks){ 0 };
}

void peaks_before_exec(struct linux_process *process)
{
	struct peaks *peaks = &process->space->peaks;

	look(process);
	raise_to(&peaks->before, peaks->present);
	*peaks = (struct peaks){ .before = peaks->before };
}

int64_t sys_getrusage(struct linux_process *process,
		      const struct linux_call *row, const uint64_t *arg)
{
	struct peaks *peaks = &process->space->peaks;
	struct rusage usage = { 0 };
	int64_t result = host_call(process, row->host, arg[0],
				   host_pointer(&usage));

	if (result)
		return result;
	if ((int)arg[0] != RUSAGE_CHILDREN) {
		uint64_t most = peaks->before;

		look(process);
		raise_to(&most, peaks->present);
		if (most)
			usage.ru_maxrss = (long)(most * (GUEST_PAGE / 1024));
	}
	return struct_out(process, S_RUSAGE, arg[1], &usage) ? -EFAULT : 0;
}
