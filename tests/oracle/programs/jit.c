/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oracle_jit.c - code that is written, rewritten and executed */
#include "tests/oracle/programs/oracle.h"

#define PLACE 0x40000000u

static uint64_t results[32];

void on_signal(int number)
{
	(void)number;
}

typedef uint64_t function(uint64_t a);

static uint8_t *put(uint8_t *at, const void *bytes, unsigned size)
{
	const uint8_t *from = bytes;

	while (size-- > 0)
		*at++ = *from++;
	return at;
}

/* lea N(%rdi), %rax; then `adds` times: add $i, %rax; ret */
KEEP uint8_t *generate(uint8_t *at, int32_t n, unsigned adds)
{
	at = put(at, "\x48\x8d\x87", 3);
	at = put(at, &n, 4);
	for (unsigned i = 0; i < adds; i++) {
		uint8_t add[4] = { 0x48, 0x83, 0xc0, (uint8_t)(i & 0x7f) };

		at = put(at, add, 4);
	}
	return put(at, "\xc3", 1);
}

KEEP uint64_t call(uint64_t place, uint64_t argument)
{
	return ((function *)place)(argument);
}

/* The same page again and again, called after each change. */
KEEP void rewrite(void)
{
	uint8_t *code = map_at(PLACE, 3 * 4096, 7);

	for (int i = 0; i < 40; i++) {
		generate(code + 16 * (i % 5), i * 1000, (unsigned)i % 4);
		results[0] += call(PLACE + 16u * (unsigned)(i % 5), 5);
		code[16 * (i % 5) + 3] ^= 0x11;
		results[1] += call(PLACE + 16u * (unsigned)(i % 5), 6);
	}
	/* Across two pages, either of which changes. */
	generate(code + 4090, 77, 3);
	results[2] += call(PLACE + 4090, 1);
	code[4093] = 3;
	results[2] += call(PLACE + 4090, 1);
	code[4100] = 5;
	results[2] += call(PLACE + 4090, 1);
	/* Long: several of the engine's blocks. */
	generate(code + 4200, -5, 700);
	results[3] += call(PLACE + 4200, 1);
}

/*
 * An instruction that changes the one after it, in the same block: first
 * mov $1, %eax, then as the byte says.
 */
KEEP void itself(void)
{
	static const uint8_t code[] = {
		0x40, 0x88, 0x3d, 1, 0, 0, 0,	/* mov %dil, 1(%rip) */
		0xb8, 1, 0, 0, 0,		/* mov $1, %eax */
		0x48, 0x01, 0xf8,		/* add %rdi, %rax */
		0xc3,
	};
	uint8_t *at = map_at(PLACE + 0x10000, 4096, 7);

	put(at, code, sizeof(code));
	for (uint64_t i = 0; i < 20; i++)
		results[4] = results[4] * 3 + call(PLACE + 0x10000, i % 7);
}

/* Written while it may not be executed, executed while not writable. */
KEEP void by_turns(void)
{
	uint8_t *code = map_at(PLACE + 0x20000, 4096, 3);

	for (int i = 0; i < 10; i++) {
		call3(CALL_MPROTECT, PLACE + 0x20000, 4096, 3);
		generate(code, i, 2);
		call3(CALL_MPROTECT, PLACE + 0x20000, 4096, 5);
		results[5] += call(PLACE + 0x20000, 100);
	}
}

/* Unmapped and mapped anew at the same place, with other code. */
KEEP void anew(void)
{
	for (int i = 0; i < 8; i++) {
		generate(map_at(PLACE + 0x30000, 4096, 7), 5 * i, 1);
		results[6] = results[6] * 7 + call(PLACE + 0x30000, 2);
		call3(CALL_MUNMAP, PLACE + 0x30000, 4096, 0);
	}
}

/* By a string instruction and by the kernel. */
KEEP void from_outside(void)
{
	static uint8_t prepared[64];
	uint8_t *code = map_at(PLACE + 0x40000, 4096, 7);
	long file = call3(CALL_OPEN, (long)"/dev/zero", 0, 0);

	for (int i = 0; i < 10; i++) {
		uint64_t from = (uint64_t)prepared, to = (uint64_t)code;
		uint64_t count = 32;

		generate(prepared, i * i, 3);
		__asm__ volatile("rep movsb"
				 : "+S"(from), "+D"(to), "+c"(count)
				 : : "memory");
		results[7] += call(PLACE + 0x40000, 9);
		/* lea 0(%rdi), %rax with its number made zero */
		call3(CALL_READ, file, (long)code + 3, 4);
		results[8] += call(PLACE + 0x40000, 9);
	}
	call3(CALL_CLOSE, file, 0, 0);
}

int guest(void)
{
	for (unsigned i = 0; i < 5; i++) {
		rewrite();
		itself();
		by_turns();
		anew();
		from_outside();
	}
	return (int)(results[3] & 63);
}
