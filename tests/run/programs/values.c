/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * values.c - computes with all kinds of registers, without a library
 *
 * Nothing of its environment is in its registers: they begin as zeros, and its
 * stack is its own.  So each instruction finds the same ones, whoever executes
 * it.
 */
#include <stdint.h>

uint8_t stack[65536] __attribute__((aligned(64), used));
void program(void);

#ifdef __aarch64__
__asm__(".global _start\n_start:\n"
	".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,"
	"24,25,26,27,28,29,30\n mov x\\n, xzr\n .endr\n"
	"cmp xzr, xzr\n adrp x0, stack+65536\n mov sp, x0\n bl program\n");

static void leave(void)
{
	register long status __asm__("x0") = 0, number __asm__("x8") = 93;

	__asm__ volatile("svc #0" :: "r"(status), "r"(number));
}
#elif defined(__arm__)
__asm__(".syntax unified\n .thumb\n .global _start\n .type _start, %function\n"
	"_start:\n movs r0, #0\n"
	".irp n, 1,2,3,4,5,6,7,8,9,10,11,12,14\n mov r\\n, r0\n .endr\n"
	"ldr r0, =stack+65536\n mov sp, r0\n bl program\n .ltorg\n");

static void leave(void)
{
	__asm__ volatile("movs r7, #1\n movs r0, #0\n svc #0" ::: "r0", "r7");
}
#else
__asm__(".global _start\n_start:\n"
	".irp n, eax,ecx,edx,ebx,ebp,esi,edi\n xorl %\\n, %\\n\n .endr\n"
	"movw %ax, %gs\n movw %ax, %fs\n"
	"movl $stack+65536, %esp\n call program\n");

static void leave(void)
{
	__asm__ volatile("int $0x80" :: "a"(1), "b"(0));
}
#endif

static uint32_t words[64];
static float floats[16];
static double doubles[16];
typedef int32_t four_words __attribute__((vector_size(16)));
typedef float four_floats __attribute__((vector_size(16)));
static four_words vectors[4];
static four_floats curves[4];
static char text[32];
static volatile uint64_t seen;

static uint32_t draw(void)
{
	static uint32_t seed = 12345;

	seed ^= seed << 13;
	seed ^= seed >> 17;
	return seed ^= seed << 5;
}

static void sort(void)
{
	for (unsigned i = 0; i < 24; i++)
		words[i] = draw() % 1000;
	for (unsigned i = 1; i < 24; i++)
		for (unsigned k = i; k && words[k] < words[k - 1]; k--) {
			uint32_t word = words[k];

			words[k] = words[k - 1];
			words[k - 1] = word;
		}
}

static void multiply(void)
{
	uint64_t sum = 1;
	int64_t other = -7;

	for (unsigned i = 0; i < 24; i++) {
		sum = sum * (draw() | 1) + (sum >> 32);
		other = other * 31 + (int32_t)draw();
		words[i] ^= (uint32_t)sum << (i & 31) | (uint32_t)other >> 9;
	}
	seen = sum ^ (uint64_t)other;
}

static void compute(void)
{
	for (unsigned i = 0; i < 16; i++) {
		doubles[i] = (double)(int32_t)draw() / (i + 3);
		floats[i] = (float)doubles[i] * 0.25f + (float)i;
		doubles[i] = doubles[i] * doubles[(i + 5) % 16] -
			     (double)floats[(i + 1) % 16];
		if (doubles[i] < 0)
			floats[i] = -floats[i];
		words[i] += (uint32_t)(int32_t)floats[i];
	}
}

static void vectorize(void)
{
	for (unsigned i = 0; i < 4; i++) {
		int32_t word = (int32_t)draw();

		vectors[i] = (four_words){ word, word >> 3, word << 5, ~word };
		curves[i] = (four_floats){ floats[i], floats[i + 4], 1.5f, 2 };
	}
	for (unsigned i = 0; i < 12; i++) {
		vectors[i % 4] += vectors[(i + 1) % 4] ^ vectors[(i + 2) % 4];
		vectors[i % 4] = vectors[i % 4] << 1 | vectors[i % 4] > 100;
		curves[i % 4] = curves[i % 4] * curves[(i + 3) % 4] + 0.5f;
		curves[i % 4] /= curves[(i + 1) % 4] + 3.0f;
	}
}

static void write_text(void)
{
	uint32_t value = words[3];
	char *at = text + sizeof(text);

	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	for (char *to = text; at < text + sizeof(text);)
		*to++ = *at++;
}

static uint32_t depth(unsigned n)
{
	return n < 2 ? n + words[n] : depth(n - 1) + depth(n - 2) * 3;
}

void program(void)
{
	for (unsigned i = 0; i < 2; i++) {
		sort();
		multiply();
		compute();
		vectorize();
		write_text();
		words[i] = depth(7);
	}
	leave();
}
