/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_cost.c - what the host takes to close a page of memory */
#include "vm/memory/memory.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PAGES 8
#define CLOSED 4		/* the page that is closed */
#define TRIES 5			/* of which the fastest counts */
#define USUAL 2000		/* where nothing can be measured */

static uint64_t processor_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t close_and_open(uint8_t *page)
{
	uint64_t start = processor_time();

	mprotect(page, GUEST_PAGE, PROT_NONE);
	mprotect(page, GUEST_PAGE, PROT_READ | PROT_WRITE);
	return processor_time() - start;
}

uint64_t memory_page_cost(void)
{
	size_t size = PAGES * GUEST_PAGE;
	uint8_t *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t least = UINT64_MAX;

	if (pages == MAP_FAILED)
		return USUAL;
	memset(pages, 1, size);
	for (int i = 0; i < TRIES; i++) {
		uint64_t time = close_and_open(pages + CLOSED * GUEST_PAGE);

		if (time < least)
			least = time;
	}
	munmap(pages, size);
	return least;
}
