/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_sent.c - signals that another process sends, those of faults too
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENDED = 10, TOO_EARLY = 99 };

static volatile sig_atomic_t taken;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	taken = 1 + (info->si_code == SI_USER && info->si_pid == getppid());
}

static void handle(int number)
{
	struct sigaction action = {
		.sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO,
	};

	sigaction(number, &action, NULL);
}

/* Says that it is ready. */
static void ready(int out)
{
	if (write(out, "x", 1) != 1)
		_exit(1);
}

static void spins(int number, int out)
{
	handle(number);
	ready(out);
	while (!taken)
		;
}

static void blocks(int number, int out)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	handle(number);
	sigprocmask(SIG_BLOCK, &set, NULL);
	ready(out);
	usleep(200000);
	if (taken)
		_exit(TOO_EARLY);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void ignores(int number, int out)
{
	signal(number, SIG_IGN);
	ready(out);
	usleep(200000);
}

static void counts(int number, int out)
{
	static volatile unsigned long count;

	(void)number;
	ready(out);
	while (++count)
		;
}

static void waits(int number, int out)
{
	(void)number;
	ready(out);
	for (;;)
		pause();
}

static const struct {
	const char *name;
	void (*child)(int number, int out);
} tests[] = {
	{ "handled", spins }, { "blocked", blocks }, { "ignored", ignores },
	{ "by default, while it computes", counts },
	{ "by default, while it waits", waits },
};

static void try(const char *name, void (*child)(int number, int out),
		int number)
{
	int ends[2], status = 0;
	char byte;
	pid_t pid;

	if (pipe(ends))
		return;
	pid = fork();
	if (pid == 0) {
		child(number, ends[1]);
		_exit(ENDED + taken);
	}
	if (read(ends[0], &byte, 1) == 1)
		kill(pid, number);
	waitpid(pid, &status, 0);
	close(ends[0]);
	close(ends[1]);
	printf("%s %s: %s %d\n", strsignal(number), name,
	       WIFSIGNALED(status) ? "signal" : "exit",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	fflush(stdout);
}

int main(void)
{
	static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGUSR1 };

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		for (size_t j = 0; j < sizeof(numbers) / sizeof(int); j++)
			try(tests[i].name, tests[i].child, numbers[j]);
	return 0;
}
