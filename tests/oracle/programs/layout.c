/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oracle_layout.c - long blocks, page borders, deep and wild control flow */
#include "tests/oracle/programs/oracle.h"

static uint8_t bytes[4 * 4096] __attribute__((aligned(4096)));
static uint64_t results[32];

void on_signal(int number)
{
	(void)number;
}

/* 1,500 instructions without a jump, 5 and 4 bytes each: over pages. */
KEEP uint64_t long_block(uint64_t a)
{
	__asm__ volatile(".rept 500\n\tadd $0x1234567, %%eax\n\t"
			 "rol $3, %0\n\tlea 7(%0), %0\n\t.endr"
			 : "+a"(a) : : "cc");
	return a;
}

/* Exactly 511, 512 and 513 instructions between two jumps. */
KEEP uint64_t near_limit(uint64_t a)
{
	__asm__ volatile("jmp 1f\n1:\t.rept 511\n\tinc %0\n\t.endr\n\tjmp 2f\n"
			 "2:\t.rept 512\n\tdec %0\n\t.endr\n\tjmp 3f\n"
			 "3:\t.rept 513\n\tadd $2, %0\n\t.endr\n\tjmp 4f\n4:"
			 : "+a"(a) : : "cc");
	return a;
}

/* Instructions at and over the border of a page, entered at both sides. */
__asm__(".text\n\t.balign 4096\n\t.fill 4089, 1, 0x90\n"
	"over_border:\n"
	"	lea 1(%rdi), %rax\n"		/* 4 bytes */
	"	movabs $0x123456789abcdef, %rdx\n"	/* from 4093 on */
	"	add %rdx, %rax\n"
	"	jmp 1f\n"
	"	.balign 4096, 0x90\n"
	"	.fill 4080, 1, 0x90\n"
	"1:	xor $0x55, %rax\n"		/* 4 */
	"	test $1, %al\n"			/* 2 */
	"	jnz 2f\n"			/* 2 */
	"	add $3, %rax\n"			/* 4 */
	"	nopl 0(%rax)\n"			/* 4: ends the page */
	"2:	ret\n");

uint64_t over_border(uint64_t a);

KEEP uint64_t crossing(unsigned round)
{
	uint64_t sum = 0;

	for (unsigned border = 4096; border < sizeof(bytes); border += 4096)
		for (unsigned before = 0; before < 8; before++) {
			uint8_t *at = bytes + border - before;

			*(volatile uint64_t *)at += round + before;
			*(volatile uint32_t *)(at - 1) ^= 0x1010101;
			sum += *(volatile uint16_t *)(at + 3);
			__asm__ volatile("movdqu (%1), %%xmm0\n\t"
					 "paddb %%xmm0, %%xmm0\n\t"
					 "movdqu %%xmm0, -9(%1)\n\t"
					 "lock addq $5, (%1)\n\t"
					 "fldt (%1)\n\tfstpt 3(%1)\n\t"
					 "addw $1, %0"
					 : "+m"(*(uint16_t *)(at - 3))
					 : "r"(at) : "xmm0", "st", "cc",
					   "memory");
		}
	return sum;
}

KEEP uint64_t deep(uint64_t depth)
{
	volatile uint64_t kept = depth * 3;

	if (depth == 0)
		return 1;
	return deep(depth - 1) + kept;
}

KEEP uint64_t first(uint64_t a)
{
	return a + 1;
}

KEEP uint64_t second(uint64_t a)
{
	return a * 3;
}

KEEP uint64_t third(uint64_t a)
{
	return a ^ 0xff;
}

/* Calls through a table, a dense switch, returns to another place. */
KEEP uint64_t indirect(uint64_t seed)
{
	static uint64_t (*const table[])(uint64_t) = { first, second, third };
	uint64_t value = seed;

	for (unsigned i = 0; i < 30; i++) {
		value = table[(value >> 3) % 3](value);
		switch (value % 9) {
		case 0: value += 11; break;
		case 1: value -= 5; break;
		case 2: value ^= 77; break;
		case 3: value *= 3; break;
		case 4: value >>= 1; break;
		case 5: value = ~value; break;
		case 6: value += value << 2; break;
		default: value++; break;
		}
	}
	__asm__ volatile("lea 1f(%%rip), %%rcx\n\tpush %%rcx\n\tret\n\tud2\n"
			 "1:\tcall 2f\n2:\tpop %%rcx\n\tenter $32, $1\n\t"
			 "leave\n\tpush %0\n\tpush $-3\n\taddq (%%rsp), %0\n\t"
			 "add $8, %%rsp\n\tpopq %%rcx\n\txor %%ecx, %%ecx"
			 : "+r"(value) : : "rcx", "cc", "memory");
	return value;
}

int guest(void)
{
	for (unsigned i = 0; i < 8; i++) {
		results[0] += long_block(i);
		results[1] += near_limit(i);
		results[2] ^= over_border(i);
		results[3] += crossing(i);
		results[4] += deep(200);
		results[5] ^= indirect(i * 12345);
	}
	return (int)(results[4] & 63);
}
