/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_sigwait.c - sigtimedwait() finds the signals of faults that were sent
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/guests/guest.h"

static const int numbers[] = { SIGUSR1, SIGSEGV, SIGBUS, 64, SIGSTKFLT };

enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static sigset_t all;

static int wait_now(const sigset_t *set, siginfo_t *info)
{
	const struct timespec at_once = { 0, 0 };

	memset(info, 0, sizeof(*info));
	return sigtimedwait(set, info, &at_once);
}

static sigset_t only(int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	return set;
}

static void test_own(int number)
{
	const sigset_t set = only(number);
	siginfo_t info;

	CHECK(wait_now(&set, &info) == -1 && errno == EAGAIN);
	CHECK(!raise(number));
	CHECK(wait_now(&set, &info) == number && info.si_signo == number);
	CHECK(info.si_code == SI_USER && info.si_pid == getpid());
	CHECK(wait_now(&set, &info) == -1 && errno == EAGAIN);
	CHECK(!kill(getpid(), number));
	CHECK(wait_now(&all, &info) == number && info.si_code == SI_USER);
	CHECK(!raise(number) && sigwaitinfo(&set, NULL) == number);
	CHECK(!raise(number));
	CHECK(wait_now(&(sigset_t){ 0 }, &info) == -1 && errno == EAGAIN);
	CHECK(wait_now(&all, &info) == number);
}

static void test_order(void)
{
	siginfo_t info;

	CHECK(!raise(64) && !raise(SIGSEGV) && !raise(SIGBUS) &&
	      !raise(SIGHUP));
	CHECK(wait_now(&all, &info) == SIGBUS);
	CHECK(wait_now(&all, &info) == SIGSEGV);
	CHECK(wait_now(&all, &info) == SIGHUP);
	CHECK(wait_now(&all, &info) == 64);
}

static void test_refused(void)
{
	const struct timespec bad = { 0, 1000000000 }, minus = { -1, 0 };
	const struct timespec soon = { 0, 230000000 };
	struct timespec before, after;
	char *const nowhere = (char *)16;
	int64_t took;

	CHECK(sigtimedwait(&all, NULL, &bad) == -1 && errno == EINVAL);
	CHECK(sigtimedwait(&all, NULL, &minus) == -1 && errno == EINVAL);
	CHECK(syscall(SYS_rt_sigtimedwait, &all, NULL, NULL, 4) == -1 &&
	      errno == EINVAL);
	CHECK(syscall(SYS_rt_sigtimedwait, nowhere, NULL, NULL, 8) == -1 &&
	      errno == EFAULT);
	CHECK(syscall(SYS_rt_sigtimedwait, &all, NULL, nowhere, 8) == -1 &&
	      errno == EFAULT);
	CHECK(!raise(SIGSEGV));
	CHECK(syscall(SYS_rt_sigtimedwait, &all, nowhere, &soon, 8) == -1 &&
	      errno == EFAULT);
	clock_gettime(CLOCK_MONOTONIC, &before);
	CHECK(sigtimedwait(&all, NULL, &soon) == -1 && errno == EAGAIN);
	clock_gettime(CLOCK_MONOTONIC, &after);
	took = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec -
	       before.tv_nsec;
	CHECK(took >= soon.tv_nsec);
}

/* ------- from others ------- */

static void *wait_often(void *context)
{
	siginfo_t info;

	for (int i = 0; i < 20 * NUMBERS; i++) {
		const sigset_t set = only(numbers[i % NUMBERS]);

		CHECK(sigwaitinfo(&set, &info) == numbers[i % NUMBERS]);
		CHECK(sem_post((sem_t *)context) == 0);
	}
	return NULL;
}

static void test_thread(void)
{
	pthread_t thread;
	sem_t taken;

	CHECK(!sem_init(&taken, 0, 0));
	CHECK(!pthread_create(&thread, NULL, wait_often, &taken));
	for (int i = 0; i < 20 * NUMBERS; i++) {
		if (i % 3)
			usleep(500);
		CHECK(!pthread_kill(thread, numbers[i % NUMBERS]));
		while (sem_wait(&taken))
			;
	}
	CHECK(!pthread_join(thread, NULL));
}

static void test_process(int number)
{
	const sigset_t set = only(number);
	siginfo_t info = { 0 };
	pid_t pid = fork();

	if (!pid) {
		usleep(20000);
		_exit(kill(getppid(), number) != 0);
	}
	CHECK(sigwaitinfo(&set, &info) == number);
	CHECK(info.si_code == SI_USER && info.si_pid == pid);
	CHECK(end_of(pid) == 0);
}

int main(void)
{
	sigfillset(&all);
	sigdelset(&all, SIGCHLD);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int i = 0; i < NUMBERS; i++)
		test_own(numbers[i]);
	test_order();
	test_refused();
	test_thread();
	for (int i = 0; i < NUMBERS; i++)
		test_process(numbers[i]);
	return guest_end();
}
