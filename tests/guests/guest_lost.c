/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_lost.c - mapped files that another process cuts short */
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/guests/guest.h"

enum { PAGE = 4096, PAGES = 6 };

static char name[64];
static sigjmp_buf back;
static volatile int caught;
static void *volatile where;

static void on_sigbus(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	caught++;
	where = info->si_addr;
	siglongjmp(back, 1);
}

static int make_file(void)
{
	char bytes[PAGE];
	int fd;

	snprintf(name, sizeof(name), "/tmp/cprec-lost-XXXXXX");
	fd = mkstemp(name);
	CHECK(fd >= 0);
	for (int i = 0; i < PAGES; i++) {
		memset(bytes, 'a' + i, sizeof(bytes));
		CHECK(write(fd, bytes, sizeof(bytes)) == sizeof(bytes));
	}
	return fd;
}

/* Another process does it: nobody tells us. */
static void cut(off_t size)
{
	pid_t pid = fork();

	if (!pid)
		_exit(truncate(name, size) != 0);
	CHECK(end_of(pid) == 0);
}

/* The byte, or -1 if it is not there. */
static int get(volatile char *at)
{
	if (sigsetjmp(back, 1))
		return -1;
	return *at;
}

static int put(volatile char *at, char byte)
{
	if (sigsetjmp(back, 1))
		return -1;
	*at = byte;
	return 0;
}

static void test_file(int flags)
{
	int fd = make_file(), ends[2];
	char *map = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, flags, fd,
			 0);

	bool is_shared = flags == MAP_SHARED;

	CHECK(map != MAP_FAILED);
	CHECK(get(map) == 'a' && get(map + PAGE) == 'b');
	CHECK(get(map + 3 * PAGE) == 'd');
	/* Whether a private mapping sees a changed page is not specified. */
	cut(is_shared ? PAGE + 10 : 2 * PAGE);
	caught = 0;
	CHECK(get(map) == 'a');
	CHECK(get(map + PAGE + 9) == 'b');
	CHECK(get(map + PAGE + 10) == (is_shared ? 0 : 'b'));
	CHECK(caught == 0);
	/* Seen before, and not. */
	CHECK(get(map + 3 * PAGE) == -1);
	CHECK(caught == 1);
	CHECK((uintptr_t)where / PAGE == (uintptr_t)map / PAGE + 3);
	CHECK(get(map + 3 * PAGE + 8) == -1);
	CHECK(where == map + 3 * PAGE + 8);
	CHECK(get(map + 4 * PAGE) == -1);
	CHECK(put(map + 5 * PAGE, 1) == -1);
	CHECK(put(map + 2 * PAGE, 1) == -1);
	CHECK(caught == 5);
	/* The kernel. */
	CHECK(!pipe(ends));
	CHECK(write(ends[1], map + 4 * PAGE, 1) == -1 && errno == EFAULT);
	CHECK(caught == 5);
	/* It grows again. */
	cut(PAGES * PAGE);
	CHECK(get(map + 3 * PAGE) == 0);
	CHECK(put(map + 4 * PAGE, 'x') == 0);
	CHECK(get(map + 4 * PAGE) == 'x');
	CHECK(caught == 5);
	munmap(map, PAGES * PAGE);
	close(ends[0]);
	close(ends[1]);
	close(fd);
	unlink(name);
}

/* What the kernel meets with first. */
static void test_kernel(void)
{
	int fd = make_file(), ends[2];
	char *map = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			 MAP_SHARED, fd, 0);

	CHECK(map != MAP_FAILED);
	CHECK(!pipe(ends));
	cut(0);
	caught = 0;
	CHECK(write(ends[1], map + PAGE, 1) == -1 && errno == EFAULT);
	CHECK(access(map + 2 * PAGE, F_OK) == -1 && errno == EFAULT);
	CHECK(nanosleep((void *)(map + 3 * PAGE), NULL) == -1 &&
	      errno == EFAULT);
	CHECK(caught == 0);
	CHECK(get(map + 3 * PAGE) == -1);
	CHECK(get(map + 4 * PAGE) == -1);
	CHECK(caught == 2);
	munmap(map, PAGES * PAGE);
	close(fd);
	unlink(name);
}

/* Nobody catches it. */
static void test_death(void)
{
	int fd = make_file();
	volatile char *map = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE,
				  fd, 0);
	pid_t pid;

	CHECK(map != MAP_FAILED);
	cut(0);
	pid = fork();
	if (!pid) {
		signal(SIGBUS, SIG_DFL);
		_exit(map[0]);
	}
	CHECK(end_of(pid) == 1000 + SIGBUS);
	close(fd);
	unlink(name);
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_sigbus,
				    .sa_flags = SA_SIGINFO };

	CHECK(!sigaction(SIGBUS, &action, NULL));
	test_file(MAP_SHARED);
	test_file(MAP_PRIVATE);
	test_kernel();
	test_death();
	return guest_end();
}
