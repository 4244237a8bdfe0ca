/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tampered.c - what the kernel says is computed with, for a while
 *
 * Each phase takes something that only the recording knows (a result, bytes
 * of a pipe, a page of a file, a processor's name) and works with it for some
 * thousand instructions.  What came in stays in a place that nothing writes
 * again, so the first instruction that can differ leaves its trace.
 */
#include "tests/oracle/programs/oracle.h"

static uint64_t work[64] = { 1 };
static uint8_t buffer[512], page[5 * 4096] __attribute__((aligned(4096)));
static int ends[2];
uint64_t kept[8], sums[8];

/* Several pages of the file, so that a touch can be mistaken for another. */
static const uint8_t table[4 * 4096] __attribute__((aligned(4096))) = {
	[0] = 11, [4096] = 22, [8192] = 33, [12288] = 44,
};

void on_signal(int number)
{
	(void)number;
}

KEEP uint64_t mix(uint64_t seed, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		work[i % 64] ^= seed >> 33;
	}
	return seed;
}

KEEP void with_result(void)
{
	kept[0] = (uint64_t)call3(CALL_GETPID, 0, 0, 0);
	sums[0] = mix(kept[0], 400);
}

KEEP void with_bytes(void)
{
	uint8_t sent[64];

	for (unsigned i = 0; i < sizeof(sent); i++)
		sent[i] = (uint8_t)(i * 7 + 1);
	call3(CALL_PIPE, (long)ends, 0, 0);
	call3(CALL_WRITE, ends[1], (long)sent, sizeof(sent));
	kept[1] = (uint64_t)call3(CALL_READ, ends[0], (long)buffer,
				  sizeof(sent));
	for (unsigned i = 0; i < sizeof(sent); i++)
		kept[2] = kept[2] * 31 + buffer[i];
	sums[1] = mix(kept[2], 400);
}

KEEP void with_pages(void)
{
	const uint8_t *at = table;
	long file = call3(CALL_OPEN, (long)"/proc/self/exe", 0, 0);

	OPAQUE(at);
	for (unsigned i = 0; i < 4; i++)
		kept[3] = kept[3] * 256 + at[i * 4096];
	call3(CALL_READ, file, (long)page, sizeof(page));
	call3(CALL_CLOSE, file, 0, 0);
	for (unsigned i = 0; i < 4096; i++)
		kept[4] = kept[4] * 31 + page[4096 + i];
	sums[2] = mix(kept[3] + kept[4], 400);
}

/* The result goes where it is not in a register of 8 bytes. */
KEEP void with_wide(void)
{
	uint64_t result = (uint64_t)call3(CALL_GETPID, 0, 0, 0);

	__asm__ volatile("movq %0, %%xmm5\n\t"
			 "xor %%eax, %%eax\n\t"
			 "xor %%ecx, %%ecx\n\t"
			 "xor %0, %0"
			 : "+r"(result) : : "rax", "rcx", "xmm5");
	sums[3] = mix(3, 1200);
	__asm__ volatile("pxor %%xmm5, %%xmm5" : : : "xmm5");
}

KEEP void with_processor(void)
{
	uint32_t a = 0, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	kept[5] = b;
	sums[4] = mix(b ^ d, 400);
}

int guest(void)
{
	sums[7] = mix(7, 300);
	with_result();
	with_bytes();
	with_pages();
	with_wide();
	with_processor();
	sums[6] = mix(9, 300);
	return 0;
}
