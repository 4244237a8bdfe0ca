/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_threads_life.c - how threads begin, what is theirs, how they end */
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <threads.h>

#include "tests/guests/guest_threads.h"

enum { MANY = 256, SHORT = 1000 };

static void *twice(void *argument)
{
	return (void *)((intptr_t)argument * 2);
}

static void leave(intptr_t value)
{
	pthread_exit((void *)value);
}

static void *leave_early(void *argument)
{
	leave((intptr_t)argument + 1);
	return NULL;
}

static void *join_itself(void *argument)
{
	(void)argument;
	return (void *)(intptr_t)pthread_equal(pthread_self(), pthread_self());
}

static void test_join(void)
{
	pthread_t other;

	CHECK(join(start(twice, (void *)21)) == (void *)42);
	CHECK(join(start(leave_early, (void *)6)) == (void *)7);
	CHECK(join(start(join_itself, NULL)) != NULL);
	other = start(twice, (void *)-5);
	CHECK(!pthread_equal(other, pthread_self()));
	CHECK(join(other) == (void *)-10);
}

static pthread_barrier_t all_here;
static pid_t ids[MANY];

static void *be_one_of_many(void *argument)
{
	ids[(intptr_t)argument] = thread_id();
	pthread_barrier_wait(&all_here);
	pthread_barrier_wait(&all_here);
	return (void *)((intptr_t)argument + 1);
}

static void test_many(void)
{
	static pthread_t threads[MANY];
	intptr_t sum = 0;
	int equal = 0;

	pthread_barrier_init(&all_here, NULL, MANY + 1);
	for (intptr_t i = 0; i < MANY; i++)
		threads[i] = start(be_one_of_many, (void *)i);
	pthread_barrier_wait(&all_here);
	for (int i = 0; i < MANY; i++)
		for (int j = 0; j < i; j++)
			equal += ids[i] == ids[j];
	CHECK(equal == 0);
	pthread_barrier_wait(&all_here);
	for (int i = 0; i < MANY; i++)
		sum += (intptr_t)join(threads[i]);
	CHECK(sum == MANY * (MANY + 1) / 2);
	pthread_barrier_destroy(&all_here);
}

static void test_short_lived(void)
{
	pthread_t threads[20];
	intptr_t sum = 0;

	for (intptr_t i = 0; i < SHORT / 2; i++)
		sum += (intptr_t)join(start(twice, (void *)i));
	CHECK(sum == SHORT / 2 * (SHORT / 2 - 1));
	sum = 0;
	for (int i = 0; i < SHORT / 2 / 20; i++) {
		for (intptr_t j = 0; j < 20; j++)
			threads[j] = start(twice, (void *)j);
		for (int j = 0; j < 20; j++)
			sum += (intptr_t)join(threads[j]);
	}
	CHECK(sum == SHORT / 2 / 20 * 380);
}

static sem_t done;

static void *post(void *argument)
{
	(void)argument;
	sem_post(&done);
	return NULL;
}

static void test_detached(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	sem_init(&done, 0, 0);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < 50; i++) {
		CHECK(!pthread_create(&thread, &attributes, post, NULL));
		CHECK(!pthread_detach(start(post, NULL)));
	}
	for (int i = 0; i < 100; i++)
		sem_wait(&done);
	pthread_attr_destroy(&attributes);
}

static volatile uintptr_t stack_seen;

static void *fill_stack(void *argument)
{
	size_t size = (size_t)(uintptr_t)argument;
	volatile char here[16384];

	for (size_t i = 0; i < sizeof(here); i += 64)
		here[i] = (char)i;
	if (size > 2 * sizeof(here))
		fill_stack((void *)(size - 2 * sizeof(here)));
	else
		stack_seen = (uintptr_t)&here[64];
	return (void *)(intptr_t)here[64];
}

static void test_stacks(void)
{
	const size_t size = 1 << 20;
	pthread_attr_t attributes;
	pthread_t thread;
	char *mine;

	pthread_attr_init(&attributes);
	CHECK(!pthread_attr_setstacksize(&attributes, 4 * size));
	CHECK(!pthread_create(&thread, &attributes, fill_stack,
			      (void *)(3 * size)));
	CHECK(join(thread) == (void *)64);
	mine = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(!pthread_attr_setstack(&attributes, mine, size));
	CHECK(!pthread_create(&thread, &attributes, fill_stack,
			      (void *)(size / 2)));
	CHECK(join(thread) == (void *)64);
	CHECK((uintptr_t)mine < stack_seen &&
	      stack_seen < (uintptr_t)mine + size);
	munmap(mine, size);
	pthread_attr_destroy(&attributes);
}

static __thread int local_set = 5;
static __thread int local_zero;
static __thread char local_large[5000];

static void *use_locals(void *argument)
{
	bool fresh = local_set == 5 && local_zero == 0 && !local_large[4999];

	for (int i = 0; i < 1000; i++) {
		local_set++;
		local_zero += 2;
		local_large[i * 5] = (char)i;
		if (i % 100 == 0)
			sched_yield();
	}
	*(int **)argument = &local_set;
	return (void *)(intptr_t)(fresh && local_set == 1005 &&
				  local_zero == 2000 && local_large[5] == 1);
}

static void test_locals(void)
{
	pthread_t threads[8];
	int *addresses[8];

	for (int i = 0; i < 8; i++)
		threads[i] = start(use_locals, &addresses[i]);
	for (int i = 0; i < 8; i++) {
		CHECK(join(threads[i]));
		CHECK(addresses[i] != &local_set);
	}
	CHECK(local_set == 5 && local_zero == 0);
}

static pthread_key_t first_key, second_key, bare_key;
static int first_calls, second_calls;

static void first_destructor(void *value)
{
	add(&first_calls, 1);
	/* Set again: destructors run once more. */
	if ((intptr_t)value > 1)
		pthread_setspecific(first_key, (char *)value - 1);
}

static void second_destructor(void *value)
{
	add(&second_calls, (int)(intptr_t)value);
}

static void *set_keys(void *argument)
{
	pthread_setspecific(first_key, (void *)3);
	pthread_setspecific(second_key, argument);
	pthread_setspecific(bare_key, argument);
	sched_yield();
	return pthread_getspecific(second_key);
}

static void test_keys(void)
{
	pthread_t threads[8];

	CHECK(!pthread_key_create(&first_key, first_destructor));
	CHECK(!pthread_key_create(&second_key, second_destructor));
	CHECK(!pthread_key_create(&bare_key, NULL));
	for (intptr_t i = 0; i < 8; i++)
		threads[i] = start(set_keys, (void *)(i + 1));
	for (intptr_t i = 0; i < 8; i++)
		CHECK(join(threads[i]) == (void *)(i + 1));
	CHECK(load(&first_calls) == 24);
	CHECK(load(&second_calls) == 36);
	CHECK(!pthread_getspecific(first_key));
	pthread_key_delete(first_key);
	pthread_key_delete(second_key);
	pthread_key_delete(bare_key);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int once_calls, once_value;

static void init_once(void)
{
	sleep_for(5);
	once_value = 17;
	add(&once_calls, 1);
}

static void *want_once(void *argument)
{
	(void)argument;
	pthread_once(&once, init_once);
	return (void *)(intptr_t)once_value;
}

static void test_once(void)
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		threads[i] = start(want_once, NULL);
	for (int i = 0; i < 8; i++)
		CHECK(join(threads[i]) == (void *)17);
	CHECK(load(&once_calls) == 1);
}

/* Each thread starts the next and waits for it. */
static void *chain(void *argument)
{
	intptr_t left = (intptr_t)argument;

	if (!left)
		return NULL;
	return (char *)join(start(chain, (void *)(left - 1))) + 1;
}

static void *say_id(void *argument)
{
	(void)argument;
	return (void *)(intptr_t)thread_id();
}

static void test_ids(void)
{
	char name[16] = "", before[16];
	pid_t other = (pid_t)(intptr_t)join(start(say_id, NULL));

	CHECK(join(start(chain, (void *)30)) == (void *)30);
	CHECK(thread_id() == getpid() && other != getpid());
	CHECK(!syscall(SYS_tgkill, getpid(), getpid(), 0));
	prctl(PR_GET_NAME, before);
	prctl(PR_SET_NAME, "renamed");
	prctl(PR_GET_NAME, name);
	CHECK(!strcmp(name, "renamed"));
	prctl(PR_SET_NAME, before);
	CHECK(syscall(SYS_set_tid_address, NULL) == getpid());
}

/* ------- C11 ------- */

static mtx_t c11_lock;
static cnd_t c11_turned;
static tss_t c11_key;
static unsigned c11_turn, c11_sum;
static int c11_destroyed;
static thread_local int c11_local = 1;
static once_flag c11_once = ONCE_FLAG_INIT;

static void c11_destructor(void *value)
{
	(void)value;
	add(&c11_destroyed, 1);
}

static void c11_init(void)
{
	tss_create(&c11_key, c11_destructor);
}

static int c11_routine(void *argument)
{
	int me = (int)(intptr_t)argument;

	call_once(&c11_once, c11_init);
	tss_set(c11_key, argument);
	for (int i = 0; i < 50; i++) {
		mtx_lock(&c11_lock);
		while (c11_turn % 4 != (unsigned)me)
			cnd_wait(&c11_turned, &c11_lock);
		c11_turn++;
		c11_sum = c11_sum * 3 + (unsigned)me;
		c11_local += me;
		cnd_broadcast(&c11_turned);
		mtx_unlock(&c11_lock);
		thrd_yield();
	}
	if (me == 3)
		thrd_exit(c11_local);
	return c11_local;
}

static void test_c11(void)
{
	thrd_t threads[4];
	int result;

	mtx_init(&c11_lock, mtx_plain);
	cnd_init(&c11_turned);
	for (intptr_t i = 0; i < 4; i++)
		CHECK(thrd_create(&threads[i], c11_routine, (void *)i) ==
		      thrd_success);
	for (int i = 0; i < 4; i++) {
		CHECK(thrd_join(threads[i], &result) == thrd_success);
		CHECK(result == 1 + 50 * i);
	}
	CHECK(c11_turn == 200 && c11_local == 1);
	/* The first has NULL, which no destructor gets. */
	CHECK(load(&c11_destroyed) == 3);
	printf("%u\n", c11_sum);
	tss_delete(c11_key);
	cnd_destroy(&c11_turned);
	mtx_destroy(&c11_lock);
}

int main(void)
{
	guest_watchdog(100);
	test_join();
	test_many();
	test_short_lived();
	test_detached();
	test_stacks();
	test_locals();
	test_keys();
	test_once();
	test_ids();
	test_c11();
	return guest_end();
}
