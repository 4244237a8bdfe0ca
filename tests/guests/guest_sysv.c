/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_sysv.c - shared memory, semaphores and messages of System V */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

#include "tests/guests/guest.h"

enum { PAGE = 4096, WORKERS = 3, ROUNDS = 300 };

#define NOWHERE ((void *)-1)

static uint64_t load(const void *at)
{
	return __atomic_load_n((const uint64_t *)at, __ATOMIC_SEQ_CST);
}

static void store(void *at, uint64_t value)
{
	__atomic_store_n((uint64_t *)at, value, __ATOMIC_SEQ_CST);
}

static int make_segment(size_t size)
{
	int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);

	CHECK(id >= 0);
	return id;
}

static void remove_segment(int id)
{
	CHECK(!shmctl(id, IPC_RMID, NULL));
}

static unsigned long attached(int id)
{
	struct shmid_ds segment;

	CHECK(!shmctl(id, IPC_STAT, &segment));
	return segment.shm_nattch;
}

/* ------- shared memory ------- */

static void test_attach(void)
{
	int id = make_segment(2 * PAGE + 5);
	struct shmid_ds segment;
	uint8_t *at;

	CHECK(!shmctl(id, IPC_STAT, &segment));
	CHECK(segment.shm_segsz == 2 * PAGE + 5 && segment.shm_nattch == 0);
	CHECK((segment.shm_perm.mode & 0777) == 0600);
	CHECK(segment.shm_cpid == getpid());
	at = shmat(id, NULL, 0);
	CHECK(at != NOWHERE && load(at) == 0 && load(at + 2 * PAGE) == 0);
	store(at, 1);
	store(at + 2 * PAGE + 8, 2);
	CHECK(attached(id) == 1);
	segment.shm_perm.mode = 0640;
	CHECK(!shmctl(id, IPC_SET, &segment));
	CHECK(!shmctl(id, IPC_STAT, &segment));
	CHECK((segment.shm_perm.mode & 0777) == 0640);
	CHECK(!shmdt(at) && attached(id) == 0);
	CHECK(shmdt(at) && errno == EINVAL);
	at = shmat(id, NULL, 0);
	CHECK(load(at) == 1 && load(at + 2 * PAGE + 8) == 2);
	remove_segment(id);
	CHECK(load(at) == 1 && attached(id) == 1);
	CHECK(!shmdt(at));
	CHECK(shmctl(id, IPC_STAT, &segment) && errno == EINVAL);
}

static void test_places(void)
{
	int id = make_segment(3 * PAGE);
	uint8_t *place = mmap(NULL, 8 * PAGE, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(shmat(id, place, 0) == NOWHERE && errno == EINVAL);
	CHECK(shmat(id, place + 1, 0) == NOWHERE && errno == EINVAL);
	CHECK(shmat(id, NULL, SHM_REMAP) == NOWHERE && errno == EINVAL);
	CHECK(shmat(id, place, SHM_REMAP) == place);
	store(place, 5);
	CHECK(!munmap(place + 4 * PAGE, 4 * PAGE));
	CHECK(shmat(id, place + 5 * PAGE + 100, SHM_RND) == place + 5 * PAGE);
	CHECK(load(place + 5 * PAGE) == 5);
	/* A part of it goes by munmap(), the rest by shmdt(). */
	CHECK(!munmap(place + PAGE, PAGE));
	CHECK(load(place) == 5 && load(place + 2 * PAGE) == 0);
	CHECK(!shmdt(place) && shmdt(place) && errno == EINVAL);
	CHECK(shmdt(place + 6 * PAGE) && errno == EINVAL);
	CHECK(!shmdt(place + 5 * PAGE));
	CHECK(shmat(id + 1000000, NULL, 0) == NOWHERE && errno == EINVAL);
	CHECK(shmat(-1, NULL, 0) == NOWHERE && errno == EINVAL);
	CHECK(shmget(IPC_PRIVATE, 0, 0600) < 0 && errno == EINVAL);
	CHECK(!munmap(place, 8 * PAGE));
	remove_segment(id);
}

/* One process has it at two addresses. */
static void test_twice(void)
{
	int id = make_segment(2 * PAGE);
	const uint8_t *reading = shmat(id, NULL, SHM_RDONLY);
	uint8_t *one, *other;
	unsigned wrong = 0;

	CHECK(load(reading) == 0);
	one = shmat(id, NULL, 0);
	store(one, 7);
	CHECK(load(reading) == 7);
	other = shmat(id, NULL, 0);
	CHECK(one != NOWHERE && other != NOWHERE && attached(id) == 3);
	for (uint64_t i = 0; i < 100; i++) {
		store(one + i * 8, i + 1);
		wrong += load(other + i * 8) != i + 1;
		store(other + PAGE + i * 8, i + 2);
		wrong += load(one + PAGE + i * 8) != i + 2;
		wrong += load(reading + PAGE + i * 8) != i + 2;
	}
	CHECK(wrong == 0);
	CHECK(!shmdt(one) && attached(id) == 2);
	CHECK(load(other) == 1 && load(reading + PAGE) == 2);
	store(other, 8);
	CHECK(load(reading) == 8 && !shmdt(other) && load(reading) == 8);
	CHECK(!shmdt(reading) && attached(id) == 0);
	remove_segment(id);
}

/* ------- with other processes ------- */

static int change_semaphore(int id, int number, int by, int flags)
{
	struct sembuf change = { (unsigned short)number, (short)by,
				 (short)flags };

	return semop(id, &change, 1);
}

static int make_semaphores(int count)
{
	int id = semget(IPC_PRIVATE, count, IPC_CREAT | 0600);

	CHECK(id >= 0);
	return id;
}

/* What many add to under a semaphore: inherited, or attached by key. */
static void add_up(uint64_t *sum, int semaphores)
{
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(!change_semaphore(semaphores, 0, -1, SEM_UNDO));
		sum[0]++;
		sum[PAGE / 8] += 2;
		CHECK(!change_semaphore(semaphores, 0, 1, SEM_UNDO));
		__atomic_fetch_add(&sum[1], 3, __ATOMIC_SEQ_CST);
	}
}

static void test_inherited(void)
{
	int id = make_segment(2 * PAGE), semaphores = make_semaphores(1);
	uint64_t *sum = shmat(id, NULL, 0);
	pid_t pid[WORKERS];

	CHECK(!semctl(semaphores, 0, SETVAL, 1));
	for (int i = 0; i < WORKERS; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			add_up(sum, semaphores);
			_exit(shmdt(sum) != 0 || guest_failures);
		}
	}
	add_up(sum, semaphores);
	for (int i = 0; i < WORKERS; i++)
		CHECK(end_of(pid[i]) == 0);
	CHECK(sum[0] == (WORKERS + 1) * ROUNDS);
	CHECK(sum[1] == (WORKERS + 1) * ROUNDS * 3);
	CHECK(sum[PAGE / 8] == (WORKERS + 1) * ROUNDS * 2);
	CHECK(attached(id) == 1);
	CHECK(semctl(semaphores, 0, GETVAL) == 1);
	CHECK(!shmdt(sum));
	remove_segment(id);
	CHECK(!semctl(semaphores, 0, IPC_RMID));
}

static key_t find_key(void)
{
	key_t key = 0x63700000 + getpid();

	while (shmget(key, 0, 0) >= 0 || semget(key, 0, 0) >= 0 ||
	       msgget(key, 0) >= 0)
		key += 0x10000;
	return key;
}

static int work_by_key(key_t key)
{
	int id = shmget(key, PAGE, 0), semaphores = semget(key, 1, 0);
	uint64_t *sum = shmat(id, NULL, 0);

	if (id < 0 || semaphores < 0 || sum == NOWHERE)
		return 2;
	CHECK(attached(id) == 2);
	add_up(sum, semaphores);
	sum[2] = 99;
	/* It ends without detaching. */
	return guest_failures != 0;
}

static void test_by_key(void)
{
	key_t key = find_key();
	int id = shmget(key, 2 * PAGE, IPC_CREAT | IPC_EXCL | 0600);
	int semaphores = semget(key, 1, IPC_CREAT | 0600);
	pid_t pid = fork();
	uint64_t *sum;

	if (!pid) {
		while (semctl(semaphores, 0, GETVAL) == 0)
			usleep(1000);
		_exit(work_by_key(key));
	}
	CHECK(shmget(key, PAGE, IPC_CREAT | IPC_EXCL | 0600) < 0);
	CHECK(errno == EEXIST);
	sum = shmat(id, NULL, 0);
	CHECK(!semctl(semaphores, 0, SETVAL, 1));
	add_up(sum, semaphores);
	CHECK(end_of(pid) == 0);
	CHECK(sum[0] == 2 * ROUNDS && sum[1] == 2 * ROUNDS * 3);
	CHECK(sum[2] == 99 && attached(id) == 1);
	CHECK(!shmdt(sum));
	remove_segment(id);
	CHECK(shmget(key, 0, 0) < 0 && errno == ENOENT);
	CHECK(!semctl(semaphores, 0, IPC_RMID));
}

/* ------- how often it is attached, while others use it ------- */

/* How many of so many answers were out of range. */
static unsigned count_wrong(int id, unsigned long least, unsigned long most)
{
	unsigned wrong = 0;

	for (int i = 0; i < 60; i++) {
		unsigned long count = attached(id);

		wrong += count < least || count > most;
	}
	return wrong;
}

/* Each page for itself, up to a store to the first. */
static int write_pages(uint8_t *at)
{
	for (uint64_t i = 0; !load(at); i++)
		store(at + (1 + i * 7 % 31) * PAGE, i);
	return 0;
}

static int attach_often(int id, const uint8_t *until)
{
	while (!load(until)) {
		uint8_t *at = shmat(id, NULL, 0);

		if (at == NOWHERE || shmdt(at))
			return 1;
	}
	return 0;
}

static void test_in_use(void)
{
	int id = make_segment(32 * PAGE), other = make_segment(PAGE);
	uint8_t *at = shmat(id, NULL, 0), *until = shmat(other, NULL, 0);
	pid_t pid = fork();

	if (!pid)
		_exit(write_pages(at));
	CHECK(count_wrong(id, 2, 2) == 0);
	store(at, 1);
	CHECK(end_of(pid) == 0 && attached(id) == 1);
	CHECK(!shmdt(at));
	pid = fork();
	if (!pid)
		_exit(attach_often(id, until));
	CHECK(count_wrong(id, 0, 1) == 0);
	store(until, 1);
	CHECK(end_of(pid) == 0 && attached(id) == 0);
	CHECK(!shmdt(until));
	remove_segment(id);
	remove_segment(other);
}

/* ------- semaphores ------- */

static void test_semaphores(void)
{
	const struct timespec soon = { 0, 20000000 };
	int id = make_semaphores(3);
	unsigned short values[3] = { 4, 0, 6 }, found[3] = { 9, 9, 9 };
	struct sembuf changes[2] = { { 0, -4, 0 }, { 2, 1, 0 } };
	struct sembuf wait = { 0, -1, 0 };
	struct semid_ds set;

	CHECK(!semctl(id, 0, SETALL, values));
	CHECK(!semop(id, changes, 2));
	CHECK(!semctl(id, 0, GETALL, found));
	CHECK(found[0] == 0 && found[1] == 0 && found[2] == 7);
	CHECK(semctl(id, 2, GETPID) == getpid());
	CHECK(!semctl(id, 0, IPC_STAT, &set) && set.sem_nsems == 3);
	CHECK(change_semaphore(id, 0, -1, IPC_NOWAIT) && errno == EAGAIN);
	CHECK(semtimedop(id, &wait, 1, &soon) && errno == EAGAIN);
	CHECK(change_semaphore(id, 3, 1, 0) && errno == EFBIG);
	CHECK(semop(id, NULL, 1) && errno == EFAULT);
	CHECK(!change_semaphore(id, 1, 0, 0));
	CHECK(!semctl(id, 0, IPC_RMID));
	CHECK(change_semaphore(id, 0, 1, 0) && errno == EINVAL);
}

static int shared_set, shared_queue, passed;

/* Waits in the kernel, while others must run. */
static void *wait_for_turn(void *number)
{
	int own = (int)(intptr_t)number;

	for (int i = 0; i < 20; i++) {
		CHECK(!change_semaphore(shared_set, own, -1, 0));
		passed++;
		CHECK(!change_semaphore(shared_set, (own + 1) % WORKERS, 1,
					0));
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[WORKERS];

	shared_set = make_semaphores(WORKERS);
	for (int i = 0; i < WORKERS; i++)
		CHECK(!pthread_create(&threads[i], NULL, wait_for_turn,
				      (void *)(intptr_t)i));
	CHECK(!change_semaphore(shared_set, 0, 1, 0));
	for (int i = 0; i < WORKERS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	CHECK(passed == WORKERS * 20);
	CHECK(!semctl(shared_set, 0, IPC_RMID));
}

/* ------- messages ------- */

struct text {
	long type;
	char bytes[64];
};

static int send(int queue, long type, const char *text)
{
	struct text message = { .type = type };

	snprintf(message.bytes, sizeof(message.bytes), "%s", text);
	return msgsnd(queue, &message, strlen(text) + 1, 0);
}

static bool receive(int queue, long type, int flags, const char *text)
{
	struct text message;
	ssize_t size = msgrcv(queue, &message, sizeof(message.bytes), type,
			      flags);

	return size == (ssize_t)strlen(text) + 1 &&
	       !strcmp(message.bytes, text) &&
	       (type <= 0 || message.type == type);
}

static void test_messages(void)
{
	int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	struct msqid_ds about;
	struct text message;

	CHECK(queue >= 0);
	CHECK(!send(queue, 1, "first") && !send(queue, 2, "second"));
	CHECK(!send(queue, 1, "third"));
	CHECK(!msgctl(queue, IPC_STAT, &about) && about.msg_qnum == 3);
	CHECK(receive(queue, 2, 0, "second") && receive(queue, 0, 0, "first"));
	CHECK(msgrcv(queue, &message, 3, 0, 0) < 0 && errno == E2BIG);
	CHECK(msgrcv(queue, &message, 3, 0, MSG_NOERROR) == 3);
	CHECK(msgrcv(queue, &message, 64, 0, IPC_NOWAIT) < 0);
	CHECK(errno == ENOMSG);
	CHECK(send(queue, 0, "none") && errno == EINVAL);
	CHECK(msgsnd(queue, NULL, 8, 0) && errno == EFAULT);
	CHECK(msgsnd(queue, NULL, SIZE_MAX, 0) && errno == EFAULT);
	CHECK(msgsnd(queue, &message, SIZE_MAX, 0) && errno == EINVAL);
	CHECK(msgsnd(queue, &message, (size_t)1 << 40, 0) && errno == EINVAL);
	CHECK(!send(queue, 3, "last"));
	CHECK(msgrcv(queue, &message, SIZE_MAX, 0, 0) < 0 && errno == EINVAL);
	CHECK(msgrcv(queue, &message, (size_t)1 << 40, 0, 0) == 5);
	CHECK(!msgctl(queue, IPC_RMID, NULL));
}

static void *answer_messages(void *unused)
{
	for (int i = 0; i < 30; i++) {
		CHECK(receive(shared_queue, 1, 0, "question"));
		CHECK(!send(shared_queue, 2, "answer"));
	}
	return unused;
}

static void ask(void)
{
	for (int i = 0; i < 30; i++) {
		CHECK(!send(shared_queue, 1, "question"));
		CHECK(receive(shared_queue, 2, 0, "answer"));
	}
}

static void test_conversation(void)
{
	pthread_t thread;
	pid_t pid;

	shared_queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	CHECK(!pthread_create(&thread, NULL, answer_messages, NULL));
	ask();
	CHECK(!pthread_join(thread, NULL));
	pid = fork();
	if (!pid) {
		answer_messages(NULL);
		_exit(guest_failures != 0);
	}
	ask();
	CHECK(end_of(pid) == 0);
	CHECK(!msgctl(shared_queue, IPC_RMID, NULL));
}

int main(void)
{
	test_attach();
	test_places();
	test_twice();
	test_inherited();
	test_by_key();
	test_in_use();
	test_semaphores();
	test_threads();
	test_messages();
	test_conversation();
	return guest_end();
}
