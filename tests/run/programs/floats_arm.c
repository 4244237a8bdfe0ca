/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * floats_arm.c - floating point of both ARMs on ordinary and on strange
 * numbers: in each mode, with and without flags that were raised before
 *
 * It writes a hash of results and flags now and then.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define COUNT 60000
#define ROUNDING_AT 22
#define DEFAULT_NAN (1u << 25)
#define FLUSHES (1u << 24)
#define INEXACT 0x10u
#define FLAGS 0x9fu

static uint64_t seed = 88172645463325252u, hash = UINT64_C(0xcbf29ce484222325);

static const uint64_t strange[] = {
	0, 1, 3, 0xfffffffffffff, 0x10000000000000, 0x10000000000001,
	0x3ff0000000000000, 0x7fefffffffffffff, 0x7ff0000000000000,
	0x7ff8000000000000, 0x7ff0000000000001, 0x3fe0000000000000,
	0x3fefffffffffffff, 0x20000000000000, 0x8000000000000,
	0x4000000000000000, 0x1ff0000000000000, 0x1fffffffffffffff,
};

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Any, a strange one, or one with a small exponent. */
static uint64_t word(uint64_t fraction, uint64_t one)
{
	switch (next() % 3) {
	case 0:
		return next();
	case 1:
		return strange[next() % 18] ^ next() << 63;
	default:
		return (next() & fraction) | next() % 3 * one;
	}
}

static double wide(void)
{
	uint64_t bits = word(UINT64_C(0x800fffffffffffff),
			     UINT64_C(0x10000000000000));
	double number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

static float narrow(void)
{
	uint64_t bits = word(UINT64_C(0x807fffff00000000),
			     UINT64_C(0x80000000000000));
	uint32_t half = (uint32_t)(bits >> 32);
	float number;

	memcpy(&number, &half, sizeof(number));
	return number;
}

static void note(const void *bytes, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) *
		       UINT64_C(0x100000001b3);
}

#ifdef __aarch64__
static void begin(uint64_t flags, uint64_t mode)
{
	__asm__ volatile("msr fpsr, %0\n\tmsr fpcr, %1" : : "r"(flags),
			 "r"(mode));
}

static uint32_t flags(void)
{
	uint64_t value;

	__asm__ volatile("mrs %0, fpsr" : "=r"(value));
	return value & FLAGS;
}
#else
static void begin(uint32_t flags, uint32_t mode)
{
	__asm__ volatile("vmsr fpscr, %0" : : "r"(flags | mode));
}

static uint32_t flags(void)
{
	uint32_t value;

	__asm__ volatile("vmrs %0, fpscr" : "=r"(value));
	return value & FLAGS;
}
#endif

static void compute(void)
{
	volatile double a = wide(), b = wide(), c = wide(), r = 0;
	volatile float x = narrow(), y = narrow(), z = narrow(), s = 0;
	static const uint32_t modes[] = {
		0, 0, 0, 1u << ROUNDING_AT, 2u << ROUNDING_AT,
		3u << ROUNDING_AT, FLUSHES, DEFAULT_NAN,
	};
	unsigned which = next() % 12;
	uint32_t raised;

	begin(next() % 4 ? INEXACT : 0, modes[next() % 8]);
	switch (which) {
	case 0: r = a + b; break;
	case 1: r = a - b; break;
	case 2: r = a * b; break;
	case 3: r = a / b; break;
	case 4: r = sqrt(a); break;
	case 5: r = fma(a, b, c); break;
	case 6: s = x + y; break;
	case 7: s = x - y; break;
	case 8: s = x * y; break;
	case 9: s = x / y; break;
	case 10: s = sqrtf(x); break;
	case 11: s = fmaf(x, y, z); break;
	}
	raised = flags();
	begin(0, 0);
	note((const void *)&r, sizeof(r));
	note((const void *)&s, sizeof(s));
	note(&raised, sizeof(raised));
}

int main(void)
{
	for (unsigned i = 0; i < COUNT; i++) {
		compute();
		if (i % (COUNT / 10) == 0)
			printf("%u %016llx\n", i, (unsigned long long)hash);
	}
	printf("%016llx\n", (unsigned long long)hash);
	return 0;
}
