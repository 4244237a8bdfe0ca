/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_threads_locks.c - every way in which threads wait for each other */
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/guests/guest_threads.h"

enum {
	WORKERS = 4,
	TURNS = 500,
	FUTEX_WAIT_ = 0,
	FUTEX_WAKE_ = 1,
	FUTEX_REQUEUE_ = 3,
	FUTEX_CMP_REQUEUE_ = 4,
	FUTEX_WAKE_OP_ = 5,
	FUTEX_WAIT_BITSET_ = 9,
	FUTEX_WAKE_BITSET_ = 10,
	FUTEX_PRIVATE_ = 128,
	FUTEX_CLOCK_REALTIME_ = 256,
};

/* ------- mutexes ------- */

static pthread_mutex_t lock;
static volatile long total;	/* not atomic: the lock is what protects it */
static int waiting, held;

static void make_lock(int type, int protocol, int robust)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	CHECK(!pthread_mutexattr_settype(&attributes, type));
	CHECK(!pthread_mutexattr_setprotocol(&attributes, protocol));
	CHECK(!pthread_mutexattr_setrobust(&attributes, robust));
	CHECK(!pthread_mutex_init(&lock, &attributes));
	pthread_mutexattr_destroy(&attributes);
}

static void *count_locked(void *argument)
{
	(void)argument;
	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&lock);
		total = total + 1;
		if (i % 50 == 0)
			sched_yield();	/* so that others must wait */
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void test_contended(int type, int protocol, int robust)
{
	make_lock(type, protocol, robust);
	total = 0;
	run_workers(WORKERS, count_locked);
	CHECK(total == WORKERS * TURNS);
	CHECK(!pthread_mutex_destroy(&lock));
}

static void *try_lock(void *argument)
{
	(void)argument;
	return (void *)(intptr_t)pthread_mutex_trylock(&lock);
}

static void *unlock_foreign(void *argument)
{
	(void)argument;
	return (void *)(intptr_t)pthread_mutex_unlock(&lock);
}

static void *lock_soon(void *argument)
{
	struct timespec when = from_now(CLOCK_REALTIME,
					(long)(intptr_t)argument);
	int rc = pthread_mutex_timedlock(&lock, &when);

	if (!rc)
		pthread_mutex_unlock(&lock);
	return (void *)(intptr_t)rc;
}

static void test_kinds(void)
{
	make_lock(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, 0);
	for (int i = 0; i < 5; i++)
		CHECK(!pthread_mutex_lock(&lock));
	CHECK(join(start(try_lock, NULL)) == (void *)EBUSY);
	for (int i = 0; i < 5; i++)
		CHECK(!pthread_mutex_unlock(&lock));
	CHECK(pthread_mutex_unlock(&lock) == EPERM);
	pthread_mutex_destroy(&lock);

	make_lock(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, 0);
	CHECK(!pthread_mutex_lock(&lock));
	CHECK(pthread_mutex_lock(&lock) == EDEADLK);
	CHECK(join(start(unlock_foreign, NULL)) == (void *)EPERM);
	pthread_mutex_unlock(&lock);
	pthread_mutex_destroy(&lock);
}

static void test_timed_locks(int protocol)
{
	pthread_t other;

	make_lock(PTHREAD_MUTEX_NORMAL, protocol, 0);
	pthread_mutex_lock(&lock);
	CHECK(join(start(lock_soon, (void *)20)) == (void *)ETIMEDOUT);
	CHECK(join(start(lock_soon, (void *)-20)) == (void *)ETIMEDOUT);
	other = start(lock_soon, (void *)20000);
	sleep_for(10);
	pthread_mutex_unlock(&lock);
	CHECK(join(other) == NULL);
	pthread_mutex_destroy(&lock);
}

static void *die_holding(void *argument)
{
	(void)argument;
	pthread_mutex_lock(&lock);
	store(&held, 1);
	if (argument)
		sleep_for(20);
	return NULL;
}

static void test_robust(int protocol)
{
	pthread_t other;

	make_lock(PTHREAD_MUTEX_NORMAL, protocol, PTHREAD_MUTEX_ROBUST);
	join(start(die_holding, NULL));
	CHECK(pthread_mutex_lock(&lock) == EOWNERDEAD);
	CHECK(!pthread_mutex_consistent(&lock));
	CHECK(!pthread_mutex_unlock(&lock));

	/* The owner dies while another waits. */
	store(&held, 0);
	other = start(die_holding, (void *)1);
	await(&held, 1);
	CHECK(pthread_mutex_lock(&lock) == EOWNERDEAD);
	CHECK(!pthread_mutex_unlock(&lock));	/* not made consistent */
	join(other);
	CHECK(pthread_mutex_lock(&lock) == ENOTRECOVERABLE);
	pthread_mutex_destroy(&lock);
}

/* A robust lock in shared memory, whose owner is a process that ends. */
static void test_robust_process(void)
{
	pthread_mutex_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attributes;
	pid_t child;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	CHECK(!pthread_mutex_init(shared, &attributes));
	child = fork();
	if (!child) {
		pthread_mutex_lock(shared);
		_exit(0);
	}
	CHECK(waitpid(child, NULL, 0) == child);
	CHECK(pthread_mutex_lock(shared) == EOWNERDEAD);
	CHECK(!pthread_mutex_consistent(shared));
	CHECK(!pthread_mutex_unlock(shared));
	munmap(shared, 4096);
}

static pthread_spinlock_t spin;

static void *count_spinning(void *argument)
{
	(void)argument;
	for (int i = 0; i < TURNS; i++) {
		pthread_spin_lock(&spin);
		total = total + 1;
		pthread_spin_unlock(&spin);
	}
	return NULL;
}

static void test_spin(void)
{
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	total = 0;
	run_workers(WORKERS, count_spinning);
	CHECK(total == WORKERS * TURNS);
	pthread_spin_lock(&spin);
	CHECK(pthread_spin_trylock(&spin) == EBUSY);
	pthread_spin_unlock(&spin);
	pthread_spin_destroy(&spin);
}

/* ------- condition variables ------- */

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;
static unsigned long order;

/* All take turns: what they write is the same each time. */
static void *take_turns(void *argument)
{
	int me = (int)(intptr_t)argument;

	for (int i = 0; i < TURNS / 5; i++) {
		pthread_mutex_lock(&turn_lock);
		while (turn % WORKERS != me)
			pthread_cond_wait(&turned, &turn_lock);
		turn++;
		order = order * 31 + (unsigned long)me;
		pthread_cond_broadcast(&turned);
		pthread_mutex_unlock(&turn_lock);
	}
	return NULL;
}

static void test_turns(void)
{
	run_workers(WORKERS, take_turns);
	CHECK(turn == TURNS / 5 * WORKERS);
	printf("%lu\n", order);
}

enum { ROOM = 8, ITEMS = 2000 };
static int queue[ROOM], queue_head, queue_tail;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;

static void *produce(void *argument)
{
	(void)argument;
	for (int i = 1; i <= ITEMS; i++) {
		pthread_mutex_lock(&turn_lock);
		while (queue_tail - queue_head == ROOM)
			pthread_cond_wait(&not_full, &turn_lock);
		queue[queue_tail++ % ROOM] = i;
		pthread_cond_signal(&not_empty);
		pthread_mutex_unlock(&turn_lock);
	}
	return NULL;
}

static void test_queue(void)
{
	pthread_t producer = start(produce, NULL);
	long sum = 0;
	int before = 0;
	bool in_order = true;

	for (int i = 0; i < ITEMS; i++) {
		int item;

		pthread_mutex_lock(&turn_lock);
		while (queue_tail == queue_head)
			pthread_cond_wait(&not_empty, &turn_lock);
		item = queue[queue_head++ % ROOM];
		pthread_cond_signal(&not_full);
		pthread_mutex_unlock(&turn_lock);
		in_order = in_order && item == before + 1;
		before = item;
		sum += item;
	}
	join(producer);
	CHECK(in_order && sum == (long)ITEMS * (ITEMS + 1) / 2);
}

static void *wait_for_turn(void *argument)
{
	pthread_mutex_lock(&turn_lock);
	waiting++;
	while (turn != (int)(intptr_t)argument)
		pthread_cond_wait(&turned, &turn_lock);
	waiting--;
	pthread_mutex_unlock(&turn_lock);
	return NULL;
}

static void test_broadcast(void)
{
	pthread_t threads[WORKERS];
	int all = 0;

	turn = waiting = 0;
	for (int i = 0; i < WORKERS; i++)
		threads[i] = start(wait_for_turn, (void *)9);
	while (all < WORKERS) {
		pthread_mutex_lock(&turn_lock);
		all = waiting;
		pthread_mutex_unlock(&turn_lock);
		sched_yield();
	}
	pthread_mutex_lock(&turn_lock);
	turn = 9;
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&turn_lock);
	for (int i = 0; i < WORKERS; i++)
		join(threads[i]);
	CHECK(waiting == 0);
}

static void test_timed_wait(clockid_t clock)
{
	pthread_condattr_t attributes;
	pthread_cond_t never;
	struct timespec when, after;

	pthread_condattr_init(&attributes);
	CHECK(!pthread_condattr_setclock(&attributes, clock));
	CHECK(!pthread_cond_init(&never, &attributes));
	pthread_mutex_lock(&turn_lock);
	when = from_now(clock, 20);
	CHECK(pthread_cond_timedwait(&never, &turn_lock, &when) == ETIMEDOUT);
	clock_gettime(clock, &after);
	CHECK(after.tv_sec > when.tv_sec || (after.tv_sec == when.tv_sec &&
					     after.tv_nsec >= when.tv_nsec));
	CHECK(pthread_mutex_trylock(&turn_lock) == EBUSY);
	pthread_mutex_unlock(&turn_lock);
	pthread_cond_destroy(&never);
}

/* ------- barriers, locks for readers, semaphores ------- */

static pthread_barrier_t barrier;
static int phases[WORKERS], serial, late;

static void *pass_barriers(void *argument)
{
	int me = (int)(intptr_t)argument;

	for (int phase = 1; phase <= 50; phase++) {
		phases[me] = phase;
		if (pthread_barrier_wait(&barrier) ==
		    PTHREAD_BARRIER_SERIAL_THREAD)
			add(&serial, 1);
		for (int i = 0; i < WORKERS; i++)
			if (phases[i] != phase)
				add(&late, 1);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void test_barrier(void)
{
	CHECK(!pthread_barrier_init(&barrier, NULL, WORKERS));
	run_workers(WORKERS, pass_barriers);
	CHECK(load(&serial) == 50 && load(&late) == 0);
	CHECK(!pthread_barrier_destroy(&barrier));
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int pair[2];
static int readers, most_readers, torn;

static void *read_or_write(void *argument)
{
	for (int i = 0; i < TURNS / 2; i++) {
		if (argument) {
			pthread_rwlock_rdlock(&rwlock);
			if (pair[0] != pair[1])
				add(&torn, 1);
		} else {
			pthread_rwlock_wrlock(&rwlock);
			pair[0] = pair[0] + 1;
			if (i % 16 == 0)
				sched_yield();
			pair[1] = pair[1] + 1;
		}
		pthread_rwlock_unlock(&rwlock);
	}
	return NULL;
}

static void *read_together(void *argument)
{
	(void)argument;
	pthread_rwlock_rdlock(&rwlock);
	add(&readers, 1);
	await(&readers, WORKERS);
	add(&most_readers, 1);
	pthread_rwlock_unlock(&rwlock);
	return NULL;
}

static void test_rwlock(void)
{
	struct timespec when;

	run_workers(WORKERS, read_or_write);
	CHECK(load(&torn) == 0 && pair[0] == TURNS / 2);
	run_workers(WORKERS, read_together);
	CHECK(load(&most_readers) == WORKERS);
	pthread_rwlock_rdlock(&rwlock);
	CHECK(!pthread_rwlock_tryrdlock(&rwlock));
	CHECK(pthread_rwlock_trywrlock(&rwlock) == EBUSY);
	when = from_now(CLOCK_REALTIME, 10);
	CHECK(pthread_rwlock_timedwrlock(&rwlock, &when) == ETIMEDOUT);
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	CHECK(!pthread_rwlock_trywrlock(&rwlock));
	pthread_rwlock_unlock(&rwlock);
}

static sem_t ping, pong;

static void *answer(void *argument)
{
	(void)argument;
	for (int i = 0; i < TURNS; i++) {
		sem_wait(&ping);
		total = total + 1;
		sem_post(&pong);
	}
	return NULL;
}

static void test_semaphores(void)
{
	struct timespec when;
	pthread_t other;
	int value = -1;

	sem_init(&ping, 0, 0);
	sem_init(&pong, 0, 0);
	total = 0;
	other = start(answer, NULL);
	for (int i = 0; i < TURNS; i++) {
		sem_post(&ping);
		sem_wait(&pong);
		if (total != i + 1)
			add(&torn, 1);
	}
	join(other);
	CHECK(load(&torn) == 0);
	when = from_now(CLOCK_REALTIME, 10);
	CHECK(sem_timedwait(&ping, &when) == -1 && errno == ETIMEDOUT);
	CHECK(sem_trywait(&ping) == -1 && errno == EAGAIN);
	sem_post(&ping);
	CHECK(!sem_getvalue(&ping, &value) && value == 1);
	CHECK(!sem_trywait(&ping));
}

/* ------- the system call itself ------- */

/* The one whose time limits are those of the C library's headers. */
#ifdef SYS_futex_time64
#define FUTEX_CALL                                                             \
	(sizeof(time_t) > sizeof(long) ? SYS_futex_time64 : SYS_futex)
#else
#define FUTEX_CALL SYS_futex
#endif

static long futex(int *word, int operation, int value, long timeout,
		  int *second, int third)
{
	return syscall(FUTEX_CALL, word, operation, value, timeout, second,
		       third);
}

static int words[2], sleepers, woken;

static void *sleep_on(void *argument)
{
	int bits = (int)(intptr_t)argument;
	long rc;

	add(&sleepers, 1);
	if (bits)
		rc = futex(&words[0], FUTEX_WAIT_BITSET_ | FUTEX_PRIVATE_, 0,
			   0, NULL, bits);
	else
		rc = futex(&words[0], FUTEX_WAIT_ | FUTEX_PRIVATE_, 0, 0, NULL,
			   0);
	add(&woken, rc == 0 ? 1 : 100);
	return NULL;
}

static void start_sleepers(pthread_t *threads, int bits)
{
	store(&sleepers, 0);
	store(&woken, 0);
	for (int i = 0; i < WORKERS; i++)
		threads[i] = start(sleep_on, (void *)(intptr_t)(
					   bits ? bits << i : 0));
	await(&sleepers, WORKERS);
	sleep_for(30);
}

static void join_all(pthread_t *threads)
{
	for (int i = 0; i < WORKERS; i++)
		join(threads[i]);
}

static void test_futex_wakes(void)
{
	pthread_t threads[WORKERS];

	start_sleepers(threads, 0);
	CHECK(futex(words, FUTEX_WAKE_ | FUTEX_PRIVATE_, 1, 0, NULL, 0) == 1);
	await(&woken, 1);
	CHECK(futex(words, FUTEX_WAKE_ | FUTEX_PRIVATE_, 100, 0, NULL, 0) ==
	      WORKERS - 1);
	join_all(threads);
	CHECK(load(&woken) == WORKERS);

	start_sleepers(threads, 1);
	CHECK(futex(words, FUTEX_WAKE_BITSET_ | FUTEX_PRIVATE_, 100, 0, NULL,
		    6) == 2);
	CHECK(futex(words, FUTEX_WAKE_BITSET_ | FUTEX_PRIVATE_, 100, 0, NULL,
		    -1) == WORKERS - 2);
	join_all(threads);
}

static void test_futex_requeue(void)
{
	pthread_t threads[WORKERS];

	start_sleepers(threads, 0);
	CHECK(futex(words, FUTEX_CMP_REQUEUE_ | FUTEX_PRIVATE_, 1, 1, &words[1],
		    7) == -1 && errno == EAGAIN);
	/* One wakes, one moves. */
	CHECK(futex(words, FUTEX_CMP_REQUEUE_ | FUTEX_PRIVATE_, 1, 1, &words[1],
		    0) == 2);
	CHECK(futex(words, FUTEX_REQUEUE_ | FUTEX_PRIVATE_, 0, 100, &words[1],
		    0) == WORKERS - 2);
	CHECK(futex(words, FUTEX_WAKE_ | FUTEX_PRIVATE_, 100, 0, NULL, 0) == 0);
	CHECK(futex(&words[1], FUTEX_WAKE_ | FUTEX_PRIVATE_, 100, 0, NULL,
		    0) == WORKERS - 1);
	join_all(threads);

	/* words[1] += 5; it was 0, so that its sleepers wake as well. */
	start_sleepers(threads, 0);
	CHECK(futex(&words[1], FUTEX_WAKE_OP_ | FUTEX_PRIVATE_, 100, 100,
		    &words[0], 1 << 28 | 5 << 12) == WORKERS);
	CHECK(words[0] == 5);
	words[0] = 0;
	join_all(threads);
}

static void test_futex_errors(void)
{
	struct timespec soon = { 0, 10000000 };
	struct timespec bad = { 0, 2000000000 };
	struct timespec when = from_now(CLOCK_MONOTONIC, 10);

	CHECK(futex(words, FUTEX_WAIT_, 1, 0, NULL, 0) == -1 &&
	      errno == EAGAIN);
	CHECK(futex(words, FUTEX_WAIT_, 0, (long)&soon, NULL, 0) == -1 &&
	      errno == ETIMEDOUT);
	CHECK(futex(words, FUTEX_WAIT_, 0, (long)&bad, NULL, 0) == -1 &&
	      errno == EINVAL);
	CHECK(futex(words, FUTEX_WAIT_BITSET_, 0, (long)&when, NULL, -1) ==
	      -1 && errno == ETIMEDOUT);
	when = from_now(CLOCK_REALTIME, 10);
	CHECK(futex(words, FUTEX_WAIT_BITSET_ | FUTEX_CLOCK_REALTIME_, 0,
		    (long)&when, NULL, -1) == -1 && errno == ETIMEDOUT);
	CHECK(futex(words, FUTEX_WAIT_BITSET_, 0, (long)&when, NULL, 0) ==
	      -1 && errno == EINVAL);
	CHECK(futex((int *)((char *)words + 1), FUTEX_WAIT_, 0, 0, NULL, 0) ==
	      -1 && errno == EINVAL);
	CHECK(futex((int *)8, FUTEX_WAIT_, 0, 0, NULL, 0) == -1 &&
	      errno == EFAULT);
}

int main(void)
{
	const int stalled = PTHREAD_MUTEX_STALLED;

	guest_watchdog(100);
	test_contended(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, stalled);
	test_contended(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, stalled);
	test_contended(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, stalled);
	test_contended(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, stalled);
	test_contended(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE,
		       PTHREAD_MUTEX_ROBUST);
	test_contended(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT,
		       PTHREAD_MUTEX_ROBUST);
	test_kinds();
	test_timed_locks(PTHREAD_PRIO_NONE);
	test_timed_locks(PTHREAD_PRIO_INHERIT);
	test_robust(PTHREAD_PRIO_NONE);
	test_robust(PTHREAD_PRIO_INHERIT);
	test_robust_process();
	test_spin();
	test_turns();
	test_queue();
	test_broadcast();
	test_timed_wait(CLOCK_REALTIME);
	test_timed_wait(CLOCK_MONOTONIC);
	test_barrier();
	test_rwlock();
	test_semaphores();
	test_futex_wakes();
	test_futex_requeue();
	test_futex_errors();
	return guest_end();
}
