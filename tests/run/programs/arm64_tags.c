/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arm64_tags.c - the highest byte of an address of data is no part of it */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

unsigned sum;
static uint64_t block[16] __attribute__((aligned(64)));

static void *tagged(volatile void *at, unsigned tag)
{
	return (void *)((uintptr_t)at | (uintptr_t)tag << 56);
}

static __attribute__((noinline)) void add(unsigned value, unsigned tag)
{
	*(volatile unsigned *)tagged(&sum, tag) += value;
}

int main(void)
{
	uint64_t pair[2] __attribute__((aligned(16))) = { 1, 2 };
	unsigned failed;

	for (unsigned i = 0; i < 1000; i++)
		add(i, i % 256);
	memset(block, 1, sizeof(block));
	__asm__ volatile("dc zva, %0" : : "r"(tagged(block, 7)) : "memory");
	printf("%u, %lx %lx\n", sum, block[7], block[8]);
	/* So many that each costs little. */
	for (unsigned i = 0; i < 20000; i++)
		*(volatile uint64_t *)tagged(block, i % 256) += i;
	printf("%lx\n", block[0]);
	__asm__ volatile("1: ldxp x8, x9, [%1]\nstxp %w0, x9, x8, [%1]\n"
			 "cbnz %w0, 1b" : "=&r"(failed)
			 : "r"(tagged(pair, 200)) : "x8", "x9", "memory");
	printf("%lu %lu\n", pair[0], pair[1]);
	/* The kernel wants them without. */
	printf("%zd", write(1, tagged("no\n", 1), 3));
	printf(" %d\n", errno == EFAULT);
	return 0;
}
