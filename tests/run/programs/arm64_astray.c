/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arm64_astray.c - jumps to where no instruction can begin */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <ucontext.h>

static sigjmp_buf back;

static void on_signal(int number, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;
	uintptr_t addr = (uintptr_t)info->si_addr;

	printf("signal %d, code %d, %lu behind a word, %d\n", number,
	       info->si_code, addr % 4, addr == at->uc_mcontext.pc);
	siglongjmp(back, 1);
}

static int answer(void)
{
	return 42;
}

int main(void)
{
	const struct sigaction action = { .sa_sigaction = on_signal,
					  .sa_flags = SA_SIGINFO };

	setvbuf(stdout, NULL, _IONBF, 0);
	sigaction(SIGBUS, &action, NULL);
	for (unsigned i = 0; i < 4; i++) {
		int (*volatile ask)(void) =
			(int (*)(void))((uintptr_t)answer + i);

		if (!sigsetjmp(back, 1))
			printf("%d\n", ask());
	}
	return 0;
}
