/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_threads_end.c - how a process with threads ends, forks, becomes another
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/guests/guest_threads.h"

extern char **environ;

static char *self;
static int pipe_ends[2], ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ------- threads that never return by themselves ------- */

static void *in_read(void *argument)
{
	char byte;

	(void)argument;
	add(&ready, 1);
	while (read(pipe_ends[0], &byte, 1) < 0)
		continue;
	return NULL;
}

static void *in_futex(void *argument)
{
	(void)argument;
	add(&ready, 1);
	pthread_mutex_lock(&lock);
	return NULL;
}

static void *in_sleep(void *argument)
{
	(void)argument;
	add(&ready, 1);
	for (;;)
		sleep(1000);
	return NULL;
}

static void *in_loop(void *argument)
{
	volatile unsigned long spins = 0;

	(void)argument;
	add(&ready, 1);
	while (++spins)
		;
	return NULL;
}

static void start_blocked(bool and_loop)
{
	if (pipe(pipe_ends))
		exit(90);
	pthread_mutex_lock(&lock);
	start(in_read, NULL);
	start(in_futex, NULL);
	start(in_sleep, NULL);
	if (and_loop)
		start(in_loop, NULL);
	await(&ready, and_loop ? 4 : 3);
	sleep_for(5);
}

/*
 * ------- parts: each is a process of its own; its end is what counts -------
 */

static void *call_exit(void *argument)
{
	exit((int)(intptr_t)argument);
}

static void *call_quick_exit(void *argument)
{
	_exit((int)(intptr_t)argument);
}

static void *raise_abort(void *argument)
{
	(void)argument;
	abort();
}

static void *raise_fault(void *argument)
{
	*(volatile int *volatile)argument = 1;
	return NULL;
}

static void *raise_kill(void *argument)
{
	kill(getpid(), (int)(intptr_t)argument);
	for (;;)
		pause();
	return NULL;
}

static void *run_self(void *argument)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", thread_id() == getpid());
	execl(self, self, argument, text, (char *)NULL);
	return NULL;
}

static void *survive(void *argument)
{
	sleep_for(20);
	if (argument)
		exit((int)(intptr_t)argument);
	return NULL;
}

static int part_main_exits(void)
{
	start_blocked(true);
	return 3;
}

static int part_thread_exits(void)
{
	start_blocked(true);
	join(start(call_exit, (void *)4));
	return 99;
}

static int part_thread_quick_exits(void)
{
	start_blocked(true);
	join(start(call_quick_exit, (void *)5));
	return 99;
}

static int part_main_leaves(void)
{
	pthread_detach(start(survive, NULL));
	pthread_exit(NULL);	/* the last thread's end is status 0 */
}

static int part_main_leaves_then_exit(void)
{
	pthread_detach(start(survive, (void *)6));
	pthread_exit(NULL);
}

static int part_abort(void)
{
	start_blocked(true);
	join(start(raise_abort, NULL));
	return 99;
}

static int part_fault(void)
{
	start_blocked(true);
	join(start(raise_fault, (void *)16));
	return 99;
}

static int part_term(void)
{
	start_blocked(true);
	join(start(raise_kill, (void *)SIGTERM));
	return 99;
}

static int part_kill(void)
{
	start_blocked(true);
	join(start(raise_kill, (void *)SIGKILL));
	return 99;
}

static int part_exec_thread(void)
{
	start_blocked(true);
	join(start(run_self, (void *)"became"));
	return 99;
}

static int part_exec_main(void)
{
	start_blocked(true);
	run_self((void *)"became");
	return 99;
}

/* Whoever called exec is the main thread now. */
static int part_became(void)
{
	if (thread_id() != getpid())
		return 98;
	join(start(run_self, (void *)"became-last"));
	return 99;
}

static int part_became_last(void)
{
	return thread_id() == getpid() ? 8 : 98;
}

static void *exit_at_once(void *argument)
{
	(void)argument;
	await(&ready, 1);
	exit(9);
}

/* Many threads end the process at the same time. */
static int part_all_exit(void)
{
	for (int i = 0; i < 20; i++)
		start(exit_at_once, NULL);
	store(&ready, 1);
	pthread_exit(NULL);
}

static const struct part {
	const char *name;
	int (*run)(void);
	int end;	/* exit code, or 1000 + signal */
} parts[] = {
	{ "main-exits", part_main_exits, 3 },
	{ "thread-exits", part_thread_exits, 4 },
	{ "thread-quick-exits", part_thread_quick_exits, 5 },
	{ "main-leaves", part_main_leaves, 0 },
	{ "main-leaves-then-exit", part_main_leaves_then_exit, 6 },
	{ "abort", part_abort, 1000 + SIGABRT },
	{ "fault", part_fault, 1000 + SIGSEGV },
	{ "term", part_term, 1000 + SIGTERM },
	{ "kill", part_kill, 1000 + SIGKILL },
	{ "exec-thread", part_exec_thread, 8 },
	{ "exec-main", part_exec_main, 8 },
	{ "all-exit", part_all_exit, 9 },
	/* not by main(): what exec leads to */
	{ "became", part_became, -1 },
	{ "became-last", part_became_last, -1 },
};

static void test_parts(void)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		pid_t pid;

		if (parts[i].end < 0)
			continue;
		printf("%s\n", parts[i].name);
		fflush(stdout);
		pid = fork();
		if (!pid) {
			execl(self, self, parts[i].name, (char *)NULL);
			_exit(99);
		}
		CHECK(end_of(pid) == parts[i].end);
	}
}

/* ------- children of a process that has threads ------- */

static int fork_order, stop;
static pthread_mutex_t counted = PTHREAD_MUTEX_INITIALIZER;
static volatile long count;

static void before_fork(void)
{
	pthread_mutex_lock(&counted);
	fork_order = fork_order * 10 + 1;
}

static void in_parent(void)
{
	fork_order = fork_order * 10 + 2;
	pthread_mutex_unlock(&counted);
}

static void in_child(void)
{
	fork_order = fork_order * 10 + 3;
	pthread_mutex_unlock(&counted);
}

static void *count_on(void *argument)
{
	(void)argument;
	while (!load(&stop)) {
		pthread_mutex_lock(&counted);
		count++;
		pthread_mutex_unlock(&counted);
	}
	return NULL;
}

static void *add_one(void *argument)
{
	return (char *)argument + 1;
}

/* Only the thread that forked goes on; it may start threads of its own. */
static void child_of_threads(pid_t parent)
{
	long before = count;

	if (fork_order != 13 || getppid() != parent ||
	    thread_id() != getpid())
		_exit(1);
	sleep_for(5);
	if (count != before)
		_exit(2);
	if (join(start(add_one, (void *)40)) != (void *)41)
		_exit(3);
	pthread_mutex_lock(&counted);
	_exit(17);
}

static void *fork_in_thread(void *argument)
{
	pid_t parent = getpid(), pid;

	(void)argument;
	fork_order = 0;
	pid = fork();
	if (!pid)
		child_of_threads(parent);
	CHECK(pid > 0 && fork_order == 12);
	CHECK(end_of(pid) == 17);
	return NULL;
}

static void *spawn_in_thread(void *argument)
{
	char *argv[] = { self, (char *)"main-leaves-then-exit", NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;

	(void)argument;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY,
					 0);
	CHECK(!posix_spawn(&pid, self, &actions, NULL, argv, environ));
	CHECK(end_of(pid) == 6);
	posix_spawn_file_actions_destroy(&actions);
	return NULL;
}

static void test_children(void)
{
	pthread_t counters[3], spawners[4];

	CHECK(!pthread_atfork(before_fork, in_parent, in_child));
	for (int i = 0; i < 3; i++)
		counters[i] = start(count_on, NULL);
	for (int i = 0; i < 5; i++)
		join(start(fork_in_thread, NULL));
	fork_in_thread(NULL);
	for (int i = 0; i < 4; i++)
		spawners[i] = start(spawn_in_thread, NULL);
	for (int i = 0; i < 4; i++)
		join(spawners[i]);
	store(&stop, 1);
	for (int i = 0; i < 3; i++)
		join(counters[i]);
}

int main(int argc, char **argv)
{
	static const struct rlimit no_core;

	self = argv[0];
	guest_watchdog(100);
	setrlimit(RLIMIT_CORE, &no_core);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (argc > 1 && !strcmp(argv[1], parts[i].name))
			return parts[i].run();
	test_parts();
	test_children();
	return guest_end();
}
