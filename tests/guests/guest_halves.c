/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_halves.c - what CMPXCHG, BSF and BSR leave of registers that they do
 * not write: the output must be the real processor's
 */
#include <stdint.h>
#include <stdio.h>

#define ACCUMULATOR UINT64_C(0xaaaaaaaa00000005)
#define SOURCE UINT64_C(0xbbbbbbbb00000009)
#define OTHER UINT64_C(0xcccccccc00000000)

/* What follows must not be taken for a part of it. */
#define AFTER "\n\tmovl %%r9d, %%r8d\n\tmovl %%r9d, %%r10d"
#define KEPT "r8", "r9", "r10", "cc"

#define MEMORY(prefix, size, reg)                                              \
	do {                                                                   \
		uint64_t a = ACCUMULATOR, memory = OTHER | other, b = SOURCE;  \
		uint64_t c = 0, d = 0;                                         \
									       \
		__asm__ volatile("movq %4, %%r9\n\t" prefix "cmpxchg" size     \
				 " %" reg "4, %1" AFTER                        \
				 "\n\tmovq %%r8, %2\n\tmovq %%r10, %3"         \
				 : "+a"(a), "+m"(memory), "=&r"(c), "=&r"(d)   \
				 : "r"(b) : KEPT);                             \
		printf("%scmpxchg%s %lx: %lx %lx %lx %lx\n", prefix, size,     \
		       other, a, memory, c, d);                                \
	} while (0)

#define REGISTER(size, reg)                                                    \
	do {                                                                   \
		uint64_t a = ACCUMULATOR, b = SOURCE, r = OTHER | other;       \
									       \
		__asm__ volatile("movq %2, %%r9\n\tcmpxchg" size " %" reg      \
				 "2, %" reg "1" AFTER                          \
				 : "+a"(a), "+r"(r) : "r"(b) : KEPT);          \
		printf("cmpxchg%s %lx of a register: %lx %lx\n", size, other,  \
		       a, r);                                                  \
	} while (0)

#define COUNT(text, reg)                                                       \
	do {                                                                   \
		uint64_t r = OTHER | 0x77777777, s = value, c;                 \
									       \
		__asm__ volatile("movq %3, %%r9\n\t" text " %" reg "2, %" reg  \
				 "0\n\tmovl %%r9d, %%r8d\n\tmovq %%r8, %1"     \
				 : "+r"(r), "=&r"(c) : "r"(s), "r"(SOURCE)     \
				 : KEPT);                                      \
		printf("%s of %lx: %lx %lx\n", text, value, r, c);             \
		r = OTHER | 0x77777777;                                        \
		__asm__ volatile(text " %" reg "1, %" reg "0\n\t"              \
				 "movl %k1, %k0" : "+r"(r) : "r"(s) : KEPT);   \
		printf("and overwritten: %lx\n", r);                           \
	} while (0)

int main(void)
{
	for (uint64_t other = 5; other < 7; other++) {
		MEMORY("", "b", "b");
		MEMORY("", "w", "w");
		MEMORY("", "l", "k");
		MEMORY("", "q", "q");
		MEMORY("lock ", "b", "b");
		MEMORY("lock ", "w", "w");
		MEMORY("lock ", "l", "k");
		MEMORY("lock ", "q", "q");
		REGISTER("b", "b");
		REGISTER("w", "w");
		REGISTER("l", "k");
		REGISTER("q", "q");
	}
	for (unsigned i = 0; i < 4; i++) {
		const uint64_t values[] = { 0, 0x10, UINT64_C(1) << 40,
					    UINT64_C(0xf0f00000f0f00000) };
		uint64_t value = values[i];

		COUNT("bsfw", "w");
		COUNT("bsfl", "k");
		COUNT("bsfq", "q");
		COUNT("bsrw", "w");
		COUNT("bsrl", "k");
		COUNT("bsrq", "q");
	}
	return 0;
}
