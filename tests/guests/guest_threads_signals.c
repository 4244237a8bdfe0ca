/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_threads_signals.c - signals to and from threads, and timers */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "tests/guests/guest_threads.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static int calls, ready, go_on;
static pid_t handled_by;
static siginfo_t last;

static void note(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	handled_by = thread_id();
	last = *info;
	add(&calls, 1);
}

static sigset_t set_of(int number)
{
	sigset_t set;

	sigemptyset(&set);
	if (number)
		sigaddset(&set, number);
	return set;
}

static void mask(int how, int number)
{
	sigset_t set = set_of(number);

	CHECK(!pthread_sigmask(how, &set, NULL));
}

/* ------- to one thread ------- */

static void *wait_for_calls(void *argument)
{
	store(&ready, 1);
	while (load(&calls) < (int)(intptr_t)argument)
		sleep_for(1);
	return (void *)(intptr_t)thread_id();
}

static void *spin_for_calls(void *argument)
{
	store(&ready, 1);
	while (load(&calls) < (int)(intptr_t)argument)
		continue;
	return (void *)(intptr_t)thread_id();
}

static void test_kill_thread(void *(*routine)(void *))
{
	pthread_t other;

	install(SIGUSR1, note, 0);
	store(&calls, 0);
	store(&ready, 0);
	other = start(routine, (void *)1);
	await(&ready, 1);
	CHECK(!pthread_kill(other, SIGUSR1));
	CHECK(join(other) == (void *)(intptr_t)handled_by);
	CHECK(last.si_code == SI_TKILL && last.si_pid == getpid());
}

static void test_kill_many(void)
{
	pthread_t threads[8];

	install(SIGUSR1, note, SA_RESTART);
	store(&calls, 0);
	for (int i = 0; i < 8; i++)
		threads[i] = start(i % 2 ? wait_for_calls : spin_for_calls,
				   (void *)8);
	for (int i = 0; i < 8; i++)
		CHECK(!pthread_kill(threads[i], SIGUSR1));
	for (int i = 0; i < 8; i++)
		join(threads[i]);
	CHECK(load(&calls) == 8);
}

/* To the process: the one thread that does not block it gets it. */
static void *take_for_all(void *argument)
{
	mask(SIG_UNBLOCK, SIGUSR2);
	return wait_for_calls(argument);
}

static void test_kill_process(void)
{
	union sigval value = { .sival_int = 4711 };
	pthread_t other;
	void *id;

	install(SIGUSR2, note, 0);
	mask(SIG_BLOCK, SIGUSR2);
	store(&calls, 0);
	store(&ready, 0);
	other = start(take_for_all, (void *)2);
	await(&ready, 1);
	CHECK(!kill(getpid(), SIGUSR2));
	await(&calls, 1);
	CHECK(last.si_code == SI_USER);
	CHECK(!sigqueue(getpid(), SIGUSR2, value));
	id = join(other);
	CHECK(id == (void *)(intptr_t)handled_by);
	CHECK(last.si_code == SI_QUEUE && last.si_value.sival_int == 4711);
	mask(SIG_UNBLOCK, SIGUSR2);
}

/* Real-time signals queue, in order, each with its value. */
static int values[8], value_count;

static void keep_value(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	values[value_count++ & 7] = info->si_value.sival_int;
}

static void test_queue(void)
{
	const int first = SIGRTMIN + 3;
	union sigval value;

	install(first, keep_value, 0);
	install(first + 1, keep_value, 0);
	mask(SIG_BLOCK, first);
	mask(SIG_BLOCK, first + 1);
	for (int i = 0; i < 3; i++) {
		value.sival_int = 10 + i;
		CHECK(!sigqueue(getpid(), first + 1, value));
		value.sival_int = i;
		CHECK(!sigqueue(getpid(), first, value));
	}
	CHECK(value_count == 0);
	mask(SIG_UNBLOCK, first);
	mask(SIG_UNBLOCK, first + 1);
	CHECK(value_count == 6);
	for (int i = 0; i < 6; i++)
		CHECK(values[i] == (i < 3 ? i : i + 7));
}

/* ------- masks and pending sets are each thread's own ------- */

static void *own_mask(void *argument)
{
	sigset_t set;

	(void)argument;
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	CHECK(sigismember(&set, SIGTERM) == 1);	/* from its creator */
	mask(SIG_BLOCK, SIGUSR1);
	CHECK(!pthread_kill(pthread_self(), SIGUSR1));
	CHECK(!sigpending(&set) && sigismember(&set, SIGUSR1) == 1);
	store(&ready, 1);
	await(&go_on, 1);
	CHECK(load(&calls) == 0);
	mask(SIG_UNBLOCK, SIGUSR1);
	CHECK(load(&calls) == 1);
	return NULL;
}

static void test_masks(void)
{
	pthread_t other;
	sigset_t set;

	install(SIGUSR1, note, 0);
	store(&calls, 0);
	store(&ready, 0);
	store(&go_on, 0);
	mask(SIG_BLOCK, SIGTERM);
	other = start(own_mask, NULL);
	await(&ready, 1);
	CHECK(!sigpending(&set) && sigismember(&set, SIGUSR1) == 0);
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	CHECK(sigismember(&set, SIGUSR1) == 0);
	store(&go_on, 1);
	join(other);
	mask(SIG_UNBLOCK, SIGTERM);
}

/* ------- to wait for signals ------- */

static void *wait_signal(void *argument)
{
	sigset_t set = set_of(SIGUSR1);
	int number = 0;

	sigaddset(&set, SIGRTMIN + 2);
	store(&ready, 1);
	for (int i = 0; i < 2; i++) {
		CHECK(!sigwait(&set, &number));
		add((int *)argument, number);
	}
	return NULL;
}

static void test_sigwait(void)
{
	struct timespec soon = { 0, 10000000 };
	union sigval value = { .sival_int = 99 };
	sigset_t set = set_of(SIGRTMIN + 2);
	siginfo_t info;
	pthread_t other;
	int sum = 0;

	mask(SIG_BLOCK, SIGUSR1);
	mask(SIG_BLOCK, SIGRTMIN + 2);
	store(&ready, 0);
	other = start(wait_signal, &sum);
	await(&ready, 1);
	CHECK(!pthread_kill(other, SIGUSR1));
	await(&sum, 1);
	CHECK(!kill(getpid(), SIGRTMIN + 2));
	join(other);
	CHECK(sum == SIGUSR1 + SIGRTMIN + 2);

	CHECK(sigtimedwait(&set, &info, &soon) == -1 && errno == EAGAIN);
	sigqueue(getpid(), SIGRTMIN + 2, value);
	CHECK(sigwaitinfo(&set, &info) == SIGRTMIN + 2);
	CHECK(info.si_value.sival_int == 99 && info.si_code == SI_QUEUE);
	mask(SIG_UNBLOCK, SIGUSR1);
	mask(SIG_UNBLOCK, SIGRTMIN + 2);
}

static void *suspend(void *argument)
{
	sigset_t none = set_of(0);

	(void)argument;
	mask(SIG_BLOCK, SIGUSR1);
	store(&ready, 1);
	CHECK(sigsuspend(&none) == -1 && errno == EINTR);
	CHECK(load(&calls) == 1);
	return NULL;
}

static void test_sigsuspend(void)
{
	pthread_t other;

	install(SIGUSR1, note, 0);
	store(&calls, 0);
	store(&ready, 0);
	other = start(suspend, NULL);
	await(&ready, 1);
	CHECK(!pthread_kill(other, SIGUSR1));
	join(other);
}

static void *read_signals(void *argument)
{
	struct signalfd_siginfo info;
	struct pollfd what = { *(int *)argument, POLLIN, 0 };
	int sum = 0;

	for (int i = 0; i < 3; i++) {
		CHECK(poll(&what, 1, -1) == 1);
		CHECK(read(what.fd, &info, sizeof(info)) == sizeof(info));
		sum += (int)info.ssi_signo;
	}
	return (void *)(intptr_t)sum;
}

static void test_signalfd(void)
{
	sigset_t set = set_of(SIGUSR1);
	struct signalfd_siginfo info;
	pthread_t other;
	int fd;

	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGCHLD);
	CHECK(!pthread_sigmask(SIG_BLOCK, &set, NULL));
	fd = signalfd(-1, &set, SFD_NONBLOCK);
	CHECK(fd >= 0);
	CHECK(read(fd, &info, sizeof(info)) == -1 && errno == EAGAIN);
	other = start(read_signals, &fd);
	CHECK(!kill(getpid(), SIGUSR1));
	CHECK(!kill(getpid(), SIGUSR2));
	if (!fork())
		_exit(3);
	CHECK(join(other) == (void *)(intptr_t)(SIGUSR1 + SIGUSR2 + SIGCHLD));
	CHECK(wait(NULL) > 0);
	close(fd);
	CHECK(!pthread_sigmask(SIG_UNBLOCK, &set, NULL));
}

/* ------- stacks of handlers, and faults ------- */

static int on_own_stack;

static void see_stack(int number, siginfo_t *info, void *context)
{
	stack_t stack;
	char here;

	(void)number;
	(void)info;
	(void)context;
	sigaltstack(NULL, &stack);
	if ((stack.ss_flags & SS_ONSTACK) && &here > (char *)stack.ss_sp &&
	    &here < (char *)stack.ss_sp + stack.ss_size)
		add(&on_own_stack, 1);
}

static void *use_stack(void *argument)
{
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 }, old;

	(void)argument;
	CHECK(!sigaltstack(NULL, &old) && (old.ss_flags & SS_DISABLE));
	CHECK(!sigaltstack(&stack, NULL));
	for (int i = 0; i < 10; i++) {
		pthread_kill(pthread_self(), SIGUSR1);
		sched_yield();
	}
	stack.ss_flags = SS_DISABLE;
	CHECK(!sigaltstack(&stack, NULL));
	free(stack.ss_sp);
	return NULL;
}

static void test_stacks(void)
{
	pthread_t threads[4];

	install(SIGUSR1, see_stack, SA_ONSTACK);
	for (int i = 0; i < 4; i++)
		threads[i] = start(use_stack, NULL);
	for (int i = 0; i < 4; i++)
		join(threads[i]);
	CHECK(load(&on_own_stack) == 40);
}

static __thread sigjmp_buf back;
static __thread int faults;

static void jump_back(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (number == SIGSEGV && info->si_addr == (void *)64)
		faults++;
	siglongjmp(back, 1);
}

static void *fault(void *argument)
{
	volatile int *volatile nowhere = (int *)64;
	volatile int zero = 0;

	(void)argument;
	for (volatile int i = 0; i < 10; i++) {
		if (!sigsetjmp(back, 1))
			*nowhere = 1;
		if (i % 3 == 0)
			sched_yield();
		if (!sigsetjmp(back, 1))
			zero = 1 / zero;
	}
	return (void *)(intptr_t)faults;
}

static void test_faults(void)
{
	pthread_t threads[4];

	install(SIGSEGV, jump_back, 0);
	install(SIGFPE, jump_back, 0);
	for (int i = 0; i < 4; i++)
		threads[i] = start(fault, NULL);
	for (int i = 0; i < 4; i++)
		CHECK(join(threads[i]) == (void *)10);
	CHECK(faults == 0);
	signal(SIGSEGV, SIG_DFL);
	signal(SIGFPE, SIG_DFL);
}

/* ------- calls that a signal interrupts ------- */

static int pipe_ends[2];

static void *read_byte(void *argument)
{
	char byte = 0;
	ssize_t got;

	(void)argument;
	store(&ready, 1);
	got = read(pipe_ends[0], &byte, 1);
	return (void *)(intptr_t)(got < 0 ? -errno : byte);
}

static void test_restart(void)
{
	pthread_t other;

	CHECK(!pipe(pipe_ends));
	install(SIGUSR1, note, 0);
	store(&calls, 0);
	store(&ready, 0);
	other = start(read_byte, NULL);
	await(&ready, 1);
	sleep_for(20);
	CHECK(!pthread_kill(other, SIGUSR1));
	CHECK(join(other) == (void *)(intptr_t)-EINTR);

	install(SIGUSR1, note, SA_RESTART);
	store(&ready, 0);
	other = start(read_byte, NULL);
	await(&ready, 1);
	sleep_for(20);
	CHECK(!pthread_kill(other, SIGUSR1));
	await(&calls, 2);
	sleep_for(5);
	CHECK(write(pipe_ends[1], "!", 1) == 1);
	CHECK(join(other) == (void *)(intptr_t)'!');
	close(pipe_ends[0]);
	close(pipe_ends[1]);
}

/* ------- timers ------- */

static void notified(union sigval value)
{
	add(&calls, value.sival_int);
}

static void *with_timer(void *argument)
{
	struct itimerspec often = { { 0, 3000000 }, { 0, 3000000 } };
	struct sigevent event;
	timer_t timer;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = SIGRTMIN + 5;
	event.sigev_value.sival_int = 5;
	event.sigev_notify_thread_id = thread_id();
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
	CHECK(!timer_settime(timer, 0, &often, NULL));
	while (load(&calls) < 3)
		if (argument)
			sched_yield();
	CHECK(handled_by == thread_id());
	CHECK(last.si_code == SI_TIMER && last.si_value.sival_int == 5);
	CHECK(!timer_delete(timer));
	return NULL;
}

static void test_posix_timers(void)
{
	struct itimerspec soon = { { 0, 0 }, { 0, 5000000 } };
	struct sigevent event;
	timer_t timer;

	install(SIGRTMIN + 5, note, 0);
	for (intptr_t i = 0; i < 2; i++) {
		store(&calls, 0);
		join(start(with_timer, (void *)i));
	}

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD;
	event.sigev_notify_function = notified;
	event.sigev_value.sival_int = 1000;
	store(&calls, 0);
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
	CHECK(!timer_settime(timer, 0, &soon, NULL));
	await(&calls, 1000);
	CHECK(!timer_delete(timer));
}

static void *read_timer(void *argument)
{
	uint64_t times = 0, sum = 0;

	while (sum < 3) {
		CHECK(read(*(int *)argument, &times, sizeof(times)) ==
		      sizeof(times));
		sum += times;
	}
	return NULL;
}

static void test_other_timers(void)
{
	struct itimerspec often = { { 0, 3000000 }, { 0, 3000000 } };
	struct itimerval soon = { { 0, 0 }, { 0, 5000 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0), before = guest_checks;

	CHECK(fd >= 0 && !timerfd_settime(fd, 0, &often, NULL));
	join(start(read_timer, &fd));
	close(fd);
	guest_checks = before;	/* how often it read depends on time */

	install(SIGALRM, note, 0);
	store(&calls, 0);
	CHECK(!setitimer(ITIMER_REAL, &soon, NULL));
	await(&calls, 1);
	CHECK(last.si_code == SI_KERNEL);
	install(SIGPROF, note, 0);
	store(&calls, 0);
	CHECK(!setitimer(ITIMER_PROF, &soon, NULL));
	while (!load(&calls))
		continue;
	CHECK(last.si_signo == SIGPROF);
	signal(SIGALRM, SIG_DFL);
	guest_watchdog(100);
}

/* A handler that comes often, while others compute and lock. */
static int finished, ticks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long guarded;

static void tick(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	add(&ticks, 1);
}

static void *count_locked(void *argument)
{
	unsigned long sum = (unsigned long)(uintptr_t)argument;

	while (load(&ticks) < 20)
		for (int i = 0; i < 100; i++)
			sum = sum * 7 + 1;
	for (int i = 0; i < 500; i++) {
		pthread_mutex_lock(&lock);
		guarded++;
		pthread_mutex_unlock(&lock);
	}
	add(&finished, 1);
	return (void *)sum;
}

static void test_ticks(void)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	struct itimerval off = { { 0, 0 }, { 0, 0 } };
	pthread_t threads[4];

	install(SIGALRM, tick, SA_RESTART);
	CHECK(!setitimer(ITIMER_REAL, &often, NULL));
	for (intptr_t i = 0; i < 4; i++)
		threads[i] = start(count_locked, (void *)i);
	for (int i = 0; i < 4; i++)
		join(threads[i]);
	CHECK(!setitimer(ITIMER_REAL, &off, NULL));
	signal(SIGALRM, SIG_DFL);
	CHECK(load(&finished) == 4 && guarded == 2000);
}

int main(void)
{
	guest_watchdog(100);
	test_kill_thread(wait_for_calls);
	test_kill_thread(spin_for_calls);
	test_kill_many();
	test_kill_process();
	test_queue();
	test_masks();
	test_sigwait();
	test_sigsuspend();
	test_signalfd();
	test_stacks();
	test_faults();
	test_restart();
	test_posix_timers();
	test_ticks();
	test_other_timers();
	return guest_end();
}
