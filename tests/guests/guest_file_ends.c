/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_file_ends.c - mapped pages behind the end of their file: moved, cut,
 * protected, mapped once more, until the file has grown; and what has no file
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/guests/guest.h"

enum { PAGE = 4096 };

static sigjmp_buf back;
static volatile int last_signal, last_code;
static int kind;		/* MAP_SHARED or MAP_PRIVATE */
/* Where no kind of guest has anything. */
static char *next_at = (char *)(uintptr_t)0x20000000;

static void jump(int number, siginfo_t *info, void *context)
{
	(void)context;
	last_signal = number;
	last_code = info->si_code;
	siglongjmp(back, 1);
}

__attribute__((noinline)) static char touch(volatile char *at, int write)
{
	if (!sigsetjmp(back, 1)) {
		if (write)
			*at = 'w';
		else
			(void)*at;
		return 'k';
	}
	if (last_signal == SIGBUS)
		return last_code == BUS_ADRERR ? 'B' : '?';
	return last_code == SEGV_MAPERR ? 'm' : 'a';
}

/*
 * What reading and writing each page does, by a letter each: k, it works; B,
 * behind the end; a, not allowed; m, not mapped.
 */
static int is_like(char *at, const char *expected)
{
	char found[32];
	volatile size_t i;

	CHECK(at != MAP_FAILED);
	for (i = 0; expected[i]; i++)
		found[i] = touch(at + i / 2 * PAGE + i % 2, i % 2);
	found[i] = 0;
	if (strcmp(found, expected) != 0)
		printf("%s, not %s\n", found, expected);
	return !strcmp(found, expected);
}

/* A file, the last page of which is not full. */
static int make_file(unsigned pages)
{
	int fd = (int)syscall(SYS_memfd_create, "end", 0);

	CHECK(fd >= 0 && !ftruncate(fd, pages * PAGE - 100));
	return fd;
}

static void resize(int fd, unsigned pages)
{
	CHECK(!ftruncate(fd, pages * PAGE));
}

/* With nothing next to it. */
static char *map(int fd, unsigned pages, int prot)
{
	next_at += 64 * PAGE;
	return mmap(next_at, pages * PAGE, prot, kind | MAP_FIXED, fd, 0);
}

static char *move(char *at, unsigned old_pages, unsigned pages, int flags)
{
	next_at += 64 * PAGE;
	return mremap(at, old_pages * PAGE, pages * PAGE,
		      MREMAP_MAYMOVE | MREMAP_FIXED | flags, next_at);
}

#define BOTH (PROT_READ | PROT_WRITE)

static void test_moved(void)
{
	int fd = make_file(2);
	char *at = map(fd, 4, BOTH), *to;

	CHECK(is_like(at, "kkkkBBBB"));
	to = move(at, 4, 6, 0);
	CHECK(is_like(to, "kkkkBBBBBBBBmm") && is_like(at, "mm"));
	resize(fd, 3);
	CHECK(is_like(to, "kkkkkkBBBBBB"));
	resize(fd, 5);
	CHECK(is_like(to, "kkkkkkkkkkBB"));
	resize(fd, 1);
	CHECK(is_like(to, "kkBBBBBBBBBB"));
	resize(fd, 9);
	CHECK(is_like(to, "kkkkkkkkkkkk"));
	close(fd);
	/* Only what is behind the end. */
	fd = make_file(1);
	at = map(fd, 4, BOTH);
	to = move(at + 2 * PAGE, 1, 1, 0);
	CHECK(is_like(to, "BB") && is_like(at, "kkBBmmBB"));
	resize(fd, 3);
	CHECK(is_like(to, "kk") && is_like(at, "kkkkmmBB"));
	close(fd);
}

static void test_parts(void)
{
	int fd = make_file(1);
	char *at = map(fd, 5, BOTH);

	CHECK(mremap(at, 5 * PAGE, 4 * PAGE, 0) == at);
	CHECK(!munmap(at + 2 * PAGE, PAGE) && is_like(at, "kkBBmmBBmm"));
	resize(fd, 4);
	CHECK(is_like(at, "kkkkmmkkmm"));
	close(fd);
	fd = make_file(1);
	at = map(fd, 5, BOTH);
	CHECK(!mprotect(at + 2 * PAGE, PAGE, PROT_READ));
	CHECK(!mprotect(at + 3 * PAGE, PAGE, PROT_NONE));
	CHECK(is_like(at, "kkBBBaaaBB"));
	resize(fd, 5);
	CHECK(is_like(at, "kkkkkaaakk"));
	close(fd);
	fd = make_file(1);
	at = map(fd, 4, BOTH);
	CHECK(mmap(at + 2 * PAGE, PAGE, BOTH,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	      at + 2 * PAGE);
	CHECK(is_like(at, "kkBBkkBB"));
	resize(fd, 4);
	CHECK(is_like(at, "kkkkkkkk"));
	close(fd);
}

static void test_protected(void)
{
	int fd = make_file(1);
	char *at = map(fd, 3, PROT_READ);

	CHECK(is_like(at, "kaBaBa"));
	resize(fd, 2);
	CHECK(is_like(at, "kakaBa") && !mprotect(at, 3 * PAGE, BOTH));
	CHECK(is_like(at, "kkkkBB"));
	close(fd);
	fd = make_file(1);
	at = map(fd, 2, PROT_NONE);
	CHECK(is_like(at, "aaaa") && !mprotect(at, 2 * PAGE, PROT_READ));
	CHECK(is_like(at, "kaBa"));
	close(fd);
}

/* The kernel writes there as soon as the file is longer. */
static void test_kernel(void)
{
	int fd = make_file(1), zeros = open("/dev/zero", O_RDONLY);
	char *at = map(fd, 3, BOTH);
	pid_t pid;

	CHECK(read(zeros, at + 2 * PAGE, 10) == -1 && errno == EFAULT);
	resize(fd, 2);
	CHECK(read(zeros, at + PAGE, 10) == 10);
	CHECK(pwrite(fd, "a", 1, 2 * PAGE) == 1);
	CHECK(read(zeros, at + 2 * PAGE + 1, 10) == 10);
	CHECK(at[2 * PAGE] == 'a' && is_like(at, "kkkkkk"));
	close(fd);
	/* Another process has made it longer. */
	fd = make_file(1);
	at = map(fd, 3, BOTH);
	pid = fork();
	if (!pid)
		_exit(ftruncate(fd, 3 * PAGE) != 0);
	CHECK(end_of(pid) == 0 && read(zeros, at + 2 * PAGE, 10) == 10);
	CHECK(pread(zeros, at + PAGE, 10, 0) == 10);
	CHECK(is_like(at, "kkkkkk"));
	close(zeros);
	close(fd);
}

static void test_again(void)
{
	int fd = make_file(2);
	char *at = map(fd, 3, BOTH), *to = move(at, 0, 4, 0);

	if (kind == MAP_PRIVATE) {
		CHECK(to == MAP_FAILED && errno == EINVAL);
		close(fd);
		return;
	}
	CHECK(is_like(to, "kkkkBBBBmm"));
	resize(fd, 3);
	CHECK(is_like(to, "kkkkkkBBmm") && is_like(at, "kkkkkkmm"));
	at[2 * PAGE] = 5;
	CHECK(to[2 * PAGE] == 5);
	to = move(at + 2 * PAGE, 0, 2, 0);
	CHECK(is_like(to, "kkBBmm"));
	close(fd);
}

static void test_left_behind(void)
{
	int fd = make_file(2);
	char *at = map(fd, 3, BOTH), *to;

	at[9] = 'x';
	to = move(at, 3, 3, MREMAP_DONTUNMAP);
	/* Linux before 5.13 does so with nothing that is a file's. */
	if (to != MAP_FAILED) {
		CHECK(to[9] == 'x' && at[9] == (kind == MAP_SHARED ? 'x' : 0));
		CHECK(is_like(to, "kkkkBBmm") && is_like(at, "kkkkBBmm"));
	}
	close(fd);
}

/* Each mapping of /dev/zero is new memory, which children share. */
static void test_zeros(void)
{
	int fd = open("/dev/zero", O_RDWR);
	char *at = mmap(NULL, 2 * PAGE, BOTH, MAP_SHARED, fd, 0);
	char *other = mmap(NULL, 2 * PAGE, BOTH, MAP_SHARED, fd, 0), *behind;
	pid_t pid;

	CHECK(at != MAP_FAILED && other != MAP_FAILED);
	at[0] = 1;
	CHECK(other[0] == 0);
	pid = fork();
	if (!pid) {
		other[1] = at[0] + 6;
		_exit(0);
	}
	CHECK(end_of(pid) == 0 && other[1] == 7 && at[1] == 0);
	behind = mmap(NULL, 2 * PAGE, BOTH, MAP_SHARED, fd, PAGE);
	CHECK(is_like(behind, "kkBB"));
	behind = mmap(NULL, PAGE, BOTH, MAP_PRIVATE, fd, PAGE);
	CHECK(is_like(behind, "kk"));
	close(fd);
}

static void test_not_to_write(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	char *at = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	CHECK(is_like(at, "ka"));
	CHECK(mprotect(at, PAGE, BOTH) == -1 && errno == EACCES);
	CHECK(is_like(at, "ka") && !mprotect(at, PAGE, PROT_NONE));
	CHECK(is_like(at, "aa"));
	close(fd);
}

int main(void)
{
	install(SIGSEGV, jump, 0);
	install(SIGBUS, jump, 0);
	for (int i = 0; i < 2; i++) {
		kind = i ? MAP_PRIVATE : MAP_SHARED;
		test_moved();
		test_parts();
		test_protected();
		test_kernel();
		test_again();
		test_left_behind();
	}
	test_zeros();
	test_not_to_write();
	return guest_end();
}
