/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_mlock.c - memory that is locked: what may be, what is counted, and what
 * locked memory refuses.  Root also looks with another user's rights.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/guests/guest.h"

#define PAGE 4096u
#define FAILS(call, error) (errno = 0, (call) == -1 && errno == (error))

static char *map(size_t pages, int prot, int flags)
{
	char *at = mmap(NULL, pages * PAGE, prot,
			MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* VmLck of /proc/self/status, in pages. */
static long locked(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[200];
	long size = -1;

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "VmLck: %ld kB", &size) == 1)
			break;
	if (status)
		fclose(status);
	return size / 4;
}

static void set_limit(rlim_t bytes)
{
	const struct rlimit limit = { bytes, bytes };

	CHECK(!setrlimit(RLIMIT_MEMLOCK, &limit));
}

/* ------- arguments ------- */

static void test_arguments(void)
{
	char *at = map(4, PROT_READ | PROT_WRITE, 0);
	size_t all = SIZE_MAX;

	CHECK(!mlock(at, 0) && !munlock(at, 0));
	CHECK(!mlock(NULL, 0) && !munlock((void *)-4096, 0));
	CHECK(!mlock(at + 1, 1) && locked() == 1);
	CHECK(!mlock(at + PAGE - 1, 2) && locked() == 2);
	CHECK(!mlock(at, 4 * PAGE) && locked() == 4);
	CHECK(!mlock(at, 4 * PAGE) && locked() == 4);
	CHECK(!munlock(at + PAGE, 1) && locked() == 3);
	CHECK(!munlock(at, 4 * PAGE) && locked() == 0);
	CHECK(!munlock(at, 4 * PAGE));
	/* The size is rounded up to 0. */
	CHECK(!mlock(at, all) && !munlock(at, all) && locked() == 0);
	CHECK(FAILS(munlock(at, all - 2 * PAGE), EINVAL));
	CHECK(FAILS(munlock((void *)8, 1), ENOMEM));
	CHECK(FAILS(munlock((void *)-4096, 1), ENOMEM) || errno == EINVAL);
	CHECK(FAILS(syscall(SYS_mlock2, at, PAGE, 2), EINVAL));
	CHECK(FAILS(syscall(SYS_mlock2, at, 0, -1), EINVAL));
	CHECK(!syscall(SYS_mlock2, at, 2 * PAGE, 1) && locked() == 2);
	CHECK(!syscall(SYS_mlock2, at, 2 * PAGE, 0) && locked() == 2);
	CHECK(FAILS(mlockall(0), EINVAL));
	CHECK(FAILS(mlockall(8), EINVAL));
	CHECK(FAILS(mlockall(MCL_ONFAULT), EINVAL));
	CHECK(!munlockall() && locked() == 0);
	munmap(at, 4 * PAGE);
}

/* What is before a hole is locked; what has no permission counts, but fails. */
static void test_holes(void)
{
	char *at = map(6, PROT_READ | PROT_WRITE, 0);

	munmap(at + 2 * PAGE, PAGE);
	CHECK(FAILS(mlock(at, 6 * PAGE), ENOMEM) && locked() == 2);
	CHECK(FAILS(mlock(at + 2 * PAGE, PAGE), ENOMEM) && locked() == 2);
	CHECK(FAILS(munlock(at, 6 * PAGE), ENOMEM) && locked() == 0);
	CHECK(!mprotect(at + 4 * PAGE, PAGE, PROT_NONE));
	CHECK(FAILS(mlock(at + 3 * PAGE, 3 * PAGE), ENOMEM) && locked() == 3);
	CHECK(!syscall(SYS_mlock2, at + 3 * PAGE, 3 * PAGE, 1));
	CHECK(!munlock(at + 3 * PAGE, 3 * PAGE) && locked() == 0);
	munmap(at, 6 * PAGE);
}

/* ------- what becomes of it ------- */

static void test_refused(void)
{
	char *at = map(4, PROT_READ | PROT_WRITE, 0);

	memset(at, 7, 4 * PAGE);
	CHECK(!mlock(at + PAGE, PAGE));
	CHECK(FAILS(madvise(at + PAGE, PAGE, MADV_DONTNEED), EINVAL));
	CHECK(FAILS(madvise(at + PAGE, PAGE, MADV_FREE), EINVAL));
	CHECK(!madvise(at, PAGE, MADV_DONTNEED) && !at[0] && at[PAGE] == 7);
	CHECK(FAILS(msync(at, 4 * PAGE, MS_INVALIDATE), EBUSY));
	CHECK(!msync(at, 4 * PAGE, MS_SYNC));
	CHECK(!munlock(at, 4 * PAGE));
	CHECK(!madvise(at + PAGE, PAGE, MADV_DONTNEED) && !at[PAGE]);
	munmap(at, 4 * PAGE);
}

static void test_moved(void)
{
	char *at = map(4, PROT_READ | PROT_WRITE, 0), *moved;

	CHECK(!mlock(at, 4 * PAGE));
	CHECK(!munmap(at + 3 * PAGE, PAGE) && locked() == 3);
	moved = mremap(at, 3 * PAGE, 200 * PAGE, MREMAP_MAYMOVE);
	CHECK(moved != MAP_FAILED && locked() == 200);
	at = mremap(moved, 200 * PAGE, PAGE, 0);
	CHECK(at == moved && locked() == 1);
	CHECK(mmap(at, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		   -1, 0) == at && locked() == 0);
	munmap(at, PAGE);
	at = map(3, PROT_READ, MAP_LOCKED);
	CHECK(at && locked() == 3);
	munmap(at, 3 * PAGE);
	CHECK(locked() == 0);
}

static void test_future(void)
{
	char *at = map(2, PROT_READ | PROT_WRITE, 0), *heap = sbrk(0);

	CHECK(!mlockall(MCL_FUTURE) && locked() == 0);
	munmap(at, 2 * PAGE);
	at = map(2, PROT_READ | PROT_WRITE, 0);
	CHECK(at && locked() == 2);
	CHECK(sbrk(16 * PAGE) == heap && locked() == 18);
	CHECK(!brk(heap) && locked() == 2);
	CHECK(!mlockall(MCL_CURRENT) && locked() > 50);
	munmap(at, 2 * PAGE);
	CHECK(!munlockall() && locked() == 0);
	at = map(2, PROT_READ | PROT_WRITE, 0);
	CHECK(at && locked() == 0);
	munmap(at, 2 * PAGE);
}

/* A child has none of it; another program neither. */
static void test_child(void)
{
	char *at = map(2, PROT_READ | PROT_WRITE, 0);
	pid_t child;

	CHECK(!mlock(at, PAGE) && !mlockall(MCL_FUTURE));
	child = fork();
	if (!child) {
		char *own;

		CHECK(locked() == 0);
		own = map(2, PROT_READ, 0);
		CHECK(own && locked() == 0);
		CHECK(!mlock(at, 2 * PAGE) && locked() == 2);
		fflush(stdout);
		_exit(guest_failures != 0);
	}
	CHECK(end_of(child) == 0);
	CHECK(locked() == 1);
	CHECK(!munlockall());
	munmap(at, 2 * PAGE);
}

/* ------- without privileges ------- */

static void test_limit(void)
{
	char *at = map(32, PROT_READ | PROT_WRITE, 0), *more;

	set_limit(16 * PAGE + 100);
	CHECK(!mlock(at, 16 * PAGE) && locked() == 16);
	CHECK(FAILS(mlock(at + 16 * PAGE, PAGE), ENOMEM) && locked() == 16);
	/* What is locked counts once. */
	CHECK(!mlock(at + PAGE, 15 * PAGE) && locked() == 16);
	CHECK(FAILS(mlock(at, 17 * PAGE), ENOMEM) && locked() == 16);
	CHECK(!munlock(at, PAGE) && !mlock(at + 16 * PAGE, PAGE));
	CHECK(FAILS(syscall(SYS_mlock2, at, PAGE, 1), ENOMEM));
	CHECK(FAILS(mlock(at, SIZE_MAX / 2), ENOMEM));
	CHECK(FAILS(mlockall(MCL_CURRENT), ENOMEM));
	CHECK(!map(1, PROT_READ, MAP_LOCKED) && errno == EAGAIN);
	more = map(1, PROT_READ, 0);
	CHECK(more);
	CHECK(mremap(at + PAGE, 16 * PAGE, 17 * PAGE, MREMAP_MAYMOVE) ==
		      MAP_FAILED && errno == EAGAIN);
	CHECK(!mlockall(MCL_FUTURE));
	CHECK(!map(1, PROT_READ, 0) && errno == EAGAIN);
	CHECK(sbrk(PAGE) == (void *)-1);
	CHECK(!munlockall() && locked() == 0);
	CHECK(sbrk(PAGE) != (void *)-1);
	munmap(more, PAGE);
	munmap(at, 32 * PAGE);
}

static void test_nothing(void)
{
	char *at = map(2, PROT_READ | PROT_WRITE, 0);

	CHECK(!mlock(at, PAGE));
	set_limit(0);
	CHECK(FAILS(mlock(at, PAGE), EPERM));
	CHECK(FAILS(mlock(at, 0), EPERM));
	CHECK(FAILS(syscall(SYS_mlock2, at, PAGE, 0), EPERM));
	CHECK(FAILS(syscall(SYS_mlock2, at, PAGE, 2), EINVAL));
	CHECK(FAILS(mlockall(MCL_FUTURE), EPERM));
	CHECK(FAILS(mlockall(0), EINVAL));
	CHECK(!map(1, PROT_READ, MAP_LOCKED) && errno == EPERM);
	CHECK(locked() == 1 && !munlock(at, PAGE) && locked() == 0);
	CHECK(!munlockall());
	munmap(at, 2 * PAGE);
}

/* Limits do not count for whoever has CAP_IPC_LOCK. */
static void test_exempt(void)
{
	char *at = map(32, PROT_READ | PROT_WRITE, 0);

	set_limit(0);
	CHECK(!mlock(at, 32 * PAGE) && locked() == 32);
	CHECK(!mlockall(MCL_CURRENT) && !munlockall());
	munmap(at, 32 * PAGE);
}

static void without_rights(void)
{
	set_limit(8192 * 1024);
	CHECK(!setresgid(65534, 65534, 65534));
	CHECK(!setresuid(65534, 65534, 65534));
	test_arguments();
	test_holes();
	test_limit();
	test_nothing();
}

int main(void)
{
	pid_t child;

	setvbuf(stdout, NULL, _IONBF, 0);
	test_arguments();
	test_holes();
	test_refused();
	test_moved();
	test_future();
	test_child();
	child = fork();
	if (!child) {
		if (geteuid())
			test_limit(), test_nothing();
		else
			without_rights();
		_exit(guest_failures != 0);
	}
	CHECK(end_of(child) == 0);
	if (!geteuid()) {
		child = fork();
		if (!child) {
			test_exempt();
			_exit(guest_failures != 0);
		}
		CHECK(end_of(child) == 0);
	}
	return guest_end();
}
