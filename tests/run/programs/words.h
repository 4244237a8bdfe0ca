/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * words.h - executes random instruction words, and says what they did
 *
 * usage: words GROUP SEED COUNT [FIRST]
 *
 * Each word of a group is executed once, on random registers: general ones,
 * flags, vectors, rounding modes.  A line has the word, a hash of all that it
 * left in registers, and the signal that it got.  Behind each round a line has
 * the hash of the memory that loads and stores go to, which is then as before.
 * With FIRST, all registers are printed of the word of that number, from 0.
 *
 * Who includes it, and words_main.h behind, has of a machine: struct registers,
 * `state`, groups[] with names, show(), and the functions that are declared here.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

struct group;

/* Loads the registers, goes to `code`, and is left by what stands there. */
void run(void *state, const void *code);
extern const uint32_t leave[], leave_end[];

static void draw_registers(const struct group *group);
static uint32_t draw_word(const struct group *group);

/* Writes a word, and a branch to the end; returns where the code begins. */
static const void *write_word(const struct group *group, uint32_t word,
			      uint8_t *at);

/* Has the program go on at the end. */
static void leave_at(mcontext_t *at);

/* ------- chance ------- */

static uint64_t seed;

static uint64_t draw(void)
{
	uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* ------- numbers and memory ------- */

#define CODE_AT ((uint8_t *)0x60000000)
#define CODE_SIZE (4u << 20)
#define FIRST_WORD (CODE_AT + CODE_SIZE / 2)
#define DATA_AT ((uint8_t *)0x68000000)
#define DATA_SIZE (256u << 10)

static uint64_t draw_number(void)
{
	static const uint64_t edges[] = {
		0, 1, 2, UINT64_MAX, INT64_MAX, UINT64_C(1) << 63, INT32_MAX,
		UINT64_C(1) << 31, UINT32_MAX, 0x7fff, 0x8000, 0xffff, 0x80,
	};
	uint64_t kind = draw();

	if (kind % 4 == 0)
		return edges[kind / 4 % (sizeof(edges) / sizeof(*edges))];
	return kind % 4 == 1 ? draw() >> draw() % 64 : draw();
}

/* Half of them lead into the data; the others are offsets. */
__attribute__((unused)) static uint64_t draw_address(void)
{
	uint64_t kind = draw();

	if (kind % 2)
		return (uintptr_t)DATA_AT + DATA_SIZE / 2 +
		       (kind >> 2 & 0x3ff) * (kind & 2 ? 16 : 1);
	return kind % 4 ? draw_number() : kind >> 40 & 0xff;
}

/* Numbers of floating point, of this many bits. */
static uint64_t draw_float(unsigned bits)
{
	static const uint64_t edges64[] = {
		0, UINT64_C(1) << 63, 0x3ff0000000000000, 0x7ff0000000000000,
		0xfff0000000000000, 0x7ff8000000000001, 0x7ff0000000000001,
		0xfff4000000000000, 1, 0x000fffffffffffff, 0x0010000000000000,
		0x7fefffffffffffff, 0x43e0000000000000, 0xc3e0000000000000,
		0x41dfffffffc00000, 0x3fe0000000000000, 0x47f0000000000000,
	};
	static const uint32_t edges32[] = {
		0, 0x80000000, 0x3f800000, 0x7f800000, 0xff800000, 0x7fc00001,
		0x7f800001, 0xffa00000, 1, 0x007fffff, 0x00800000, 0x7f7fffff,
		0x4f000000, 0xcf000000, 0x5f000000, 0x3f000000, 0x477fe000,
	};
	uint64_t kind = draw();

	if (bits == 64)
		return kind % 3 ? edges64[kind / 3 % 17] ^ (kind >> 60 & 1) :
				  draw();
	return kind % 3 ? edges32[kind / 3 % 17] ^ (kind >> 60 & 1) :
			  (uint32_t)draw();
}

static uint64_t hash(const void *bytes, size_t size)
{
	uint64_t value = UINT64_C(0xcbf29ce484222325), word;

	for (size_t at = 0; at + 8 <= size; at += 8) {
		memcpy(&word, (const uint8_t *)bytes + at, 8);
		value = (value ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		value ^= value >> 29;
	}
	return value;
}

static void map(uint8_t *at, size_t size, int prot)
{
	if (mmap(at, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	for (size_t i = 0; i < size; i += 8) {
		uint64_t word = draw();

		memcpy(at + i, &word, 8);
	}
}

/* ------- signals ------- */

static volatile int got;

static void on_signal(int number, siginfo_t *info, void *context)
{
	/* qemu-user's codes of others are not always Linux's. */
	got = number * 16 + (number == SIGBUS ? info->si_code & 15 : 0);
	leave_at(&((ucontext_t *)context)->uc_mcontext);
}

static void catch_signals(void)
{
	static uint8_t stack[65536];
	const stack_t there = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigaltstack(&there, NULL);
	sigaction(SIGILL, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
}
