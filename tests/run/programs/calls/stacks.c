/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls on several stacks, and in several programs, for calls.py. */
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone, noipa))

static ucontext_t first, second;
static char signal_stack[65536], own_stack[65536];

OWN static int add(int n)
{
	return n + 1;
}

OWN static int raises(int n)
{
	raise(SIGUSR1);
	return add(n);
}

OWN static void on_signal(int number)
{
	add(number);
}

OWN static void coroutine(void)
{
	add(100);
	swapcontext(&second, &first);
	add(200);
}

OWN static void becomes(char *path)
{
	add(300);
	execl(path, path, "again", (char *)NULL);
}

int main(int argc, char **argv)
{
	stack_t stack = { .ss_sp = signal_stack,
			  .ss_size = sizeof(signal_stack) };
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_ONSTACK };

	if (argc > 1)
		return add(400) != 401;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raises(1);
	getcontext(&second);
	second.uc_stack.ss_sp = own_stack;
	second.uc_stack.ss_size = sizeof(own_stack);
	second.uc_link = &first;
	makecontext(&second, coroutine, 0);
	swapcontext(&first, &second);
	add(150);
	swapcontext(&first, &second);
	becomes(argv[0]);
	return 1;
}
