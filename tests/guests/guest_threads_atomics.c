/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_threads_atomics.c - locked instructions, fences, and busy waiting */
#include <sched.h>
#include <stdatomic.h>

#include "tests/guests/guest_threads.h"

enum { WORKERS = 4, TURNS = 20000 };

/* ------- each locked instruction, in each size ------- */

static uint8_t byte_sum;
static uint16_t word_sum;
static uint32_t long_sum, cas_sum, bits_left, xor_sum, inc_sum;
static uint64_t quad_sum, wide_sum;
static uint32_t bit_map[8];
static int bits_taken;

static void *count_all(void *argument)
{
	(void)argument;
	for (int i = 0; i < TURNS; i++) {
		uint32_t seen = __atomic_load_n(&cas_sum, __ATOMIC_RELAXED);

		__atomic_fetch_add(&byte_sum, 3, __ATOMIC_RELAXED);
		__atomic_fetch_add(&word_sum, 5, __ATOMIC_ACQ_REL);
		__atomic_add_fetch(&long_sum, 7, __ATOMIC_SEQ_CST);
		__atomic_fetch_sub(&quad_sum, 11, __ATOMIC_SEQ_CST);
		__atomic_xor_fetch(&xor_sum, (uint32_t)i, __ATOMIC_SEQ_CST);
		__asm__ volatile("lock incl %0" : "+m"(inc_sum));
		while (!__atomic_compare_exchange_n(&cas_sum, &seen, seen + 1,
						    true, __ATOMIC_SEQ_CST,
						    __ATOMIC_SEQ_CST))
			continue;
	}
	return NULL;
}

static void test_sums(void)
{
	run_workers(WORKERS, count_all);
	CHECK(byte_sum == (uint8_t)(WORKERS * TURNS * 3));
	CHECK(word_sum == (uint16_t)(WORKERS * TURNS * 5));
	CHECK(long_sum == WORKERS * TURNS * 7);
	CHECK(quad_sum == -(uint64_t)WORKERS * TURNS * 11);
	CHECK(xor_sum == 0 && inc_sum == WORKERS * TURNS);
	CHECK(cas_sum == WORKERS * TURNS);
}

/* Each bit is taken by one. */
static void *take_bits(void *argument)
{
	int taken = 0;

	(void)argument;
	for (uint64_t bit = 0; bit < 256; bit++) {
		bool before;

		__asm__ volatile("lock btsq %2, %0"
				 : "+m"(bit_map), "=@ccc"(before)
				 : "r"(bit)
				 : "memory");
		taken += !before;
		if (bit % 32 == 0)
			sched_yield();
	}
	add(&bits_taken, taken);
	return NULL;
}

static void test_bits(void)
{
	run_workers(WORKERS, take_bits);
	CHECK(load(&bits_taken) == 256);
	bits_left = 0;
	for (int i = 0; i < 8; i++)
		bits_left |= ~bit_map[i];
	CHECK(bits_left == 0);
}

/* ------- cmpxchg16b ------- */

struct link {
	struct link *next;
	int value;
};

struct head {
	struct link *top;
	uint64_t version;
} __attribute__((aligned(16)));

static struct head stack_head;
static struct link links[WORKERS * 100];
static long popped_sum;
static int popped;

static bool swap_head(struct head *expected, struct head wanted)
{
	bool swapped;

	__asm__ volatile("lock cmpxchg16b %0"
			 : "+m"(stack_head), "+a"(expected->top),
			   "+d"(expected->version), "=@ccz"(swapped)
			 : "b"(wanted.top), "c"(wanted.version)
			 : "memory");
	return swapped;
}

static void push(struct link *link)
{
	struct head seen = { NULL, 0 }, wanted;

	do {
		link->next = seen.top;
		wanted = (struct head){ link, seen.version + 1 };
	} while (!swap_head(&seen, wanted));
}

static struct link *pop(void)
{
	struct head seen = { NULL, 0 }, wanted;

	for (;;) {
		wanted = seen;
		if (seen.top) {
			wanted.top = seen.top->next;
			wanted.version++;
		}
		if (swap_head(&seen, wanted))
			return seen.top;
	}
}

static void *use_stack(void *argument)
{
	struct link *mine = &links[(intptr_t)argument * 100], *link;
	long sum = 0;

	for (int i = 0; i < 100; i++) {
		mine[i].value = (int)(intptr_t)argument * 100 + i;
		push(&mine[i]);
		if (i % 3 == 0) {
			link = pop();
			push(link);
		}
		if (i % 10 == 0)
			sched_yield();
	}
	for (int i = 0; i < 100; i++) {
		link = pop();
		sum += link->value;
		add(&popped, 1);
	}
	__atomic_add_fetch(&popped_sum, sum, __ATOMIC_SEQ_CST);
	return NULL;
}

static void test_stack(void)
{
	run_workers(WORKERS, use_stack);
	CHECK(load(&popped) == WORKERS * 100 && !stack_head.top);
	CHECK(popped_sum == (long)WORKERS * 100 * (WORKERS * 100 - 1) / 2);
}

/* ------- waiting without a system call ------- */

static volatile int plain_flag, plain_answer;
static volatile int ball;

static void *spin_on_plain(void *argument)
{
	(void)argument;
	while (!plain_flag)
		continue;
	plain_answer = plain_flag + 1;
	return NULL;
}

static void *spin_with_pause(void *argument)
{
	(void)argument;
	while (plain_flag != 2)
		__builtin_ia32_pause();
	return NULL;
}

static void test_plain_flag(void)
{
	pthread_t spinners[3];

	for (int i = 0; i < 3; i++)
		spinners[i] = start(i == 2 ? spin_with_pause : spin_on_plain,
				    NULL);
	for (volatile int i = 0; i < 100000; i++)
		continue;
	plain_flag = 1;
	while (plain_answer != 2)
		continue;
	plain_flag = 2;
	for (int i = 0; i < 3; i++)
		join(spinners[i]);
	CHECK(plain_answer == 2 || plain_answer == 3);
}

/* To and fro, each spinning until it is its turn. */
static void *return_ball(void *argument)
{
	(void)argument;
	for (int i = 0; i < 10; i++) {
		while (ball != 2 * i + 1)
			continue;
		ball = 2 * i + 2;
	}
	return NULL;
}

static void test_ball(void)
{
	pthread_t other = start(return_ball, NULL);

	for (int i = 0; i < 10; i++) {
		ball = 2 * i + 1;
		while (ball != 2 * i + 2)
			continue;
	}
	join(other);
	CHECK(ball == 20);
}

/* One spins while the other has much to do and many calls to make. */
static atomic_int finished;
static volatile unsigned long spins;

static void *work(void *argument)
{
	unsigned long sum = 0;

	(void)argument;
	for (int i = 0; i < 1000; i++) {
		for (int j = 0; j < 1000; j++)
			sum = sum * 33 + (unsigned long)j;
		syscall(SYS_getppid);
	}
	atomic_store(&finished, 1);
	return (void *)sum;
}

static void test_worker(void)
{
	pthread_t other = start(work, NULL);

	while (!atomic_load(&finished))
		spins++;
	printf("%lu\n", (unsigned long)join(other));
}

/* ------- fences: either sees the other, or both ------- */

static atomic_int wants[2], both_missed;
static pthread_barrier_t round_start;

static void *dekker(void *argument)
{
	int me = (int)(intptr_t)argument;
	static int saw[2];

	for (int i = 0; i < 200; i++) {
		pthread_barrier_wait(&round_start);
		atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
		atomic_thread_fence(memory_order_seq_cst);
		saw[me] = atomic_load_explicit(&wants[1 - me],
					       memory_order_relaxed);
		pthread_barrier_wait(&round_start);
		if (me == 0) {
			if (!saw[0] && !saw[1])
				atomic_fetch_add(&both_missed, 1);
			atomic_store(&wants[0], 0);
			atomic_store(&wants[1], 0);
		}
	}
	return NULL;
}

static void test_fences(void)
{
	pthread_t other;

	pthread_barrier_init(&round_start, NULL, 2);
	other = start(dekker, (void *)1);
	dekker(NULL);
	join(other);
	CHECK(both_missed == 0);
}

static atomic_flag spin_flag = ATOMIC_FLAG_INIT;
static long guarded;

static void *count_under_flag(void *argument)
{
	(void)argument;
	for (int i = 0; i < 2000; i++) {
		while (atomic_flag_test_and_set_explicit(
			       &spin_flag, memory_order_acquire))
			continue;
		guarded++;
		atomic_flag_clear_explicit(&spin_flag, memory_order_release);
	}
	return NULL;
}

/* 128 bits that are never seen half written. */
static int torn;

static void *swap_pair(void *argument)
{
	(void)argument;
	for (uint64_t i = 1; i < 300; i++) {
		struct head seen = { NULL, 0 }, wanted;

		do {
			if ((uint64_t)(uintptr_t)seen.top != seen.version)
				add(&torn, 1);
			wanted = (struct head){
				(struct link *)(uintptr_t)(seen.version + 1),
				seen.version + 1,
			};
		} while (!swap_head(&seen, wanted));
	}
	return NULL;
}

int main(void)
{
	guest_watchdog(100);
	test_sums();
	test_bits();
	test_stack();
	test_plain_flag();
	test_ball();
	test_worker();
	test_fences();
	run_workers(WORKERS, count_under_flag);
	CHECK(guarded == WORKERS * 2000);
	stack_head = (struct head){ NULL, 0 };
	run_workers(WORKERS, swap_pair);
	wide_sum = stack_head.version;
	CHECK(torn == 0 && wide_sum == WORKERS * 299);
	return guest_end();
}
