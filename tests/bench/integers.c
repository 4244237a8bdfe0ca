/* SPDX-License-Identifier: GPL-2.0-or-later */
/* integers.c - an integer mix: sort, sieve, hash table, recursion */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SMALL
enum { NUMBERS = 1 << 16, SIEVE = 1 << 19, KEYS = 200000, FIBONACCI = 24 };
#else
enum { NUMBERS = 1 << 20, SIEVE = 8 << 20, KEYS = 3000000, FIBONACCI = 32 };
#endif
enum { SLOTS = 1 << 20 };

static uint32_t numbers[NUMBERS];
static uint8_t composite[SIEVE];
static struct {
	uint64_t key, count;
} table[SLOTS];

static uint64_t state = 88172645463325252u;

static uint64_t next_value(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void sort(uint32_t *values, long count)
{
	while (count > 1) {
		uint32_t pivot = values[count / 2];
		long i = 0, j = count - 1;

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

static unsigned sieve(void)
{
	unsigned count = 0;

	memset(composite, 0, sizeof(composite));
	for (unsigned i = 2; i < SIEVE; i++) {
		if (composite[i])
			continue;
		count++;
		for (uint64_t j = (uint64_t)i * i; j < SIEVE; j += i)
			composite[j] = 1;
	}
	return count;
}

static uint64_t hash(unsigned rounds)
{
	uint64_t found = 0;

	for (unsigned i = 0; i < rounds; i++) {
		uint64_t key = next_value() % 600000 + 1;
		uint64_t slot = key * 0x9e3779b97f4a7c15u >> 44;

		while (table[slot].key && table[slot].key != key)
			slot = (slot + 1) % SLOTS;
		table[slot].key = key;
		found += table[slot].count++;
	}
	return found;
}

__attribute__((noinline)) static unsigned fibonacci(unsigned n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < rounds; i++) {
		for (long j = 0; j < NUMBERS; j++)
			numbers[j] = (uint32_t)next_value();
		sort(numbers, NUMBERS);
		printf("%u %u %llu %u\n", numbers[1000], sieve(),
		       (unsigned long long)hash(KEYS), fibonacci(FIBONACCI));
	}
	return 0;
}
