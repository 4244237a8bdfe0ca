/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_shared_kernel.c - what the kernel writes for one process to memory at
 * which another one looks all the time
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/guests/guest.h"

enum {
	ROUNDS = 4,
	SIZE = 64 * 1024,
};

static int file;
static volatile uint32_t *words;
static pthread_mutex_t *mutex;		/* in the same memory */
static int *locked;

/* ------- ways to make the first word another than 0 ------- */

static const uint32_t one = 1;

static void by_read(void)
{
	int ends[2];

	CHECK(!pipe(ends) && write(ends[1], &one, sizeof(one)) == sizeof(one));
	CHECK(read(ends[0], (void *)words, sizeof(one)) == sizeof(one));
}

/* So much that it is not copied. */
static void by_large_read(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);

	CHECK(read(fd, (void *)words, SIZE / 2) > 4096);
	close(fd);
}

static void by_message(void)
{
	struct iovec part = { (void *)words, sizeof(one) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int ends[2];

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	CHECK(write(ends[1], &one, sizeof(one)) == sizeof(one));
	CHECK(recvmsg(ends[0], &message, 0) == sizeof(one));
}

static void by_clock(void)
{
	CHECK(!syscall(SYS_clock_gettime, CLOCK_REALTIME, words));
}

static void by_file(void)
{
	CHECK(pwrite(file, &one, sizeof(one), 0) == sizeof(one));
}

static void by_copy(void)
{
	off_t from = 0, to = 0;
	int fd = open("/proc/self/exe", O_RDONLY);
	int other = memfd_create("other", 0);
	char bytes[4096];

	CHECK(read(fd, bytes, sizeof(bytes)) == sizeof(bytes));
	CHECK(write(other, bytes, sizeof(bytes)) == sizeof(bytes));
	CHECK(copy_file_range(other, &from, file, &to, sizeof(bytes), 0) ==
	      sizeof(bytes));
	close(other);
	close(fd);
}

static void by_wake(void)
{
	uint32_t here = 0;

	CHECK(syscall(SYS_futex, &here, FUTEX_WAKE_OP, 1, 1, words,
		      FUTEX_OP(FUTEX_OP_SET, 1, FUTEX_OP_CMP_EQ, 0)) == 0);
}

static void by_lock(void)
{
	CHECK(!syscall(SYS_futex, words, FUTEX_LOCK_PI, 0, NULL));
}

static void by_store(void)
{
	*words = 1;
}

static void (*const ways[])(void) = {
	by_read, by_large_read, by_message, by_clock, by_file,
	by_copy, by_wake,      by_lock,    by_store,
};

/* ------- who looks ------- */

/* It looks in a loop, with or without calls. */
static void look(void (*way)(void), bool calls)
{
	pid_t pid;

	*words = 0;
	pid = fork();
	if (!pid) {
		usleep(calls ? 500 : 2000);
		way();
		_exit(guest_failures);
	}
	while (!*words)
		if (calls)
			getppid();
	CHECK(end_of(pid) == 0);
}

static void make_mutex(bool is_robust, bool has_owner)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	if (is_robust)
		pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	if (has_owner)
		pthread_mutexattr_setprotocol(&attributes,
					      PTHREAD_PRIO_INHERIT);
	memset((void *)mutex, 0, sizeof(*mutex));
	CHECK(!pthread_mutex_init(mutex, &attributes));
}

/* Whoever dies with a lock leaves a mark in it. */
static void owner_dies(bool has_owner)
{
	pid_t pid;

	make_mutex(true, has_owner);
	__atomic_store_n(locked, 0, __ATOMIC_SEQ_CST);
	pid = fork();
	if (!pid) {
		CHECK(!pthread_mutex_lock(mutex));
		__atomic_store_n(locked, 1, __ATOMIC_SEQ_CST);
		if (has_owner)
			usleep(1000);
		_exit(guest_failures);
	}
	while (!__atomic_load_n(locked, __ATOMIC_SEQ_CST))
		;
	CHECK(pthread_mutex_lock(mutex) == EOWNERDEAD);
	CHECK(!pthread_mutex_consistent(mutex));
	CHECK(!pthread_mutex_unlock(mutex));
	CHECK(end_of(pid) == 0);
	pthread_mutex_destroy(mutex);
}

/* Several wait for one lock with an owner. */
static void take_turns(void)
{
	enum { WORKERS = 3, TURNS = 50 };
	pid_t pids[WORKERS];

	make_mutex(false, true);
	*locked = 0;
	for (int i = 0; i < WORKERS; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		for (int turn = 0; turn < TURNS; turn++) {
			CHECK(!pthread_mutex_lock(mutex));
			++*locked;
			if (turn % 10 == 0)
				usleep(100);
			CHECK(!pthread_mutex_unlock(mutex));
		}
		_exit(guest_failures);
	}
	for (int i = 0; i < WORKERS; i++)
		CHECK(end_of(pids[i]) == 0);
	CHECK(*locked == WORKERS * TURNS);
}

/* A child that has hardly begun is killed at once, not after a while. */
static void kill_soon(void)
{
	struct timespec before, after;

	clock_gettime(CLOCK_MONOTONIC, &before);
	for (int i = 0; i < ROUNDS; i++) {
		pid_t pid = fork();

		if (!pid)
			for (;;)
				;
		usleep((useconds_t)i * 300);
		CHECK(!kill(pid, SIGKILL));
		CHECK(end_of(pid) == 1000 + SIGKILL);
	}
	clock_gettime(CLOCK_MONOTONIC, &after);
	CHECK(after.tv_sec - before.tv_sec < 4);
}

int main(void)
{
	file = memfd_create("shared", 0);
	CHECK(!ftruncate(file, SIZE));
	words = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(words != MAP_FAILED);
	mutex = (void *)(words + SIZE / 8);
	locked = (int *)(words + SIZE / 8 + 4096 / 4);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		for (int round = 0; round < ROUNDS; round++) {
			look(ways[i], false);
			look(ways[i], true);
		}
	}
	for (int round = 0; round < ROUNDS; round++) {
		owner_dies(false);
		owner_dies(true);
	}
	take_turns();
	kill_soon();
	return guest_end();
}
