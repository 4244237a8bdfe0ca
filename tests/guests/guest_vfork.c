/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_vfork.c - a child of vfork() has its parent's address space */
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/guests/guest.h"

enum { PAGE = 4096, MANY = 700 };

#define BOTH (PROT_READ | PROT_WRITE)
#define NEW (MAP_PRIVATE | MAP_ANONYMOUS)

static char *program;
static char *volatile at, *volatile other;	/* from child to parent */
static sigjmp_buf back;

static void jump(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	siglongjmp(back, 1);
}

__attribute__((noinline)) static int can(char *to, int write)
{
	if (sigsetjmp(back, 1))
		return 0;
	if (write)
		*(volatile char *)to = 1;
	else
		(void)*(volatile char *)to;
	return 1;
}

static char *map(unsigned pages)
{
	return mmap(NULL, pages * PAGE, BOTH, NEW, -1, 0);
}

__attribute__((noinline)) static int in_child(void (*work)(void))
{
	pid_t pid = vfork();

	if (!pid) {
		work();
		_exit(7);
	}
	return end_of(pid);
}

/* ------- single calls ------- */

static void do_map(void)
{
	at = map(3);
	at[PAGE] = 5;
	other = map(1);
	munmap(other, PAGE);
}

static void do_unmap(void)
{
	munmap(at, PAGE);
	mprotect(at + PAGE, PAGE, PROT_READ);
	at[2 * PAGE] = 9;
}

static void do_protect(void)
{
	/* A hole is before and behind. */
	mprotect(at + PAGE, 3 * PAGE, BOTH);
	mprotect(at, PAGE, PROT_READ);
}

static void test_single(void)
{
	CHECK(in_child(do_map) == 7);
	CHECK(can(at, 0) && at[PAGE] == 5 && at[0] == 0);
	CHECK(can(at + 2 * PAGE, 1) && !can(other, 0));
	CHECK(in_child(do_unmap) == 7);
	CHECK(!can(at, 0) && at[PAGE] == 5 && at[2 * PAGE] == 9);
	CHECK(!can(at + PAGE, 1) && can(at + 2 * PAGE, 1));
	CHECK(in_child(do_protect) == 7 && can(at + PAGE, 1));
	munmap(at, 3 * PAGE);
}

static void do_move(void)
{
	at = mremap(at, 2 * PAGE, 200 * PAGE, MREMAP_MAYMOVE);
	at[199 * PAGE] = 3;
	madvise(other, PAGE, MADV_DONTNEED);
}

static void test_moved(void)
{
	at = map(3);
	at[5] = 1;
	at[2 * PAGE] = 2;
	other = map(2);
	memset(other, 4, 2 * PAGE);
	CHECK(in_child(do_move) == 7);
	CHECK(at[5] == 1 && at[2 * PAGE] == 0 && at[199 * PAGE] == 3);
	CHECK(other[0] == 0 && other[PAGE] == 4);
	munmap(at, 200 * PAGE);
	munmap(other, 2 * PAGE);
}

static void do_brk(void)
{
	other = (char *)syscall(SYS_brk, at + 3 * PAGE);
	at[2 * PAGE] = 8;
}

static void test_brk(void)
{
	at = (char *)syscall(SYS_brk, 0);
	CHECK(in_child(do_brk) == 7);
	CHECK(other == at + 3 * PAGE && (char *)syscall(SYS_brk, 0) == other);
	CHECK(can(at + PAGE, 1) && at[2 * PAGE] == 8);
	CHECK((char *)syscall(SYS_brk, at) == at);
}

/* ------- what is mapped ------- */

static void do_files(void)
{
	int fd = (int)syscall(SYS_memfd_create, "child's", 0);

	if (pwrite(fd, "file", 4, PAGE) != 4)
		_exit(1);
	at = mmap(NULL, 3 * PAGE, BOTH, MAP_PRIVATE, fd, 0);
	other = mmap(NULL, 2 * PAGE, BOTH, MAP_SHARED, fd, 0);
	at[PAGE] = 'm';
	other[0] = 's';
	close(fd);
}

static void do_shared(void)
{
	int id = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600);

	at = mmap(NULL, 2 * PAGE, BOTH, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	at[PAGE] = 6;
	other = shmat(id, NULL, 0);
	other[1] = 7;
	shmctl(id, IPC_RMID, NULL);
}

/* More than is sent at once, and read by the kernel. */
static void do_many(void)
{
	int fd = open(program, O_RDONLY);

	at = map(MANY);
	for (int i = 0; i < MANY; i += 2)
		at[i * PAGE] = (char)(i / 2 + 1);
	other = map(3);
	if (read(fd, other, 2 * PAGE) != 2 * PAGE)
		_exit(1);
	close(fd);
}

/* It is removed, and only the child has it when it ends. */
static void do_attach(void)
{
	int id = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600);

	other = shmat(id, NULL, 0);
	other[1] = 8;
	shmctl(id, IPC_RMID, NULL);
}

static void test_attached(void)
{
	for (int i = 0; i < 20; i++) {
		CHECK(in_child(do_attach) == 7);
		CHECK(can(other, 0) && other[1] == 8 && !shmdt(other));
	}
}

static void test_kinds(void)
{
	int wrong = 0;

	CHECK(in_child(do_files) == 7);
	CHECK(!memcmp(at + PAGE, "mile", 4) && at[0] == 's');
	CHECK(!memcmp(other + PAGE, "file", 4) && other[0] == 's');
	CHECK(!can(at + 2 * PAGE, 0));
	CHECK(in_child(do_shared) == 7);
	CHECK(at[0] == 0 && at[PAGE] == 6 && other[0] == 0 && other[1] == 7);
	CHECK(!shmdt(other));
	CHECK(in_child(do_many) == 7);
	for (int i = 0; i < MANY; i++)
		wrong += at[i * PAGE] != (i % 2 ? 0 : (char)(i / 2 + 1));
	CHECK(!wrong);
	CHECK(!memcmp(other, "\177ELF", 4) && other[2 * PAGE] == 0);
}

/* ------- how it ends ------- */

static void do_exec(void)
{
	at = map(1);
	at[1] = 2;
	execl(program, program, "exit", (char *)NULL);
}

static void do_die(void)
{
	at = map(1);
	at[1] = 3;
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGTERM);
}

static void do_nested(void)
{
	in_child(do_map);
	at[2 * PAGE] = at[PAGE];
}

static void test_ends(void)
{
	CHECK(in_child(do_exec) == 5 && at[1] == 2);
	CHECK(in_child(do_die) == 1000 + SIGTERM && at[1] == 3);
	CHECK(in_child(do_nested) == 7 && at[PAGE] == 5);
	CHECK(at[2 * PAGE] == 5);
}

/* One that only has its parent wait. */
static void test_not_shared(void)
{
	static volatile int changed;
	char *volatile mine = map(1);
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0,
				   0);

	if (!pid) {
		changed = 1;
		munmap(mine, PAGE);
		_exit(0);
	}
	CHECK(end_of(pid) == 0 && !changed && can(mine, 1));
	munmap(mine, PAGE);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return 5;
	program = argv[0];
	install(SIGSEGV, jump, 0);
	install(SIGBUS, jump, 0);
	test_single();
	test_moved();
	test_brk();
	test_kinds();
	test_attached();
	test_ends();
	test_not_shared();
	return guest_end();
}
