/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vectors.c - numbers of all kinds in vector registers, where it calls getppid */

/* Numbers of 4 and of 2 bytes: 1.5, 1/3, infinity, pi; 1, 1/3, infinity, the
 * smallest one, the largest one, -1, 1.5, no number. */
static const unsigned words[4] = {
	0x3fc00000, 0x3eaaaaab, 0x7f800000, 0x40490fdb,
};
static const unsigned short halves[8] = {
	0x3c00, 0x3555, 0x7c00, 0x0001, 0x7bff, 0xbc00, 0x3e00, 0x7e00,
};

int main(void)
{
#if defined(__aarch64__)
	register long number __asm__("x8") = 173;

	__asm__ volatile("ldr q0, %0\n\tldr q1, %1\n\tsvc 0"
			 :: "m"(words), "m"(halves), "r"(number)
			 : "x0", "v0", "v1", "memory");
#elif defined(__arm__)
	register long number __asm__("r7") = 64;

	__asm__ volatile("vld1.8 {d0, d1}, [%0]\n\t"
			 "vld1.8 {d2, d3}, [%1]\n\tsvc 0"
			 :: "r"(words), "r"(halves), "r"(number)
			 : "r0", "d0", "d1", "d2", "d3", "memory");
#else
	long result = 110;

	__asm__ volatile("movdqu %1, %%xmm0\n\tmovdqu %2, %%xmm1\n\tsyscall"
			 : "+a"(result) : "m"(words), "m"(halves)
			 : "xmm0", "xmm1", "rcx", "r11", "memory");
#endif
	return 0;
}
