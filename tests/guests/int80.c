/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * int80.c - i386 system calls, which the guest does not have
 *
 * Prints the address of the instruction, and executes it.  With an argument
 * it has a handler for SIGILL, which goes on behind it, twice.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

extern const char the_call[];
static int caught;

static void skip(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	caught += number == SIGILL && info->si_code == ILL_ILLOPN &&
		  info->si_addr == (const void *)the_call;
	uc->uc_mcontext.gregs[REG_RIP] += 2;
}

/* exit(3), natively. */
static __attribute__((noinline)) void call(void)
{
	__asm__ volatile(".globl the_call\nthe_call: int $0x80"
			 : : "a"(1), "b"(3) : "memory");
}

int main(int argc, char **argv)
{
	struct sigaction action;

	(void)argv;
	printf("0x%lx\n", (unsigned long)the_call);
	fflush(stdout);
	if (argc > 1) {
		memset(&action, 0, sizeof(action));
		action.sa_sigaction = skip;
		action.sa_flags = SA_SIGINFO;
		sigaction(SIGILL, &action, NULL);
		call();
	}
	call();
	return caught == 2 ? 0 : 1;
}
