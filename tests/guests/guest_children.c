/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_children.c - fork, vfork, clone, exec, and waiting for their ends */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/guests/guest.h"

extern char **environ;

static volatile int calls;
static char *self;

static void count(int number)
{
	(void)number;
	calls++;
}

static void pause_for(long milliseconds)
{
	struct timespec left = { 0, milliseconds * 1000000 };

	while (nanosleep(&left, &left))
		continue;
}

/* Runs this program again, as one of the parts at the end of main(). */
static int run_part(const char *part, const char *argument)
{
	pid_t pid = fork();

	if (!pid) {
		execl(self, self, part, argument, (char *)NULL);
		_exit(99);
	}
	return end_of(pid);
}

static void test_fork(void)
{
	static volatile int in_data = 1;
	volatile int on_stack = 1;
	pid_t parent = getpid(), pid = fork();

	if (!pid) {
		in_data = on_stack = 2;
		_exit(getppid() == parent && getpid() != parent &&
		      getpid() == syscall(SYS_gettid) ? 7 : 8);
	}
	CHECK(pid > 0);
	CHECK(end_of(pid) == 7);
	CHECK(in_data == 1 && on_stack == 1);
	CHECK(waitpid(pid, NULL, 0) == -1 && errno == ECHILD);
}

static void test_vfork(void)
{
	static volatile int in_data;
	volatile char *in_heap = calloc(1, 300000);
	volatile int on_stack = 0;
	pid_t pid = vfork();

	if (!pid) {
		pause_for(20);
		in_data = 5;
		on_stack = 6;
		in_heap[200000] = 7;
		_exit(3);
	}
	CHECK(in_data == 5 && on_stack == 6 && in_heap[200000] == 7);
	CHECK(end_of(pid) == 3);
	free((void *)(uintptr_t)in_heap);
}

static void test_vfork_and_signal(void)
{
	struct itimerval soon = { .it_value.tv_usec = 20000 };
	pid_t pid;

	signal(SIGALRM, count);
	calls = 0;
	setitimer(ITIMER_REAL, &soon, NULL);
	pid = vfork();
	if (!pid) {
		pause_for(100);
		execl(self, self, "exit", "4", (char *)NULL);
		_exit(99);
	}
	CHECK(calls == 1);
	CHECK(end_of(pid) == 4);
	signal(SIGALRM, SIG_DFL);
}

static void test_clone(void)
{
	static pid_t in_parent, in_child;
	unsigned long flags = CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | SIGCHLD;
#ifdef __x86_64__
	pid_t pid = (pid_t)syscall(SYS_clone, flags, 0, &in_parent, &in_child,
				   0);
#else
	pid_t pid = (pid_t)syscall(SYS_clone, flags, 0, &in_parent, 0,
				   &in_child);
#endif

	if (!pid)
		_exit(in_child == getpid() && !in_parent ? 0 : 1);
	CHECK(in_parent == pid && !in_child);
	CHECK(end_of(pid) == 0);
}

static void test_spawn(void)
{
	char *argv[] = { self, (char *)"exit", (char *)"9", NULL };
	pid_t pid;

	CHECK(posix_spawn(&pid, "/nonexistent/program", NULL, NULL, argv,
			  environ) == ENOENT);
	CHECK(posix_spawn(&pid, "/etc/passwd", NULL, NULL, argv, environ) ==
	      EACCES);
	CHECK(posix_spawn(&pid, self, NULL, NULL, argv, environ) == 0);
	CHECK(end_of(pid) == 9);
}

static void test_wait(void)
{
	int gate[2], status = 0x1234;
	siginfo_t info;
	pid_t pid;
	char byte;

	CHECK(!pipe(gate));
	pid = fork();
	if (!pid) {
		close(gate[1]);
		_exit(read(gate[0], &byte, 1) ? 1 : 5);
	}
	close(gate[0]);
	CHECK(waitpid(pid, &status, WNOHANG) == 0 && status == 0x1234);
	memset(&info, 1, sizeof(info));
	CHECK(!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT));
	CHECK(info.si_pid == 0 && info.si_signo == 0);
	close(gate[1]);
	CHECK(!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
	CHECK(info.si_pid == pid && info.si_code == CLD_EXITED &&
	      info.si_status == 5);
	CHECK(end_of(pid) == 5);

	pid = fork();
	if (!pid)
		for (;;)
			pause();
	CHECK(!kill(pid, SIGKILL) && end_of(pid) == 1000 + SIGKILL);
	pid = fork();
	if (!pid)
		abort();
	CHECK(end_of(pid) == 1000 + SIGABRT);
}

static void test_sigchld(void)
{
	sigset_t block, old;
	pid_t pid;

	signal(SIGCHLD, count);
	calls = 0;
	sigemptyset(&block);
	sigaddset(&block, SIGCHLD);
	sigprocmask(SIG_BLOCK, &block, &old);
	pid = fork();
	if (!pid)
		_exit(0);
	while (!calls)
		sigsuspend(&old);
	sigprocmask(SIG_SETMASK, &old, NULL);
	CHECK(calls == 1 && end_of(pid) == 0);

	signal(SIGCHLD, SIG_IGN);
	pid = fork();
	if (!pid)
		_exit(0);
	CHECK(waitpid(pid, NULL, 0) == -1 && errno == ECHILD);
	signal(SIGCHLD, SIG_DFL);
}

static void test_pending(void)
{
	sigset_t block, set;
	pid_t pid;

	signal(SIGUSR1, count);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, NULL);
	raise(SIGUSR1);
	pid = fork();
	if (!pid) {
		sigpending(&set);
		_exit(sigismember(&set, SIGUSR1));
	}
	CHECK(end_of(pid) == 0);
	sigpending(&set);
	CHECK(sigismember(&set, SIGUSR1) == 1);
	calls = 0;
	sigprocmask(SIG_UNBLOCK, &block, NULL);
	CHECK(calls == 1);
	signal(SIGUSR1, SIG_DFL);
}

static void test_shared(void)
{
	volatile int *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	CHECK(shared != MAP_FAILED);
	shared[1] = 1;
	pid = fork();
	if (!pid) {
		shared[0] = shared[1] + 76;
		shared[1500] = 3;
		_exit(0);
	}
	CHECK(end_of(pid) == 0);
	CHECK(shared[0] == 77 && shared[1] == 1 && shared[1500] == 3);
	munmap((void *)(uintptr_t)shared, 8192);
}

static void test_exec_errors(void)
{
	char *argv[] = { self, NULL };
	char **volatile nowhere = (char **)8;
	char *endless[4096];
	char *large = malloc(100000);

	CHECK(execve("/nonexistent", argv, environ) && errno == ENOENT);
	CHECK(execve("", argv, environ) && errno == ENOENT);
	CHECK(execve("/etc", argv, environ) && errno == EACCES);
	CHECK(execve("/etc/passwd", argv, environ) && errno == EACCES);
	CHECK(execve("/etc/passwd/x", argv, environ) && errno == ENOTDIR);
	CHECK(execve(self, nowhere, environ) && errno == EFAULT);
	memset(large, 'x', 99999);
	large[99999] = '\0';
	for (int i = 0; i < 4095; i++)
		endless[i] = large;
	endless[4095] = NULL;
	CHECK(execve(self, endless, environ) && errno == E2BIG);
	free(large);
}

/* What an exec keeps and what it drops; the other half is part_state(). */
static void test_exec_state(void)
{
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };
	char numbers[32];
	int kept = open("/dev/null", O_RDONLY);
	int dropped = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t block;
	pid_t pid;

	CHECK(kept >= 0 && dropped >= 0);
	snprintf(numbers, sizeof(numbers), "%d %d", kept, dropped);
	pid = fork();
	if (!pid) {
		signal(SIGUSR1, SIG_IGN);
		signal(SIGUSR2, count);
		sigaltstack(&stack, NULL);
		sigemptyset(&block);
		sigaddset(&block, SIGTERM);
		sigprocmask(SIG_SETMASK, &block, NULL);
		execl(self, self, "state", numbers, (char *)NULL);
		_exit(99);
	}
	CHECK(end_of(pid) == 0);
	CHECK(run_part("exit", "17") == 17);
	CHECK(run_part("again", "20") == 20);
	close(kept);
	close(dropped);
	free(stack.ss_sp);
}

static void test_many(void)
{
	pid_t children[10];

	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(i);
		CHECK(end_of(pid) == i);
	}
	for (int i = 0; i < 10; i++) {
		children[i] = fork();
		if (!children[i])
			_exit(i);
	}
	for (int i = 9; i >= 0; i--)
		CHECK(end_of(children[i]) == i);
}

/* ------- what this program does when it is executed again ------- */

static int part_state(const char *numbers)
{
	struct sigaction action;
	stack_t stack;
	sigset_t mask;
	int kept, dropped;

	if (sscanf(numbers, "%d %d", &kept, &dropped) != 2)
		return 1;
	if (fcntl(kept, F_GETFD) < 0 || fcntl(dropped, F_GETFD) >= 0)
		return 2;
	sigaction(SIGUSR1, NULL, &action);
	if (action.sa_handler != SIG_IGN)
		return 3;
	sigaction(SIGUSR2, NULL, &action);
	if (action.sa_handler != SIG_DFL)
		return 4;
	sigaltstack(NULL, &stack);
	if (!(stack.ss_flags & SS_DISABLE))
		return 5;
	sigprocmask(SIG_BLOCK, NULL, &mask);
	if (!sigismember(&mask, SIGTERM) || sigismember(&mask, SIGUSR1))
		return 6;
	return calls ? 7 : 0;
}

/* Executes itself as often as `times` says, with memory of its own. */
static int part_again(const char *times, const char *done)
{
	int left = atoi(times), so_far = done ? atoi(done) : 0;
	char next[16], count_up[16];

	memset(malloc(200000), 1, 200000);
	if (!left)
		return so_far;
	snprintf(next, sizeof(next), "%d", left - 1);
	snprintf(count_up, sizeof(count_up), "%d", so_far + 1);
	execl(self, self, "again", next, count_up, (char *)NULL);
	return 99;
}

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 2 && !strcmp(argv[1], "exit"))
		return atoi(argv[2]);
	if (argc > 2 && !strcmp(argv[1], "state"))
		return part_state(argv[2]);
	if (argc > 2 && !strcmp(argv[1], "again"))
		return part_again(argv[2], argv[3]);
	test_fork();
	test_vfork();
	test_vfork_and_signal();
	test_clone();
	test_spawn();
	test_wait();
	test_sigchld();
	test_pending();
	test_shared();
	test_exec_errors();
	test_exec_state();
	test_many();
	return guest_end();
}
