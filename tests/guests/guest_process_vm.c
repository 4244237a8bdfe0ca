/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_process_vm.c - process_vm_readv() and process_vm_writev() of oneself */
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/guests/guest.h"
#include "tests/guests/guest_machine.h"

enum { PAGE = 4096, MANY = 40 * PAGE };

static char from[MANY], to[MANY];

static char *map(size_t size, int prot)
{
	char *at = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

static struct iovec part(void *at, size_t size)
{
	return (struct iovec){ at, size };
}

static ssize_t get(struct iovec own, struct iovec other)
{
	return process_vm_readv(getpid(), &own, 1, &other, 1, 0);
}

static ssize_t put(struct iovec own, struct iovec other)
{
	return process_vm_writev(getpid(), &own, 1, &other, 1, 0);
}

static void fill(void)
{
	for (size_t i = 0; i < MANY; i++)
		from[i] = (char)(i * 7 + i / 251);
	memset(to, 0, MANY);
}

static void test_all(void)
{
	struct iovec own[3] = { part(to, 5), part(NULL, 0),
				part(to + 100, 3 * PAGE) };
	struct iovec other[2] = { part(from + 1, PAGE + 1),
				  part(from + 3 * PAGE, PAGE) };

	fill();
	CHECK(get(part(to, MANY), part(from, MANY)) == MANY);
	CHECK(!memcmp(from, to, MANY));
	memset(to, 0, MANY);
	CHECK(put(part(from, MANY - 1), part(to, MANY)) == MANY - 1);
	CHECK(!memcmp(from, to, MANY - 1) && !to[MANY - 1]);
	memset(to, 0, MANY);
	CHECK(process_vm_readv(getpid(), own, 3, other, 2, 0) == 2 * PAGE + 1);
	CHECK(!memcmp(to, from + 1, 5) && !to[5]);
	CHECK(!memcmp(to + 100, from + 6, PAGE - 4));
	CHECK(!memcmp(to + 100 + PAGE - 4, from + 3 * PAGE, PAGE));
	CHECK(!to[100 + 2 * PAGE - 4]);
}

/* Up to where it cannot go on. */
static void test_partly(void)
{
	char *at = map(3 * PAGE, PROT_READ | PROT_WRITE);
	struct iovec parts[2];

	fill();
	munmap(at + 2 * PAGE, PAGE);
	memset(at, 3, 2 * PAGE);
	CHECK(get(part(to, PAGE), part(at + 2 * PAGE - 10, 20)) == 10);
	CHECK(to[9] == 3 && to[10] == 0);
	CHECK(put(part(from, 20), part(at + 2 * PAGE - 10, 20)) == 10);
	CHECK(!memcmp(at + 2 * PAGE - 10, from, 10));
	CHECK(get(part(at + 2 * PAGE - 10, 20), part(from, 20)) == 10);
	CHECK(put(part(at + 2 * PAGE - 10, 20), part(to, 20)) == 10);
	parts[0] = part(at + 2 * PAGE, 1);
	parts[1] = part(from, 10);
	CHECK(process_vm_readv(getpid(), &parts[1], 1, parts, 2, 0) == -1);
	CHECK(errno == EFAULT);
	parts[0] = part(from, 10);
	parts[1] = part(at + 2 * PAGE, 1);
	CHECK(process_vm_writev(getpid(), parts, 2, &parts[0], 1, 0) == 10);
	/* What the program itself may not do, this may not either. */
	CHECK(!mprotect(at + PAGE, PAGE, PROT_READ));
	CHECK(put(part(from, 2 * PAGE), part(at, 2 * PAGE)) == PAGE);
	CHECK(put(part(from, 1), part(at + PAGE, 1)) == -1 && errno == EFAULT);
	CHECK(get(part(to, 1), part(at + PAGE, 1)) == 1);
	CHECK(!mprotect(at, PAGE, PROT_NONE));
	CHECK(get(part(to, 1), part(at, 1)) == -1 && errno == EFAULT);
	munmap(at, 2 * PAGE);
}

static long ask(pid_t pid, void *own, unsigned long count, void *other,
		unsigned long others, unsigned long flags)
{
	return syscall(SYS_process_vm_readv, (long)pid, own, count, other,
		       others, flags);
}

static void test_refused(void)
{
	struct iovec own = part(to, 8), other = part(from, 8);
	struct iovec none = part(to, 0), minus = part(to, (size_t)-1);
	struct iovec kernel = part((void *)(UINTPTR_MAX - PAGE), 8);
	char *const nowhere = (char *)16;
	pid_t pid = getpid(), ended = fork();

	if (!ended)
		_exit(0);
	CHECK(end_of(ended) == 0);
	CHECK(ask(pid, &own, 1, &other, 1, 1) == -1 && errno == EINVAL);
	CHECK(ask(pid, &own, 1025, &other, 1, 0) == -1 && errno == EINVAL);
	CHECK(ask(pid, &own, 1, &other, 1025, 0) == -1 && errno == EINVAL);
	CHECK(ask(pid, nowhere, 1, &other, 1, 0) == -1 && errno == EFAULT);
	CHECK(ask(pid, &own, 1, nowhere, 1, 0) == -1 && errno == EFAULT);
	CHECK(ask(pid, &minus, 1, &other, 1, 0) == -1 && errno == EINVAL);
	CHECK(ask(pid, &own, 1, &minus, 1, 0) == -1 && errno == EINVAL);
	CHECK(ask(pid, &kernel, 1, &other, 1, 0) == -1 && errno == EFAULT);
	CHECK(ask(pid, &own, 1, &kernel, 1, 0) == -1 && errno == EFAULT);
	CHECK(ask(ended, &own, 1, &other, 1, 0) == -1 && errno == ESRCH);
	CHECK(ask(0, &own, 1, &other, 1, 0) == -1 && errno == ESRCH);
	CHECK(ask(pid, NULL, 0, nowhere, 1, 0) == 0);
	CHECK(ask(ended, &own, 1, &none, 1, 0) == 0);
	CHECK(ask(ended, &own, 1, NULL, 0, 0) == 0);
	CHECK(ask(ended, &none, 1, nowhere, 1, 0) == 0);
}

/* ------- code, and threads ------- */

COPIED_CODE static int answer(void)
{
	__asm__ volatile("");
	return 1;
}

static void test_code(void)
{
	unsigned char code[ANSWER_SIZE];
	char *at = map(PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	int (*volatile ask_it)(void) = (int (*)(void))(void *)at;

	CHECK(get(part(at, 64), part((void *)(uintptr_t)answer, 64)) == 64);
	CHECK(ask_it() == 1);
	write_answer(code, 42);
	CHECK(put(part(code, sizeof(code)), part(at, sizeof(code))) ==
	      sizeof(code));
	CHECK(ask_it() == 42);
	munmap(at, PAGE);
}

static void *by_thread(void *tid)
{
	struct iovec own = part(to, 8), other = part(from, 8);

	fill();
	CHECK(process_vm_readv(*(pid_t *)tid, &own, 1, &other, 1, 0) == 8);
	own.iov_base = to + 8;
	CHECK(process_vm_readv((pid_t)syscall(SYS_gettid), &own, 1, &other, 1,
			       0) == 8);
	CHECK(!memcmp(to, from, 8) && !memcmp(to + 8, from, 8));
	return NULL;
}

static void test_threads(void)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, by_thread, &tid));
	CHECK(!pthread_join(thread, NULL));
}

int main(void)
{
	test_all();
	test_partly();
	test_refused();
	test_code();
	test_threads();
	return guest_end();
}
