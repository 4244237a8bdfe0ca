/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oracle_twins.c - pages that are mapped at two addresses */
#include "tests/oracle/programs/oracle.h"

#define ONE 0x50000000u
#define OTHER 0x50010000u
#define SIZE 0x3000u

static uint64_t results[8];

void on_signal(int number)
{
	(void)number;
}

static long make_file(void)
{
	long file = call3(319, (long)"twins", 0, 0);	/* memfd_create */

	call3(77, file, SIZE, 0);			/* ftruncate */
	return file;
}

static uint64_t *map_file(long file, uint64_t addr, uint64_t size,
			  int protection, long offset)
{
	return (uint64_t *)call6(CALL_MMAP, (long)addr, (long)size, protection,
				 0x11, file, offset);
}

/*
 * What nobody looks at between two calls, in which others may have changed it,
 * is not known.
 */
KEEP volatile uint64_t *look(const volatile uint64_t *at)
{
	results[7] += at[0] + at[0x200] + at[0x400];
	return (volatile uint64_t *)(uint64_t)at;
}

/* What is written through one is read through the other. */
KEEP void to_and_fro(volatile uint64_t *one, volatile uint64_t *other,
		     uint64_t seed)
{
	for (unsigned i = 0; i < 60; i++) {
		unsigned at = (unsigned)(next_value(&seed) % (SIZE / 8));

		one[at] += seed;
		other[at] = other[at] * 3 + results[0];
		results[0] += one[at];
	}
}

/* One of them goes, in parts, and comes back. */
KEEP void come_and_go(long file)
{
	volatile uint64_t *one = look(map_file(file, ONE, SIZE, 3, 0)), *other;

	one[3] = 77;
	other = look(map_file(file, OTHER, SIZE, 3, 0));
	to_and_fro(one, other, 1);
	call3(CALL_MUNMAP, ONE + 0x1000, 0x1000, 0);
	other[0x200] = results[0];
	other[5] = look(other)[3];
	map_file(file, ONE + 0x1000, 0x1000, 3, 0x1000);
	to_and_fro(look(other), one, 2);
	call3(CALL_MUNMAP, ONE, SIZE, 0);
	other[7] += look(other)[5];
	map_file(file, ONE, SIZE, 3, 0);
	to_and_fro(look(one), other, 3);
	call3(CALL_MPROTECT, ONE, SIZE, 1);
	other[0x400] = look(one)[7];
	call3(CALL_MPROTECT, OTHER, 0x1000, 0);
	results[1] += look(one)[0] + one[0x400];
	call3(CALL_MUNMAP, OTHER, SIZE, 0);
	results[2] += look(one)[0x201] + one[9];
	call3(CALL_MUNMAP, ONE, SIZE, 0);
}

/* Moved, doubled without its file, and written by the kernel. */
KEEP void move(long file)
{
	volatile uint64_t *one = look(map_file(file, ONE, SIZE, 3, 0));
	volatile uint64_t *other, *moved;

	other = (uint64_t *)call6(CALL_MREMAP, (long)one, 0, SIZE, 3, OTHER,
				  0);
	to_and_fro(look(one), look(other), 4);
	moved = (uint64_t *)call6(CALL_MREMAP, (long)one, SIZE, SIZE, 3,
				  ONE + 0x8000, 0);
	to_and_fro(look(moved), other, 5);
	call6(CALL_PREAD, file, (long)(moved + 0x100), 64, 0, 0, 0);
	results[3] += look(other)[0x100] + other[0x107];
	call6(18, file, (long)"written", 8, 0x1008, 0, 0);	/* pwrite64 */
	results[4] += look(other)[0x201];
	results[5] += moved[0x201];
	call3(CALL_MUNMAP, ONE, 0x20000, 0);
}

/* Written through one, executed through the other. */
KEEP void execute(long file)
{
	volatile uint64_t *at = look(map_file(file, ONE, SIZE, 3, 0));
	volatile uint8_t *data = (volatile uint8_t *)at;
	uint64_t (*code)(void) =
		(uint64_t (*)(void))(uint64_t)map_file(file, OTHER, SIZE, 5, 0);

	look(at);
	for (unsigned i = 0; i < 20; i++) {
		data[0] = 0xb8;		/* mov $i, %eax; ret */
		*(volatile uint32_t *)(data + 1) = i * 77;
		data[5] = 0xc3;
		results[6] = results[6] * 5 + code();
	}
	call3(CALL_MUNMAP, ONE, 0x20000, 0);
}

int guest(void)
{
	long file = make_file();

	for (unsigned i = 0; i < 3; i++) {
		come_and_go(file);
		move(file);
		execute(file);
	}
	return (int)(results[6] & 63);
}
