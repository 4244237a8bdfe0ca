/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * asked.c - memory whose past is known by construction
 *
 * The system calls are numbered in the comments; tests/run/query.py has what
 * memory holds around each of them.
 */
#include "tests/oracle/programs/oracle.h"

#define PLACE UINT64_C(0x20000000)
#define PAGE_AT(n) (PLACE + (n) * 4096)

static uint8_t file_pages[6 * 4096] __attribute__((aligned(4096)));

void on_signal(int number)
{
	(void)number;
}

KEEP uint64_t spin(uint64_t count)
{
	uint64_t sum = 1;

	for (uint64_t i = 0; i < count; i++) {
		sum += i;
		OPAQUE(sum);
	}
	return sum;
}

static void set(uint64_t addr, uint8_t value)
{
	*(volatile uint8_t *)addr = value;
}

int guest(void)
{
	long file;

	map_at(PLACE, 8 * 4096, 3);				/* 0 */
	set(PAGE_AT(0), 1);
	set(PAGE_AT(1), 2);
	set(PAGE_AT(3), 3);
	set(PAGE_AT(4), 4);
	set(PAGE_AT(7), 7);
	spin(700);
	call6(CALL_MREMAP, (long)PAGE_AT(1), 4096, 4096, 3,
	      (long)PAGE_AT(256), 0);				/* 1 */
	spin(700);
	set(PAGE_AT(256) + 1, 22);
	call3(28, (long)PAGE_AT(0), 4096, 4);	/* 2: MADV_DONTNEED */
	set(PAGE_AT(0) + 1, 11);
	spin(700);
	call3(CALL_MUNMAP, (long)PAGE_AT(3), 4096, 0);		/* 3 */
	map_at(PAGE_AT(3), 4096, 3);				/* 4 */
	set(PAGE_AT(3) + 1, 33);
	spin(700);
	call3(CALL_MUNMAP, (long)PAGE_AT(4), 4096, 0);		/* 5 */
	spin(700);
	map_at(PAGE_AT(4), 4096, 3);				/* 6 */
	spin(700);
	set(PAGE_AT(4) + 1, 44);
	call3(28, (long)PAGE_AT(7), 4096, 4);			/* 7 */
	spin(700);
	file = call3(CALL_OPEN, (long)"/proc/self/exe", 0, 0);	/* 8 */
	call3(CALL_READ, file, (long)file_pages,
	      sizeof(file_pages));				/* 9 */
	call3(CALL_GETPID, 0, 0, 0);				/* 10 */
	spin(700);
	spin(((volatile uint8_t *)file_pages)[4096 + 1] & 1);
	call3(CALL_GETPID, 0, 0, 0);				/* 11 */
	((volatile uint8_t *)file_pages)[2 * 4096 + 1]++;
	call3(CALL_GETPID, 0, 0, 0);				/* 12 */
	spin(700);
	call3(CALL_MUNMAP, (long)PAGE_AT(256), 4096, 0);	/* 13 */
	spin(700);
	return 0;
}
