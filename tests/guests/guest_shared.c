/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_shared.c - processes at work on memory that they share */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guests/guest.h"

enum {
	WORKERS = 3,
	ROUNDS = 3000,
	MESSAGES = 40,
	PAGE = 4096,
};

struct shared {
	/* Each changed by instructions of one kind. */
	int32_t added, incremented, exchanged, mixed;
	int64_t added_wide;
	uint8_t added_byte;
	uint32_t bits;
	struct {
		_Alignas(16) uint64_t low;
		uint64_t high;
	} pair;

	/* Changed by plain ones, with a lock of some kind. */
	int spin, ticket, served;
	int under_spin, under_ticket, under_mutex, under_semaphore;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	sem_t semaphore;
	int turn, by_threads;
	pthread_barrier_t barrier;
	int arrived[2];

	/* Messages: `full` says that there is one. */
	volatile int full, message;
	long sum;

	_Alignas(PAGE) char other_page[PAGE];
	int across;		/* far from the first */
};

static struct shared *shared;

/* Runs `work` in processes of its own and in this one. */
static void together(void (*work)(int number))
{
	pid_t pid[WORKERS];

	for (int i = 0; i < WORKERS; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			work(i + 1);
			_exit(0);
		}
	}
	work(0);
	for (int i = 0; i < WORKERS; i++)
		CHECK(end_of(pid[i]) == 0);
}

/* ------- single instructions ------- */

static void exchange_pair(void)
{
	uint64_t low = shared->pair.low, high = shared->pair.high;
	bool done;

	do {
		__asm__ volatile("lock cmpxchg16b %1"
				 : "=@ccz"(done), "+m"(shared->pair),
				   "+a"(low), "+d"(high)
				 : "b"(low + 1), "c"(high + 2)
				 : "memory");
	} while (!done);
}

static void change_atomically(int number)
{
	int32_t seen;

	for (int i = 0; i < ROUNDS; i++) {
		__asm__ volatile("lock addl $3, %0"
				 : "+m"(shared->added) : : "cc");
		__asm__ volatile("lock incl %0"
				 : "+m"(shared->incremented) : : "cc");
		__asm__ volatile("lock addq $5, %0"
				 : "+m"(shared->added_wide) : : "cc");
		__asm__ volatile("lock addb $1, %0"
				 : "+m"(shared->added_byte) : : "cc");
		if (i % 2)
			__atomic_fetch_add(&shared->mixed, 7,
					   __ATOMIC_SEQ_CST);
		else
			__asm__ volatile("lock subl $-7, %0"
					 : "+m"(shared->mixed) : : "cc");
		seen = shared->exchanged;
		while (!__atomic_compare_exchange_n(
			&shared->exchanged, &seen, seen + 1, false,
			__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			continue;
		exchange_pair();
		__atomic_fetch_add(&shared->across, 1, __ATOMIC_SEQ_CST);
	}
	__asm__ volatile("lock btsl %1, %0"
			 : "+m"(shared->bits) : "r"(number) : "cc");
}

static void test_atomics(void)
{
	int32_t all = (WORKERS + 1) * ROUNDS;

	together(change_atomically);
	CHECK(shared->added == 3 * all);
	CHECK(shared->incremented == all);
	CHECK(shared->added_wide == 5 * all);
	CHECK(shared->added_byte == (uint8_t)all);
	CHECK(shared->mixed == 7 * all);
	CHECK(shared->exchanged == all);
	CHECK(shared->pair.low == (uint64_t)all);
	CHECK(shared->pair.high == 2 * (uint64_t)all);
	CHECK(shared->across == all);
	CHECK(shared->bits == (1u << (WORKERS + 1)) - 1);
}

/* ------- locks made of them ------- */

static void with_spin_lock(int number)
{
	(void)number;
	for (int i = 0; i < 200; i++) {
		while (__atomic_exchange_n(&shared->spin, 1,
					   __ATOMIC_ACQUIRE))
			continue;
		shared->under_spin++;
		__atomic_store_n(&shared->spin, 0, __ATOMIC_RELEASE);
	}
}

/* First come, first served: each waits for all others in turn. */
static void with_tickets(int number)
{
	(void)number;
	for (int i = 0; i < 20; i++) {
		int mine = __atomic_fetch_add(&shared->ticket, 1,
					      __ATOMIC_SEQ_CST);

		while (__atomic_load_n(&shared->served, __ATOMIC_ACQUIRE) !=
		       mine)
			__builtin_ia32_pause();
		shared->under_ticket++;
		__atomic_store_n(&shared->served, mine + 1, __ATOMIC_RELEASE);
	}
}

static void test_spinning(void)
{
	together(with_spin_lock);
	CHECK(shared->under_spin == (WORKERS + 1) * 200);
	together(with_tickets);
	CHECK(shared->under_ticket == (WORKERS + 1) * 20);
}

/* Nothing but loads and stores, which keep their order. */
static void send(void)
{
	for (int i = 1; i <= MESSAGES; i++) {
		while (shared->full)
			continue;
		shared->message = i;
		shared->full = 1;
	}
}

static void receive(void)
{
	for (int i = 1; i <= MESSAGES; i++) {
		while (!shared->full)
			continue;
		shared->sum += shared->message * i;
		shared->full = 0;
	}
}

static void test_messages(void)
{
	long expected = 0;
	pid_t pid = fork();

	if (!pid) {
		send();
		_exit(0);
	}
	receive();
	CHECK(end_of(pid) == 0);
	for (int i = 1; i <= MESSAGES; i++)
		expected += i * i;
	CHECK(shared->sum == expected);
}

/* ------- the library's ------- */

static void with_mutex(int number)
{
	(void)number;
	for (int i = 0; i < 300; i++) {
		pthread_mutex_lock(&shared->mutex);
		shared->under_mutex++;
		pthread_mutex_unlock(&shared->mutex);
	}
}

static void with_semaphore(int number)
{
	(void)number;
	for (int i = 0; i < 300; i++) {
		sem_wait(&shared->semaphore);
		shared->under_semaphore++;
		sem_post(&shared->semaphore);
	}
}

/* Each waits until it is its turn. */
static void in_turns(int number)
{
	for (int i = 0; i < 15; i++) {
		pthread_mutex_lock(&shared->mutex);
		while (shared->turn % (WORKERS + 1) != number)
			pthread_cond_wait(&shared->cond, &shared->mutex);
		shared->turn++;
		pthread_cond_broadcast(&shared->cond);
		pthread_mutex_unlock(&shared->mutex);
	}
}

static void with_barrier(int number)
{
	(void)number;
	for (int i = 0; i < 2; i++) {
		__atomic_fetch_add(&shared->arrived[i], 1, __ATOMIC_SEQ_CST);
		pthread_barrier_wait(&shared->barrier);
		if (shared->arrived[i] != WORKERS + 1)
			_exit(1);
	}
}

static void test_library(void)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t cond;
	pthread_barrierattr_t barrier;

	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	CHECK(!pthread_mutex_init(&shared->mutex, &mutex));
	pthread_condattr_init(&cond);
	pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
	CHECK(!pthread_cond_init(&shared->cond, &cond));
	pthread_barrierattr_init(&barrier);
	pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
	CHECK(!pthread_barrier_init(&shared->barrier, &barrier, WORKERS + 1));
	CHECK(!sem_init(&shared->semaphore, 1, 1));
	together(with_mutex);
	CHECK(shared->under_mutex == (WORKERS + 1) * 300);
	together(with_semaphore);
	CHECK(shared->under_semaphore == (WORKERS + 1) * 300);
	together(in_turns);
	CHECK(shared->turn == (WORKERS + 1) * 15);
	together(with_barrier);
	CHECK(shared->arrived[1] == WORKERS + 1);
}

/* Threads of several processes. */
static void *change_in_thread(void *unused)
{
	(void)unused;
	for (int i = 0; i < 300; i++) {
		__atomic_fetch_add(&shared->by_threads, 1, __ATOMIC_SEQ_CST);
		pthread_mutex_lock(&shared->mutex);
		shared->under_mutex++;
		pthread_mutex_unlock(&shared->mutex);
		sem_wait(&shared->semaphore);
		shared->under_semaphore++;
		sem_post(&shared->semaphore);
	}
	return NULL;
}

static void with_threads(int number)
{
	pthread_t thread[2];

	(void)number;
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, change_in_thread, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

static void test_threads(void)
{
	int all = 2 * 300 * (WORKERS + 1);

	shared->under_mutex = shared->under_semaphore = 0;
	together(with_threads);
	CHECK(shared->by_threads == all);
	CHECK(shared->under_mutex == all);
	CHECK(shared->under_semaphore == all);
}

static void test_named_semaphore(void)
{
	char name[32];
	sem_t *there, *back;
	pid_t pid;

	/* The C library has them there; some containers have no such folder. */
	if (access("/dev/shm", W_OK | X_OK))
		return;
	snprintf(name, sizeof(name), "/cprec-there-%d", (int)getpid());
	there = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
	CHECK(there != SEM_FAILED);
	pid = fork();
	if (!pid) {
		/* The same by name, mapped once more. */
		back = sem_open(name, 0);
		if (back == SEM_FAILED)
			_exit(1);
		for (int i = 0; i < 50; i++)
			sem_post(back);
		_exit(0);
	}
	for (int i = 0; i < 50; i++)
		CHECK(!sem_wait(there));
	CHECK(end_of(pid) == 0);
	CHECK(sem_trywait(there) == -1 && errno == EAGAIN);
	sem_close(there);
	CHECK(!sem_unlink(name));
}

/* ------- files ------- */

static int make_file(char *name, size_t size)
{
	int fd;

	snprintf(name, 32, "/tmp/cprec-shared-XXXXXX");
	fd = mkstemp(name);
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, (off_t)size));
	return fd;
}

static int *map_file(int fd, size_t size, int prot)
{
	int *at = mmap(NULL, size, prot, MAP_SHARED, fd, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

static void count_in_file(int *words)
{
	for (int i = 0; i < 500; i++)
		__atomic_fetch_add(&words[i % 3 * 1024], 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&words[3 * 1024], 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&words[3 * 1024], __ATOMIC_SEQ_CST) < 2)
		continue;
}

/* Two mappings of one file, at two addresses. */
static void test_file(void)
{
	char name[64];
	int fd = make_file(name, 4 * PAGE), again, word = 0;
	int *words = map_file(fd, 4 * PAGE, PROT_READ | PROT_WRITE);
	int *other;
	pid_t pid = fork();

	if (!pid) {
		munmap(words, 4 * PAGE);
		again = open(name, O_RDWR);
		mmap(NULL, 3 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
		count_in_file(map_file(again, 4 * PAGE,
				       PROT_READ | PROT_WRITE));
		_exit(guest_failures);
	}
	count_in_file(words);
	CHECK(end_of(pid) == 0);
	CHECK(words[0] + words[1024] + words[2048] == 1000);
	CHECK(pread(fd, &word, sizeof(word), PAGE) == sizeof(word));
	CHECK(word == words[1024]);
	word = 77;
	CHECK(pwrite(fd, &word, sizeof(word), PAGE) == sizeof(word));
	CHECK(words[1024] == 77);
	words[1024] = 78;
	CHECK(pread(fd, &word, sizeof(word), PAGE) == sizeof(word));
	CHECK(word == 78);
	words = mremap(words, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE);
	CHECK(words != MAP_FAILED);
	CHECK(words[1024] == 78);
	words[1024]++;
	munmap(words, PAGE);
	CHECK(words[1024] == 79);
	munmap(words + 1024, 7 * PAGE);
	other = map_file(fd, 4 * PAGE, PROT_READ);
	CHECK(other[1024] == 79);
	close(fd);
	unlink(name);
}

/* One process writes what another sees, without asking anybody. */
static void test_written(void)
{
	char name[64];
	int fd = make_file(name, PAGE), last = 0;
	volatile int *words = map_file(fd, PAGE, PROT_READ);
	pid_t pid = fork();

	if (!pid) {
		for (int i = 1; i <= 200; i++)
			if (pwrite(fd, &i, sizeof(i), 0) != sizeof(i))
				_exit(1);
		_exit(0);
	}
	while (last < 200) {
		int now = words[0];

		/* Some instructions more each time that it has changed. */
		for (int i = last; i < now; i++)
			last++;
	}
	CHECK(last == 200);
	CHECK(end_of(pid) == 0);
	close(fd);
	unlink(name);
}

/* ------- the kernel ------- */

/* What system calls read and write lies in shared memory. */
static void test_kernel(void)
{
	char *text = shared->other_page;
	int ends[2];
	pid_t pid;

	CHECK(!pipe(ends));
	pid = fork();
	if (!pid) {
		memcpy(text + 100, "through a pipe", 15);
		if (write(ends[1], text + 100, 15) != 15)
			_exit(1);
		memcpy(text + 200, "there\n", 7);
		_exit(0);
	}
	CHECK(read(ends[0], text, 15) == 15);
	CHECK(!strcmp(text, "through a pipe"));
	CHECK(end_of(pid) == 0);
	fflush(stdout);
	CHECK(write(1, text + 200, 6) == 6);
	CHECK(readlink("/proc/self/cwd", text, 50) > 0);
	CHECK(text[0] == '/');
	close(ends[0]);
	close(ends[1]);
}

/* Killed in the middle of it. */
static void test_killed(void)
{
	pid_t pid = fork();

	shared->turn = 0;
	if (!pid)
		for (;;)
			__atomic_fetch_add(&shared->turn, 1,
					   __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&shared->turn, __ATOMIC_SEQ_CST) < 1000)
		continue;
	kill(pid, SIGKILL);
	/* Nobody has waited for it yet. */
	for (int i = 0; i < 100; i++)
		__atomic_fetch_add(&shared->turn, 1, __ATOMIC_SEQ_CST);
	CHECK(end_of(pid) == 1000 + SIGKILL);
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	test_atomics();
	test_spinning();
	test_messages();
	test_library();
	test_threads();
	test_named_semaphore();
	test_file();
	test_written();
	test_kernel();
	test_killed();
	return guest_end();
}
