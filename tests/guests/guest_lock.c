/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_lock.c - the LOCK prefix, where it may be and where it may not: at any
 * place in a block, and where the instruction goes on on another page, which
 * may not be there
 */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/guests/guest.h"

#define PAGE 4096u

enum { RUNS, ILLEGAL };

/* The operand in memory is at RBX, where all is 0. */
static const struct instruction {
	int expected;
	unsigned size;
	uint8_t bytes[12];
} instructions[] = {
	{ ILLEGAL, 5, { 0xf0, 0x0f, 0xba, 0xe2, 1 } },		/* bt edx, 1 */
	{ ILLEGAL, 5, { 0xf0, 0x0f, 0xba, 0xea, 1 } },		/* bts */
	{ ILLEGAL, 5, { 0xf0, 0x0f, 0xba, 0xf2, 1 } },		/* btr */
	{ ILLEGAL, 5, { 0xf0, 0x0f, 0xba, 0xfa, 1 } },		/* btc */
	{ ILLEGAL, 4, { 0xf0, 0x0f, 0xa3, 0xd1 } },		/* bt ecx, edx */
	{ ILLEGAL, 4, { 0xf0, 0x0f, 0xab, 0xd1 } },		/* bts */
	{ ILLEGAL, 4, { 0xf0, 0x0f, 0xb3, 0xd1 } },		/* btr */
	{ ILLEGAL, 4, { 0xf0, 0x0f, 0xbb, 0xd1 } },		/* btc */
	{ ILLEGAL, 6, { 0x66, 0xf0, 0x0f, 0xba, 0xfa, 1 } },
	{ ILLEGAL, 6, { 0xf0, 0x66, 0x0f, 0xba, 0xfa, 1 } },
	{ ILLEGAL, 5, { 0xf0, 0x67, 0x0f, 0xab, 0xd1 } },
	{ ILLEGAL, 7, { 0xf0, 0x2e, 0xf3, 0x0f, 0xba, 0xfa, 1 } },
	{ ILLEGAL, 4, { 0xf0, 0x0f, 0xb1, 0xd1 } },		/* cmpxchg */
	{ ILLEGAL, 4, { 0xf0, 0x0f, 0xc1, 0xd1 } },		/* xadd */
	{ ILLEGAL, 3, { 0xf0, 0x87, 0xd1 } },			/* xchg */
	{ ILLEGAL, 3, { 0xf0, 0x01, 0xd1 } },			/* add */
	{ ILLEGAL, 3, { 0xf0, 0xf7, 0xd9 } },			/* neg */
	{ ILLEGAL, 3, { 0xf0, 0xff, 0xc1 } },			/* inc */
	{ ILLEGAL, 7, { 0xf0, 0x81, 0xc1, 1, 0, 0, 0 } },	/* add */
	{ ILLEGAL, 2, { 0xf0, 0x90 } },				/* nop */
	{ ILLEGAL, 3, { 0xf0, 0x89, 0xd1 } },			/* mov */
	{ ILLEGAL, 3, { 0xf0, 0xf3, 0xa4 } },			/* rep movsb */
	{ ILLEGAL, 3, { 0xf0, 0x0f, 0xa2 } },			/* cpuid */
	{ ILLEGAL, 5, { 0xf0, 0x0f, 0xba, 0x23, 1 } },	/* bt [rbx], 1 */
	{ ILLEGAL, 4, { 0xf0, 0x0f, 0xa3, 0x13 } },
	{ ILLEGAL, 3, { 0xf0, 0x03, 0x13 } },		/* add edx, [rbx] */
	{ ILLEGAL, 3, { 0xf0, 0x39, 0x13 } },			/* cmp */
	{ ILLEGAL, 4, { 0xf0, 0x83, 0x3b, 1 } },		/* cmp */
	{ ILLEGAL, 3, { 0xf0, 0x85, 0x13 } },			/* test */
	{ ILLEGAL, 3, { 0xf0, 0x8d, 0x13 } },			/* lea */
	{ ILLEGAL, 3, { 0xf0, 0xff, 0x33 } },			/* push */
	{ ILLEGAL, 4, { 0xf0, 0x0f, 0x58, 0x03 } },		/* addps */
	{ RUNS, 5, { 0xf0, 0x0f, 0xba, 0x2b, 1 } },		/* bts */
	{ RUNS, 5, { 0xf0, 0x0f, 0xba, 0x33, 1 } },		/* btr */
	{ RUNS, 5, { 0xf0, 0x0f, 0xba, 0x3b, 1 } },		/* btc */
	{ RUNS, 4, { 0xf0, 0x0f, 0xab, 0x13 } },		/* bts */
	{ RUNS, 4, { 0xf0, 0x0f, 0xb1, 0x13 } },		/* cmpxchg */
	{ RUNS, 4, { 0xf0, 0x0f, 0xc1, 0x13 } },		/* xadd */
	{ RUNS, 4, { 0xf0, 0x0f, 0xc7, 0x0b } },		/* cmpxchg8b */
	{ RUNS, 3, { 0xf0, 0x87, 0x13 } },			/* xchg */
	{ RUNS, 3, { 0xf0, 0x11, 0x13 } },			/* adc */
	{ RUNS, 4, { 0xf0, 0x83, 0x2b, 5 } },			/* sub */
	{ RUNS, 10, { 0x66, 0xf0, 0x81, 0xb3, 0, 0, 0, 0, 5, 5 } },
	{ RUNS, 3, { 0xf0, 0xf7, 0x13 } },			/* not */
	{ RUNS, 3, { 0xf0, 0xf7, 0x1b } },			/* neg */
	{ RUNS, 3, { 0xf0, 0xfe, 0x0b } },			/* dec */
#ifdef __x86_64__
	{ ILLEGAL, 6, { 0xf0, 0x48, 0x0f, 0xba, 0xfa, 1 } },
	{ ILLEGAL, 6, { 0x48, 0xf0, 0x0f, 0xba, 0xfa, 1 } },
	{ ILLEGAL, 5, { 0xf0, 0x4d, 0x0f, 0xab, 0xd1 } },
	{ RUNS, 5, { 0xf0, 0x48, 0x0f, 0xc1, 0x13 } },
#endif
};

#define INSTRUCTIONS (sizeof(instructions) / sizeof(*instructions))

static uint8_t *code;		/* two pages */
static uint8_t operand[64] __attribute__((aligned(64)));

static sigjmp_buf back;
static siginfo_t got;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	got = *info;
	siglongjmp(back, 1);
}

static void call(const void *at)
{
	uintptr_t a = 0, c = 0, d = 0, where = (uintptr_t)at;

	__asm__ volatile("call *%3" : "+a"(a), "+c"(c), "+d"(d), "+S"(where)
			 : "b"(operand) : "memory", "cc", "edi");
}

/* Behind `before` instructions, so that it begins at `at`. */
static void attempt(const struct instruction *instruction, uint8_t *at,
		    unsigned before)
{
	uint8_t *first = at - before;

	memset(operand, 0, sizeof(operand));
	memset(first, 0x90, before);
	memcpy(at, instruction->bytes, instruction->size);
	at[instruction->size] = 0xc3;
	memset(&got, 0, sizeof(got));
	if (!sigsetjmp(back, 1))
		call(first);
	if (instruction->expected == RUNS) {
		CHECK(got.si_signo == 0);
		return;
	}
	CHECK(got.si_signo == SIGILL);
	CHECK(got.si_code == ILL_ILLOPN);
	CHECK(got.si_addr == at);
}

static void show(const struct instruction *instruction)
{
	for (unsigned i = 0; i < instruction->size; i++)
		printf("%02x", instruction->bytes[i]);
	printf(": signal %d, code %d, operand %02x\n", got.si_signo,
	       got.si_code, operand[0]);
}

static void test_places(void)
{
	for (unsigned i = 0; i < INSTRUCTIONS; i++) {
		attempt(&instructions[i], code + 64, 0);
		show(&instructions[i]);
		attempt(&instructions[i], code + 256, 3);
	}
}

static void test_across(void)
{
	for (unsigned i = 0; i < INSTRUCTIONS; i++)
		for (unsigned cut = 1; cut <= instructions[i].size; cut++) {
			attempt(&instructions[i], code + PAGE - cut, 0);
			attempt(&instructions[i], code + PAGE - cut, 2);
		}
}

/* The rest of the instruction is asked for, and is not there. */
static void test_missing(void)
{
	CHECK(!munmap(code + PAGE, PAGE));
	for (unsigned i = 0; i < INSTRUCTIONS; i++) {
		const struct instruction *instruction = &instructions[i];

		for (unsigned cut = 1; cut < instruction->size; cut++) {
			uint8_t *at = code + PAGE - cut;

			at[-1] = 0x90;
			memcpy(at, instruction->bytes, cut);
			memset(&got, 0, sizeof(got));
			if (!sigsetjmp(back, 1))
				call(cut % 2 ? at : at - 1);
			if (instruction->bytes[cut - 1] == 0xf0 ||
			    instruction->expected == RUNS) {
				CHECK(got.si_signo == SIGSEGV);
				CHECK(got.si_addr == code + PAGE);
			}
			printf("%u %u: %d %d %ld\n", i, cut, got.si_signo,
			       got.si_code,
			       (long)((uint8_t *)got.si_addr - code));
		}
	}
}

int main(void)
{
	install(SIGILL, on_signal, 0);
	install(SIGSEGV, on_signal, 0);
	code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(code != MAP_FAILED);
	test_places();
	test_across();
	test_missing();
	return guest_end();
}
