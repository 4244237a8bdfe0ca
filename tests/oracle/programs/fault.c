/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oracle_fault.c - faults in the middle of blocks, handled and repaired */
#include "tests/oracle/programs/oracle.h"

#define PLACE 0x30000000u

enum { SIG_ILL = 4, SIG_TRAP = 5, SIG_FPE = 8, SIG_USR1 = 10, SIG_SEGV = 11 };

static uint64_t results[64];
static unsigned delivered[16];
static uint64_t skip;		/* bytes of the instruction to skip, or 0 */
static uint64_t seen;

KEEP void look_at(int number)
{
	delivered[number & 15]++;
	seen = seen * 31 + (uint64_t)number + (uint64_t)(unsigned)signal_code();
	if (number == SIG_SEGV)
		seen += signal_address();
	seen ^= interrupted(16) + 3 * interrupted(13);	/* rip, rax */
}

void on_signal(int number)
{
	look_at(number);
	if (skip) {
		set_interrupted(16, interrupted(16) + skip);
		set_interrupted(13, interrupted(13) + 1000);
	} else if (number == SIG_SEGV) {
		map_at(PLACE + 4096 * (delivered[SIG_SEGV] % 4), 4096, 3);
		call3(CALL_MPROTECT, PLACE, 5 * 4096, 3);
	}
}

/* The instruction is executed again once its memory is there. */
KEEP void repaired(unsigned round)
{
	uint64_t a = round, b = 3;

	skip = 0;
	for (unsigned i = 0; i < 4; i++) {
		call3(CALL_MUNMAP, PLACE, 5 * 4096, 0);
		delivered[SIG_SEGV] = 3;
		__asm__ volatile("add $5, %0\n\timul $3, %0, %1\n\t"
				 "mov %1, (%2)\n\tadd (%2), %0\n\t"
				 "xor $9, %1\n\tlea 1(%0,%1), %0"
				 : "+r"(a), "+r"(b)
				 : "r"((uint64_t)PLACE + 8 * i)
				 : "cc", "memory");
		results[0] += a ^ b;
	}
}

/* Writes that the protection forbids, half of the way through a REP. */
KEEP void repeated(void)
{
	uint8_t *memory;
	uint64_t from, to, count;

	skip = 0;
	call3(CALL_MUNMAP, PLACE, 5 * 4096, 0);
	delivered[SIG_SEGV] = 3;
	memory = map_at(PLACE, 5 * 4096, 3);
	for (unsigned i = 0; i < 100; i++)
		memory[i] = (uint8_t)(i * 3);
	call3(CALL_MPROTECT, PLACE + 4096, 4096, 1);
	from = PLACE;
	to = PLACE + 4096 - 20;
	count = 50;
	__asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(count)
			 : : "memory");
	results[1] += from + 3 * to + count + memory[4096 + 10];
	call3(CALL_MPROTECT, PLACE + 8192, 4096, 0);
	from = PLACE + 8192 - 24;
	count = 7;
	__asm__ volatile("rep lodsq" : "+S"(from), "+c"(count), "=a"(to)
			 : : "memory");
	results[2] += from + count + to;
	/* A 16-byte and an 8-byte access that cross into it. */
	call3(CALL_MPROTECT, PLACE + 8192, 4096, 1);
	__asm__ volatile("pcmpeqd %%xmm1, %%xmm1\n\tmovdqu %%xmm1, (%0)"
			 : : "r"((uint64_t)PLACE + 8192 - 5)
			 : "xmm1", "memory");
	call3(CALL_MPROTECT, PLACE + 8192, 4096, 1);
	*(volatile uint64_t *)((uint64_t)PLACE + 8192 - 3) = 0x1234567890;
	results[3] += memory[8191] + memory[8193];
}

#define SKIPPED(bytes, instructions, input) do { \
	uint64_t a_ = 7, d_ = 0; \
	skip = bytes; \
	__asm__ volatile("add $1, %0\n\t" instructions "\n\tadd $2, %0" \
			 : "+a"(a_), "+d"(d_) : input : "rcx", "cc", "memory"); \
	results[4] = results[4] * 31 + a_ + d_; \
} while (0)

KEEP void skipped(uint64_t zero)
{
	SKIPPED(3, "div %2", "r"(zero));
	SKIPPED(2, "ud2", "r"(zero));
	SKIPPED(3, "movb (%2), %%cl; .byte 0x90", "b"(zero));
	SKIPPED(2, "movb %%al, (%2)", "b"(zero));
	/* Privileged, and an address that no pointer can have. */
	SKIPPED(1, "hlt", "r"(zero));
	SKIPPED(1, "cli", "r"(zero));
	SKIPPED(1, "inb %%dx, %%al", "r"(zero));
	SKIPPED(3, "mov %%cr0, %%rcx", "r"(zero));
	SKIPPED(3, "mov (%2), %%rcx", "b"(zero + 0x8000000000000000u));
	/* Overflow of a quotient. */
	SKIPPED(3, "mov $5, %%edx\n\tdiv %2", "r"(zero + 3));
	skip = 0;
	__asm__ volatile("int3" : : : "memory");
	results[5] += delivered[SIG_TRAP];
}

/* Jumps to where there is no code: the handler sends it back. */
KEEP void no_code(void)
{
	uint64_t back = 0;

	skip = (uint64_t)&&landed - 0x40;
	__asm__ volatile("" : "+r"(back) : "r"(skip));
	__asm__ goto("jmp *%0" : : "r"((uint64_t)0x40) : "memory" : landed);
landed:
	skip = 0;
	results[6]++;
}

/* Blocked, sent, and delivered when it is unblocked. */
HIDDEN uint64_t send_to_self(int number)
{
	call3(CALL_TKILL, call3(CALL_GETPID, 0, 0, 0), number, 0);
	return forget_all_but(0);
}

KEEP void blocked(void)
{
	uint64_t mask = 1u << (SIG_USR1 - 1), old = 0;

	skip = 0;
	call6(CALL_SIGPROCMASK, 0, (long)&mask, (long)&old, 8, 0, 0);
	send_to_self(SIG_USR1);
	results[7] += delivered[SIG_USR1];
	call6(CALL_SIGPROCMASK, 1, (long)&mask, (long)&results[8], 8, 0, 0);
	results[9] += delivered[SIG_USR1];
	results[10] += old;
}

int guest(void)
{
	static const int numbers[] = {
		SIG_ILL, SIG_TRAP, SIG_FPE, SIG_USR1, SIG_SEGV
	};

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		handle_signal(numbers[i]);
	for (unsigned i = 0; i < 30; i++) {
		repaired(i);
		repeated();
		skipped(0);
		no_code();
		blocked();
		results[20 + i % 8] = seen;
	}
	return (int)(delivered[SIG_TRAP] + results[6]);
}
