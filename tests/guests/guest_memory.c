/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_memory.c - mmap and its family, faults on what it made, brk */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/guests/guest.h"
#include "tests/guests/guest_machine.h"

#define PAGE 4096u

static sigjmp_buf back;
static volatile int last_signal, last_code;
static char *volatile last_address;

static void jump(int number, siginfo_t *info, void *context)
{
	(void)context;
	last_signal = number;
	last_code = info->si_code;
	last_address = info->si_addr;
	siglongjmp(back, 1);
}

/* The signal that an access brings; 0 if none. */
static int poke(volatile char *at, int write)
{
	last_signal = 0;
	if (!sigsetjmp(back, 1)) {
		if (write)
			*at = 1;
		else
			(void)*at;
	}
	return last_signal;
}

static char *map(size_t size, int prot)
{
	char *at = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

static void test_anonymous(void)
{
	char *at = map(5 * PAGE, PROT_READ | PROT_WRITE);

	for (unsigned i = 0; i < 5 * PAGE; i += 512)
		CHECK(at[i] == 0);
	at[2 * PAGE] = 7;
	CHECK(!munmap(at + PAGE, PAGE));
	CHECK(poke(at + PAGE + 5, 0) == SIGSEGV);
	CHECK(last_code == SEGV_MAPERR && last_address == at + PAGE + 5);
	CHECK(at[2 * PAGE] == 7 && at[0] == 0);
	CHECK(mmap(at + PAGE, PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		   0) == at + PAGE);
	CHECK(at[PAGE] == 0);
	CHECK(mmap(at, PAGE, PROT_READ,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		   0) == MAP_FAILED);
	CHECK(errno == EEXIST);
	CHECK(munmap(at + 1, PAGE) == -1 && errno == EINVAL);
	CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	      MAP_FAILED);
	CHECK(errno == EINVAL);
	CHECK(!munmap(at, 5 * PAGE));
}

static void test_protection(void)
{
	char *at = map(3 * PAGE, PROT_READ | PROT_WRITE);

	at[PAGE] = 42;
	CHECK(!mprotect(at + PAGE, PAGE, PROT_READ));
	CHECK(poke(at + PAGE, 0) == 0 && at[PAGE] == 42);
	CHECK(poke(at + PAGE + 99, 1) == SIGSEGV);
	CHECK(last_code == SEGV_ACCERR && last_address == at + PAGE + 99);
	CHECK(!mprotect(at + PAGE, PAGE, PROT_NONE));
	CHECK(poke(at + PAGE + 1, 0) == SIGSEGV && last_code == SEGV_ACCERR);
	CHECK(!mprotect(at, 3 * PAGE, PROT_READ | PROT_WRITE));
	CHECK(poke(at + PAGE, 1) == 0);
	CHECK(!munmap(at + PAGE, PAGE));
	CHECK(mprotect(at, 3 * PAGE, PROT_READ) == -1 && errno == ENOMEM);
	munmap(at, 3 * PAGE);
}

/* As with a member of a structure that is not there, before NULL. */
static void test_last_page(void)
{
	char *volatile at = (char *)-8;

	for (int write = 0; write < 2; write++) {
		CHECK(poke(at, write) == SIGSEGV && last_address == at);
		last_address = NULL;
	}
}

/* An access across pages faults where it first may not go. */
static void test_crossing(void)
{
	char *at = map(2 * PAGE, PROT_READ | PROT_WRITE);

	munmap(at + PAGE, PAGE);
	last_signal = 0;
	if (!sigsetjmp(back, 1))
		*(volatile uint64_t *)(void *)(at + PAGE - 4) = 1;
	CHECK(last_signal == SIGSEGV && last_address == at + PAGE);
	CHECK(at[PAGE - 4] == 0);
	munmap(at, PAGE);
}

/* The kernel meets the same limits as the program. */
static void test_efault(void)
{
	char *at = map(2 * PAGE, PROT_READ | PROT_WRITE);
	char *volatile nowhere = (char *)16;
	int ends[2];
	char bytes[8] = "1234567";

	CHECK(!pipe(ends));
	mprotect(at + PAGE, PAGE, PROT_READ);
	CHECK(write(ends[1], bytes, 8) == 8);
	CHECK(read(ends[0], at + PAGE, 4) == -1 && errno == EFAULT);
	CHECK(read(ends[0], nowhere, 4) == -1 && errno == EFAULT);
	CHECK(write(ends[1], nowhere, 4) == -1 && errno == EFAULT);
	CHECK(read(ends[0], at + PAGE - 8, 8) == 8);
	CHECK(!memcmp(at + PAGE - 8, bytes, 8));
	CHECK(open(nowhere, O_RDONLY) == -1 && errno == EFAULT);
	close(ends[0]);
	close(ends[1]);
	munmap(at, 2 * PAGE);
}

static void test_remap(void)
{
	char *at = map(4 * PAGE, PROT_READ | PROT_WRITE), *to;

	for (int i = 0; i < 4; i++)
		at[i * PAGE] = (char)(i + 1);
	CHECK(mremap(at, 4 * PAGE, 2 * PAGE, 0) == at);
	CHECK(poke(at + 2 * PAGE, 0) == SIGSEGV);
	to = mremap(at, 2 * PAGE, 64 * PAGE, MREMAP_MAYMOVE);
	CHECK(to != MAP_FAILED && to[0] == 1 && to[PAGE] == 2);
	CHECK(to[2 * PAGE] == 0 && to[64 * PAGE - 1] == 0);
	to[63 * PAGE] = 9;
	at = map(8 * PAGE, PROT_READ | PROT_WRITE);
	CHECK(mremap(to, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		     at + 3 * PAGE) == at + 3 * PAGE);
	CHECK(at[3 * PAGE] == 1 && at[4 * PAGE] == 2 && at[5 * PAGE] == 0);
	CHECK(poke(to, 0) == SIGSEGV && to[63 * PAGE] == 9);
	CHECK(mremap(at + 1, PAGE, PAGE, 0) == MAP_FAILED && errno == EINVAL);
	munmap(at, 8 * PAGE);
	munmap(to + 2 * PAGE, 62 * PAGE);
}

static void test_discard(void)
{
	char *at = map(3 * PAGE, PROT_READ | PROT_WRITE);

	memset(at, 5, 3 * PAGE);
	CHECK(!madvise(at + PAGE, PAGE, MADV_DONTNEED));
	CHECK(at[PAGE - 1] == 5 && at[PAGE] == 0 && at[2 * PAGE] == 5);
	CHECK(madvise(at + 1, PAGE, MADV_DONTNEED) == -1 && errno == EINVAL);
	munmap(at, 3 * PAGE);
	CHECK(madvise(at, PAGE, MADV_DONTNEED) == -1 && errno == ENOMEM);
}

static void check_hole(char *at, char *same)
{
	memset(at, 5, 20 * PAGE);
	CHECK(!madvise(at + PAGE, 17 * PAGE, MADV_REMOVE));
	CHECK(at[PAGE - 1] == 5 && at[18 * PAGE] == 5 && same[0] == 5);
	for (unsigned i = PAGE; i < 18 * PAGE; i += 512)
		CHECK(at[i] == 0 && same[i] == 0);
	at[PAGE] = 6;
	CHECK(same[PAGE] == 6);
	CHECK(!madvise(at + PAGE, PAGE, MADV_REMOVE) && same[PAGE] == 0);
	CHECK(same[2 * PAGE] == 0 && same[19 * PAGE] == 5);
}

static void test_hole(void)
{
	int fd = (int)syscall(SYS_memfd_create, "hole", 0), prot = PROT_READ;
	char *own = map(PAGE, PROT_READ | PROT_WRITE), *at, *same;

	CHECK(madvise(own, PAGE, MADV_REMOVE) == -1 && errno == EINVAL);
	munmap(own, PAGE);
	CHECK(madvise(own, PAGE, MADV_REMOVE) == -1 && errno == ENOMEM);
	CHECK(fd >= 0 && !ftruncate(fd, 20 * PAGE));
	own = mmap(NULL, PAGE, prot, MAP_PRIVATE, fd, 0);
	CHECK(madvise(own, PAGE, MADV_REMOVE) == -1 && errno == EACCES);
	munmap(own, PAGE);
	at = mmap(NULL, 20 * PAGE, prot | PROT_WRITE, MAP_SHARED, fd, 0);
	same = mmap(NULL, 20 * PAGE, prot, MAP_SHARED, fd, 0);
	check_hole(at, same);
	munmap(same, 20 * PAGE);
	check_hole(at, at);
	munmap(at, 20 * PAGE);
	close(fd);
	at = mmap(NULL, 20 * PAGE, prot | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check_hole(at, at);
	munmap(at, 20 * PAGE);
}

static int make_file(const char *name, size_t size)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char bytes[PAGE];

	CHECK(fd >= 0);
	for (size_t done = 0; done < size; done += sizeof(bytes)) {
		size_t part = size - done < PAGE ? size - done : PAGE;

		memset(bytes, (int)('a' + done / PAGE), sizeof(bytes));
		CHECK(write(fd, bytes, part) == (ssize_t)part);
	}
	return fd;
}

static void test_files(void)
{
	int fd = make_file("mapped", 3 * PAGE + 100);
	char *own, *shared, byte = 0;

	own = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	shared = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      PAGE);
	CHECK(own != MAP_FAILED && shared != MAP_FAILED);
	CHECK(own[0] == 'a' && own[3 * PAGE] == 'd' && shared[0] == 'b');
	CHECK(own[3 * PAGE + 100] == 0);
	own[PAGE] = 'X';
	CHECK(shared[0] == 'b' && pread(fd, &byte, 1, PAGE) == 1);
	CHECK(byte == 'b');
	shared[1] = 'Y';
	CHECK(pread(fd, &byte, 1, PAGE + 1) == 1 && byte == 'Y');
	CHECK(pwrite(fd, "Z", 1, PAGE + 2) == 1 && shared[2] == 'Z');
	CHECK(!msync(shared, PAGE, MS_SYNC));
	CHECK(own[0] == 'a' && !madvise(own, 2 * PAGE, MADV_DONTNEED));
	CHECK(own[PAGE] == 'b' && own[PAGE + 1] == 'Y');
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 7) == MAP_FAILED);
	CHECK(errno == EINVAL);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 999, 0) == MAP_FAILED);
	CHECK(errno == EBADF);
	munmap(own, 4 * PAGE);
	munmap(shared, 2 * PAGE);
	close(fd);
	fd = open("mapped", O_RDONLY);
	CHECK(mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	CHECK(errno == EACCES);
	close(fd);
}

static void test_end_of_file(void)
{
	int fd = make_file("short", PAGE / 2);
	char *at = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			0);

	CHECK(at != MAP_FAILED && at[0] == 'a' && at[PAGE - 1] == 0);
	CHECK(poke(at + PAGE + 3, 0) == SIGBUS);
	CHECK(last_code == BUS_ADRERR && last_address == at + PAGE + 3);
	CHECK(write(1, at + PAGE, 1) == -1 && errno == EFAULT);
	CHECK(!ftruncate(fd, 2 * PAGE));
	CHECK(poke(at + PAGE, 1) == 0 && at[PAGE] == 1);
	CHECK(poke(at + 2 * PAGE, 1) == SIGBUS);
	munmap(at, 3 * PAGE);
	close(fd);
	unlink("mapped");
	unlink("short");
}

/* Pages that were written are gone when their file is cut, own copies too. */
static void test_cut_file(int kind)
{
	int fd = make_file("cut", 3 * PAGE);
	char *at = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, kind, fd, 0);

	CHECK(at != MAP_FAILED);
	CHECK(poke(at, 1) == 0 && poke(at + PAGE, 1) == 0);
	CHECK(poke(at + 2 * PAGE, 1) == 0);
	CHECK(!ftruncate(fd, PAGE) && getppid() > 0);
	CHECK(at[0] == 1 && poke(at + PAGE, 1) == SIGBUS);
	CHECK(write(1, at + 2 * PAGE, 1) == -1 && errno == EFAULT);
	CHECK(!ftruncate(fd, 2 * PAGE + 1));
	CHECK(at[PAGE] == 0 && at[2 * PAGE] == 0 && at[3 * PAGE - 1] == 0);
	munmap(at, 3 * PAGE);
	close(fd);
	unlink("cut");
}

static void test_brk(void)
{
	char *start = (char *)syscall(SYS_brk, 0), *end;

	end = (char *)syscall(SYS_brk, start + 3 * PAGE + 5);
	CHECK(end == start + 3 * PAGE + 5);
	CHECK(start[0] == 0 && end[-1] == 0);
	memset(start, 1, 3 * PAGE);
	CHECK((char *)syscall(SYS_brk, start + 10) == start + 10);
	CHECK((char *)syscall(SYS_brk, start + 2 * PAGE) == start + 2 * PAGE);
	CHECK(start[PAGE + 100] == 0);
	CHECK((char *)syscall(SYS_brk, 5) == start + 2 * PAGE);
	CHECK((char *)syscall(SYS_brk, start) == start);
}

/* Code that is written, run, and written again. */
static void test_code(void)
{
	char *at = map(PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	int (*function)(void) = (int (*)(void))(void *)at;
	char bytes[ANSWER_SIZE];
	int ends[2];

	write_answer(at, 1);
	CHECK(function() == 1);
	write_answer(at, 2);
	CHECK(function() == 2);
	write_answer(bytes, 3);
	CHECK(!pipe(ends) &&
	      write(ends[1], bytes, sizeof(bytes)) == sizeof(bytes));
	CHECK(read(ends[0], at, sizeof(bytes)) == sizeof(bytes) &&
	      function() == 3);
	CHECK(!mprotect(at, PAGE, PROT_READ | PROT_WRITE));
	last_signal = 0;
	if (!sigsetjmp(back, 1))
		function();
	CHECK(last_signal == SIGSEGV && last_code == SEGV_ACCERR);
	CHECK(last_address == at);
	munmap(at, PAGE);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = jump;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	test_brk();
	test_anonymous();
	test_protection();
	test_last_page();
	test_crossing();
	test_efault();
	test_remap();
	test_discard();
	test_hole();
	test_files();
	test_end_of_file();
	test_cut_file(MAP_SHARED);
	test_cut_file(MAP_PRIVATE);
	test_code();
	return guest_end();
}
