/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oracle_x87.c - the x87 unit: arithmetic, stack, rounding, 80-bit values */
#include "tests/oracle/programs/oracle.h"

static long double wide[32];
static double narrow[32];
static int64_t whole[32];
static uint8_t packed[32];
static uint16_t words[16];

void on_signal(int number)
{
	(void)number;
}

KEEP long double arithmetic(long double a, long double b)
{
	long double sum = a + b;

	sum = sum * (a - b) / (b * b + 1.0L);
	return a < b ? sum : -sum;
}

KEEP void stack(unsigned i)
{
	__asm__ volatile("fldl %0\n\tfld1\n\tfldpi\n\tfldl2e\n\tfldz\n\t"
			 "fxch %%st(2)\n\tfaddp\n\tfmul %%st(2), %%st\n\t"
			 "fchs\n\tfabs\n\tfsubrp\n\tfdivrp %%st, %%st(1)\n\t"
			 "fabs\n\tfsqrt\n\tfstpl %1\n\tfstpl %2"
			 : "+m"(narrow[i]), "=m"(narrow[i + 1]),
			   "=m"(narrow[i + 2]) : : "st", "st(1)", "st(2)",
			   "st(3)", "st(4)", "st(5)");
}

KEEP void integers(unsigned i)
{
	__asm__ volatile("fildll %0\n\tfistl %1\n\tfisttpll %2\n\t"
			 "fildl %1\n\tfiaddl %1\n\tfistpll %0\n\t"
			 "fildll %2\n\tfbstp %3\n\tfbld %3\n\tfstpt %4"
			 : "+m"(whole[i]), "+m"(words[0]), "+m"(whole[i + 1]),
			   "+m"(packed[0]), "=m"(wide[i])
			 : : "st", "memory");
}

/* FISTTP of what fits, and of what does not. */
KEEP void truncations(unsigned i)
{
	static const double numbers[] = {
		0.0, -0.9, 5.7, -5.7, 1e10, -1e10, 1e19, -1e19, 2147483648.0,
		2147483647.5, -2147483648.5, -2147483649.0,
		9223372036854775808.0, -9223372036854775808.0,
		__builtin_nan(""), -__builtin_inf(),
	};
	double number = numbers[i % 16];
	int32_t low;
	int64_t high;
	int16_t least;

	__asm__ volatile("fldl %3\n\tfld %%st\n\tfld %%st\n\tfisttpl %0\n\t"
			 "fisttpll %1\n\tfisttps %2"
			 : "=m"(low), "=m"(high), "=m"(least) : "m"(number)
			 : "st", "st(1)", "st(2)");
	whole[20 + i % 8] ^= low ^ high ^ least << 5;
}

static volatile uint16_t status HIDDEN_DATA = 1;

/*
 * Only the three bits that comparisons are for: the engine keeps neither the
 * flags of what was rounded nor, here, C1.
 */
KEEP unsigned compare(double a, double b)
{
	uint8_t below, equal, none, even;

	__asm__ volatile("fldl %4\n\tfldl %3\n\tfucompp\n\tfnstsw %0\n\t"
			 "testb $0x45, 1+%0\n\tsetz %1\n\tsetp %2"
			 : "=m"(status), "=q"(none), "=q"(even)
			 : "m"(a), "m"(b) : "st", "st(1)", "cc");
	__asm__ volatile("fldl %3\n\tfldl %2\n\tfcomip %%st(1), %%st\n\t"
			 "fstp %%st\n\tsetb %0\n\tsete %1"
			 : "=q"(below), "=q"(equal) : "m"(a), "m"(b)
			 : "st", "st(1)", "cc");
	__asm__ volatile("fldl %0\n\tftst\n\tfxam\n\tfrndint\n\tfstpl %0"
			 : "+m"(a) : : "st");
	return none + 2u * even + 4u * below + 8u * equal + (a > b);
}

KEEP void rounding(double value)
{
	for (uint16_t mode = 0; mode < 4; mode++) {
		uint16_t control = (uint16_t)(0x37f | mode << 10);
		uint16_t usual = 0x37f;

		__asm__ volatile("fldcw %1\n\tfldl %2\n\tfldl %3\n\t"
				 "fdivrp\n\tfstps %0\n\tfldcw %4"
				 : "=m"(words[2 + 2 * mode])
				 : "m"(control), "m"(value), "m"(narrow[9]),
				   "m"(usual) : "st", "st(1)", "memory");
	}
}

/* Of small whole numbers: the engine computes others in 53 bits. */
KEEP void remainders(double a)
{
	double b = 7.0;

	__asm__ volatile("fldl %1\n\tfldl %0\n\t1: fprem\n\tfnstsw %3\n\t"
			 "testb $4, 1+%3\n\tjnz 1b\n\tfstpl %0\n\tfld1\n\t"
			 "fxch\n\tfscale\n\tfxtract\n\tfstpl %1\n\tfaddp\n\t"
			 "fstpl %2"
			 : "+m"(a), "+m"(b), "=m"(narrow[21]), "=m"(status)
			 : : "st", "st(1)", "st(2)", "cc");
	narrow[22] += a;
}

int guest(void)
{
	uint64_t state = 42;

	__asm__ volatile("fninit");
	for (unsigned i = 0; i < 24; i++) {
		whole[i] = (int64_t)next_value(&state) >> 33;
		narrow[i] = (double)whole[i] / 1024.0;
		wide[i] = (long double)whole[i] / 7.0L;
	}
	for (unsigned i = 0; i < 80; i++) {
		wide[i % 16] = arithmetic(wide[i % 16], wide[(i + 3) % 16]);
		stack(i % 20);
		integers(i % 20);
		words[14] = (uint16_t)(words[14] + compare(narrow[i % 20],
							   narrow[i % 7]));
		rounding(narrow[i % 20]);
		remainders(i * 37.0 + 5.0);
		truncations(i);
	}
	return words[14] & 63;
}
