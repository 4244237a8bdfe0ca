/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stepping.c - what the second behaviour of the processor has and the first has
 * not: the trap flag, and RDTSCP
 *
 * It is recorded only (golden/recorded): the stepper steps by the same flag.
 */
#include "tests/oracle/programs/oracle.h"

enum { SIG_ILL = 4, SIG_TRAP = 5, SIG_USR1 = 10, SIG_SEGV = 11 };
enum { RIP = 16, FLAGS = 17 };

#define TRAP_FLAG UINT64_C(0x100)
#define TRACE 2			/* si_code */

static unsigned traps, traced, illegal, refused;
static uint64_t places;

void on_signal(int number)
{
	uint64_t flags = interrupted(FLAGS);

	switch (number) {
	case SIG_TRAP:
		traps++;
		traced += signal_code() == TRACE;
		places = places * 31 + interrupted(RIP);
		if (traps % 20 == 0)
			set_interrupted(FLAGS, flags & ~TRAP_FLAG);
		break;
	case SIG_USR1:
		set_interrupted(FLAGS, flags | TRAP_FLAG);
		break;
	case SIG_ILL:			/* RDTSCP */
		illegal++;
		set_interrupted(RIP, interrupted(RIP) + 3);
		break;
	default:
		refused++;
		set_interrupted(FLAGS, flags & ~TRAP_FLAG);
	}
}

KEEP void by_popf(void)
{
	uint64_t a = 1;

	for (unsigned i = 0; i < 3; i++)
		__asm__ volatile("lea places(%%rip), %%rdi\n\t"
				 "mov %%rdi, %%rsi\n\t"
				 "mov $5, %%ecx\n\t"
				 "pushf\n\torl $0x100, (%%rsp)\n\tpopf\n\t"
				 "rep movsb\n\tadd $5, %0\n\tpushf\n\tpopf\n\t"
				 "mov $8, %%ecx\n1:\timul $3, %0, %0\n\t"
				 "dec %%ecx\n\tjnz 1b"
				 : "+r"(a) : : "rcx", "rsi", "rdi", "cc",
				   "memory");
	places += a;
}

KEEP void by_return(void)
{
	long self = call3(CALL_GETPID, 0, 0, 0);

	for (unsigned i = 0; i < 3; i++) {
		call3(CALL_TKILL, self, SIG_USR1, 0);
		for (unsigned k = 0; k < 20; k++)
			places = places * 5 + k;
	}
}

KEEP uint64_t clocks(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < 20; i++) {
		uint32_t low = 0, high = 0, which = 0;

		__asm__ volatile("rdtscp"
				 : "+a"(low), "+d"(high), "+c"(which));
		sum += low + which;
	}
	return sum;
}

int guest(void)
{
	handle_signal(SIG_TRAP);
	handle_signal(SIG_USR1);
	handle_signal(SIG_ILL);
	handle_signal(SIG_SEGV);
	by_popf();
	by_return();
	places += clocks();
	return traps >= 120 && traced == traps && !illegal && !refused ? 0 : 1;
}
