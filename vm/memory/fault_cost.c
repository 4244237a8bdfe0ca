/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fault_cost.c - what a fault takes the host */
#include "vm/memory/memory.h"

#include <sys/mman.h>

#include "formats/clock.h"

#define PAGES 16
#define TRIES 4			/* of which the fastest counts */
#define USUAL 500		/* where nothing can be measured */

/* ns for a first touch of each page. */
static uint64_t touch(volatile uint8_t *pages)
{
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (unsigned i = 0; i < PAGES; i++)
		pages[i * GUEST_PAGE] = 1;
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

uint64_t memory_fault_cost(void)
{
	size_t size = PAGES * GUEST_PAGE;
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint8_t *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		uint64_t time;

		if (pages == MAP_FAILED)
			return USUAL;
		time = touch(pages) / PAGES;
		munmap(pages, size);
		if (time < least)
			least = time;
	}
	return least;
}
