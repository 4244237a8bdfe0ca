/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oracle_integer.c - integer instructions of all sizes, sort, sieve, hash */
#include "tests/oracle/programs/oracle.h"

static uint64_t results[128];
static uint32_t numbers[160];
static uint8_t composite[2000];
static uint64_t buckets[64];
static struct {
	uint64_t low, high;
} pair __attribute__((aligned(16))) = { 1, 2 };

void on_signal(int number)
{
	(void)number;
}

KEEP void sort(uint32_t *values, int count)
{
	while (count > 1) {
		uint32_t pivot = values[count / 2];
		int i = 0, j = count - 1;

		while (i <= j) {
			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i <= j) {
				uint32_t kept = values[i];

				values[i++] = values[j];
				values[j--] = kept;
			}
		}
		sort(values, j + 1);
		values += i;
		count -= i;
	}
}

KEEP unsigned sieve(void)
{
	unsigned count = 0;

	for (unsigned i = 2; i < sizeof(composite); i++) {
		if (composite[i])
			continue;
		count++;
		for (unsigned j = i * i; j < sizeof(composite); j += i)
			composite[j] = 1;
	}
	return count;
}

KEEP uint64_t fibonacci(unsigned n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

KEEP void hash(void)
{
	uint64_t state = 88172645463325252u;

	for (int i = 0; i < 300; i++) {
		uint64_t value = next_value(&state);

		buckets[value * 0x9e3779b97f4a7c15u >> 58] += value;
	}
}

/* Operands of 8 to 64 bits; the flags of each go into `out`. */
#define ONE(op, type, suffix, constraint) do { \
	type a_ = (type)a, b_ = (type)b; \
	uint8_t flag_c, flag_z, flag_s; \
	__asm__ volatile(op suffix " %4, %0\n\tsetc %1\n\tsetz %2\n\tsets %3" \
			 : "+" constraint(a_), "=&q"(flag_c), "=&q"(flag_z), \
			   "=&q"(flag_s) \
			 : constraint(b_) : "cc"); \
	sum = sum * 31 + (uint64_t)a_ + flag_c + 2 * flag_z + 4 * flag_s; \
} while (0)

#define SIZES(op) do { \
	ONE(op, uint8_t, "b", "q"); \
	ONE(op, uint16_t, "w", "r"); \
	ONE(op, uint32_t, "l", "r"); \
	ONE(op, uint64_t, "q", "r"); \
} while (0)

KEEP uint64_t arithmetic(uint64_t a, uint64_t b)
{
	uint64_t sum = 0;

	SIZES("add");
	SIZES("adc");
	SIZES("sub");
	SIZES("sbb");
	SIZES("and");
	SIZES("or");
	SIZES("xor");
	SIZES("cmp");
	SIZES("test");
	SIZES("mov");
	return sum;
}

KEEP uint64_t shifts(uint64_t a, unsigned count)
{
	uint64_t b = ~a, c = a, d = a, e = a, f = a, g = a;
	uint32_t h = (uint32_t)a;
	uint16_t i = (uint16_t)a;

	__asm__ volatile("shl %%cl, %0\n\tshr %%cl, %1\n\tsar %%cl, %2\n\t"
			 "rol %%cl, %3\n\tror %%cl, %4\n\t"
			 "stc\n\trcl %%cl, %5\n\tclc\n\trcr $1, %5\n\t"
			 "shld %%cl, %1, %0\n\tshrd $7, %2, %3\n\t"
			 "shl $3, %k6\n\tsar $1, %k6\n\trol $5, %w7"
			 : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e),
			   "+r"(f), "+r"(h), "+r"(i)
			 : "c"(count) : "cc");
	OPAQUE(g);
	return a + 3 * b + 5 * c + 7 * d + 11 * e + 13 * f + h + i + g;
}

KEEP uint64_t bits(uint64_t a, uint64_t at)
{
	uint64_t forward, backward, swapped = a, chosen = 1;

	a |= 1;
	__asm__ volatile("bts %5, %4\n\tbtr $9, %4\n\tbtc $33, %4\n\t"
			 "bt %5, %4\n\tcmovc %5, %3\n\t"
			 "bsf %4, %0\n\tbsr %4, %1\n\tbswap %2"
			 : "=&r"(forward), "=&r"(backward), "+r"(swapped),
			   "+r"(chosen), "+r"(a)
			 : "r"(at & 63) : "cc");
	/* A bit offset beyond the operand reaches other memory. */
	__asm__ volatile("btsq %1, %0" : "+m"(results[100])
			 : "r"((int64_t)(at % 512)) : "cc", "memory");
	return forward + 64 * backward + swapped + chosen + a;
}

KEEP uint64_t divisions(uint64_t a, uint64_t b)
{
	uint64_t sum = 0;
	uint64_t high = a % (b | 1), low = a;

	b |= 1;
	__asm__ volatile("mul %2" : "+a"(low), "=d"(sum) : "r"(b) : "cc");
	__asm__ volatile("div %2" : "+a"(low), "+d"(high) : "r"(b) : "cc");
	sum += low ^ high;
	sum += (uint64_t)((int64_t)a / (int64_t)((b >> 40) | 1));
	sum += (uint64_t)((int32_t)a % (int32_t)((b & 0xfff0) | 1));
	sum += (uint16_t)a / (uint16_t)(b | 1);
	sum += (uint64_t)((int64_t)a * 1000003);
	low = a;
	__asm__ volatile("imul %%rbx\n\tcqo\n\tmovsx %%al, %%ecx\n\t"
			 "cwtl\n\tcltq\n\tmovzx %%ah, %%ebx"
			 : "+a"(low), "+b"(b) : : "rcx", "rdx", "cc");
	return sum + low + b;
}

KEEP uint64_t atomics(uint64_t a)
{
	uint64_t *word = &results[110];
	uint64_t old = a;
	uint8_t same;

	__asm__ volatile("lock xadd %0, %1" : "+r"(old), "+m"(*word) : : "cc");
	__asm__ volatile("xchg %0, %1" : "+r"(old), "+m"(word[1]));
	__asm__ volatile("lock cmpxchg %2, %1\n\tsetz %0"
			 : "=q"(same), "+m"(word[2]), "+r"(a), "+a"(old)
			 : : "cc");
	__asm__ volatile("lock incq %0\n\tlock notq %1\n\tlock btsq $5, %1\n\t"
			 "lock decl %0\n\tlock subb $3, %0\n\tlock negw %1"
			 : "+m"(word[3]), "+m"(word[4]) : : "cc");
	__asm__ volatile("lock cmpxchg16b %1\n\tsetz %0"
			 : "=q"(same), "+m"(pair)
			 : "a"(pair.low), "d"(pair.high + (a & 1)), "b"(a),
			   "c"(old) : "cc");
	return old + same;
}

KEEP uint64_t odd_ones(uint64_t a)
{
	uint64_t b = 0;

	__asm__ volatile("push %0\n\tpushfq\n\tpop %1\n\tpopw %w1\n\t"
			 "pushw %w1\n\tpop %0\n\tlahf\n\tsahf\n\t"
			 "xlatb\n\tloop 1f\n1:\tjrcxz 2f\n2:\t"
			 "lea 5(%0,%1,4), %1\n\tstd\n\tcld\n\tcmc\n\tadc $0, %1"
			 : "+r"(a), "+r"(b)
			 : "a"(3), "b"(composite), "c"(7) : "cc", "memory");
	return a ^ b;
}

int guest(void)
{
	uint64_t state = 1234567;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		numbers[i] = (uint32_t)next_value(&state);
	sort(numbers, sizeof(numbers) / sizeof(numbers[0]));
	results[0] = sieve();
	results[1] = fibonacci(12);
	hash();
	for (unsigned i = 0; i < 90; i++) {
		uint64_t a = next_value(&state), b = next_value(&state);

		results[2] += arithmetic(a, b >> (i & 63));
		results[3] ^= shifts(a, (unsigned)b & 63);
		results[4] += bits(a, b);
		results[5] ^= divisions(a, b);
		results[6] += atomics(a);
		results[7] ^= odd_ones(a);
	}
	return (int)(results[0] & 0x7f);
}
