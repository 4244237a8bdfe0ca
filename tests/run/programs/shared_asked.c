/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shared_asked.c - shared memory whose past is known by construction
 *
 * usage: shared_asked KIND STORY FILE
 *
 * KIND says what is mapped: anonymous memory, FILE, a memfd, or a segment of
 * System V; STORY who uses it.  Marks are calls of getppid(2), after each of
 * which tests/run/query_shared.py asks what the memory holds.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 8
#define SIZE (PAGES * 4096)
#define PLACE ((void *)0x20000000)
#define OTHER_PLACE ((void *)0x21000000)

static volatile uint8_t *at;
static int file = -1;

static void mark(void)
{
	syscall(SYS_getppid);
}

static void check(int good, const char *what)
{
	if (!good) {
		perror(what);
		_exit(1);
	}
}

static volatile uint8_t *page(int number)
{
	return at + 4096 * number;
}

static void spin(unsigned count)
{
	for (volatile unsigned i = 0; i < count; i++)
		;
}

static void *map_file(int fd, void *place)
{
	check(fd >= 0 && !ftruncate(fd, SIZE), "file");
	file = fd;
	return mmap(place, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		    fd, 0);
}

static void *attach(void)
{
	int id = shmget(IPC_PRIVATE, SIZE, 0600);
	void *place = shmat(id, PLACE, 0);

	shmctl(id, IPC_RMID, NULL);
	return place;
}

static void map(const char *kind, const char *name)
{
	void *place = MAP_FAILED;

	if (!strcmp(kind, "anonymous"))
		place = mmap(PLACE, SIZE, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	else if (!strcmp(kind, "file"))
		place = map_file(open(name, O_RDWR | O_CREAT | O_TRUNC, 0600),
				 PLACE);
	else if (!strcmp(kind, "memfd"))
		place = map_file(memfd_create("asked", 0), PLACE);
	else if (!strcmp(kind, "sysv"))
		place = attach();
	check(place == PLACE, kind);
	at = place;
}

/* ------- nobody else has it ------- */

static void one(const char *name)
{
	int from = open(name, O_RDONLY);

	check(from >= 0, name);
	mark();					/* 0 */
	*page(0) = 1;
	*page(1) = 2;
	mark();					/* 1 */
	spin(3000);
	mark();					/* 2 */
	spin(*page(1));
	/* The kernel writes, and nobody looks. */
	check(read(from, (void *)page(2), 100) == 100, "read");
	check(read(from, (void *)page(1), 3) == 3, "read");
	mark();					/* 3 */
	if (file >= 0)
		check(pwrite(file, "written", 7, 3 * 4096) == 7, "pwrite");
	mark();					/* 4 */
	spin(3000);
	*page(0) = 5;
	mark();					/* 5 */
	/* More than is told before somebody looks. */
	check(pread(from, (void *)page(0), SIZE, 1) == SIZE, "pread");
	mark();					/* 6 */
	spin(3000);
	mark();					/* 7 */
	spin(*page(4));
	mark();					/* 8 */
}

/* ------- two take turns ------- */

static int to_child[2], to_parent[2];

static void let(int *ends)
{
	check(write(ends[1], "", 1) == 1, "write");
}

static void wait_for(int *ends)
{
	char byte;

	check(read(ends[0], &byte, 1) == 1, "read");
}

static void child(void)
{
	wait_for(to_child);
	mark();					/* 0 */
	spin(*page(0));
	*page(0) = 11;
	*page(2) = 12;
	mark();					/* 1 */
	spin(3000);
	let(to_parent);
	wait_for(to_child);
	mark();					/* 2 */
	*page(0) = 31;
	mark();					/* 3 */
	let(to_parent);
	_exit(0);
}

static void two(void)
{
	int status;

	check(!pipe(to_child) && !pipe(to_parent), "pipe");
	*page(0) = 1;
	*page(1) = 2;
	mark();					/* 0 */
	if (!fork())
		child();
	mark();					/* 1 */
	let(to_child);
	wait_for(to_parent);
	mark();					/* 2 */
	spin(*page(0));
	mark();					/* 3 */
	*page(0) = 21;
	*page(1) = 22;
	mark();					/* 4 */
	spin(3000);
	mark();					/* 5 */
	let(to_child);
	wait_for(to_parent);
	mark();					/* 6 */
	spin(3000);
	mark();					/* 7 */
	spin(*page(0));
	mark();					/* 8 */
	check(wait(&status) > 0 && !status, "wait");
	mark();					/* 9 */
}

/* ------- it is mapped twice ------- */

static void twice(void)
{
	volatile uint8_t *other = mmap(OTHER_PLACE, SIZE,
				       PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_FIXED, file, 0);

	check(other == OTHER_PLACE, "mmap");
	mark();					/* 0 */
	*page(0) = 1;
	other[4096] = 2;
	mark();					/* 1 */
	spin(3000);
	mark();					/* 2 */
	other[0] = 3;
	mark();					/* 3 */
	check(!munmap(OTHER_PLACE, SIZE), "munmap");
	mark();					/* 4 */
}

int main(int argc, char **argv)
{
	check(argc == 4, "usage");
	map(argv[1], argv[3]);
	if (!strcmp(argv[2], "one"))
		one(argv[0]);
	else if (!strcmp(argv[2], "two"))
		two();
	else
		twice();
	return 0;
}
