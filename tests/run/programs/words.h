/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * words.h - chance, numbers that are likely to matter, and signals, for the
 * programs that execute random instructions
 */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define CODE_AT ((uint8_t *)0x60000000)
#define CODE_SIZE (4u << 20)
#define FIRST_WORD (CODE_AT + CODE_SIZE / 2)
#define DATA_AT ((uint8_t *)0x68000000)
#define DATA_SIZE (256u << 10)

/* ------- chance ------- */

static uint64_t seed;

static uint64_t draw(void)
{
	uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

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

static void draw_vector(uint8_t *v)
{
	uint64_t words[2], kind = draw();

	for (int i = 0; i < 2; i++)
		switch (kind % 4) {
		case 0:
			words[i] = draw_float(64);
			break;
		case 1:
			words[i] = draw_float(32) | draw_float(32) << 32;
			break;
		default:
			words[i] = draw_number();
		}
	memcpy(v, words, 16);
}

/* ------- memory, and signals ------- */

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

static void catch_signals(void (*on_signal)(int, siginfo_t *, void *))
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

/* ------- all of it ------- */

/* The instructions of one round lie side by side, each with a way out behind. */
#define ROUND 256

static int must_show;		/* registers, of the one at hand */

/*
 * Instructions are made a round at a time, and executed one after the other.
 * `leave` is where they come out.  Of the one of number `shown`, from 0, all
 * registers are printed, if it is not 0.
 */
static void run_rounds(long count, long shown, const uint8_t *leave,
		       size_t leave_size, void (*make_round)(void),
		       void (*execute)(int number))
{
	static uint8_t data[DATA_SIZE];

	map(CODE_AT, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC);
	map(DATA_AT, DATA_SIZE, PROT_READ | PROT_WRITE);
	memcpy(data, DATA_AT, DATA_SIZE);
	memcpy(CODE_AT, leave, leave_size);
	for (long i = 0; i < count; i++) {
		if (i % ROUND == 0)
			make_round();
		must_show = shown && i == shown;
		execute((int)(i % ROUND));
		if (i % ROUND == ROUND - 1) {
			printf("memory %016llx\n",
			       (unsigned long long)hash(DATA_AT, DATA_SIZE));
			memcpy(DATA_AT, data, DATA_SIZE);
		}
	}
}
