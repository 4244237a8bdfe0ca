/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_twins.c - memory that one process has at several addresses */
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/guests/guest.h"
#include "tests/guests/guest_machine.h"

enum { PAGE = 4096, PAGES = 4 };

static int make_file(size_t pages)
{
	int fd = memfd_create("twins", 0);

	CHECK(fd >= 0 && !ftruncate(fd, (off_t)(pages * PAGE)));
	return fd;
}

static uint8_t *map_part(int fd, size_t pages, size_t first, int prot)
{
	uint8_t *at = mmap(NULL, pages * PAGE, prot, MAP_SHARED, fd,
			   (off_t)(first * PAGE));

	CHECK(at != MAP_FAILED);
	return at;
}

static uint8_t *map(int fd, size_t pages, int prot)
{
	return map_part(fd, pages, 0, prot);
}

static uint64_t load(const void *at)
{
	return __atomic_load_n((const uint64_t *)at, __ATOMIC_SEQ_CST);
}

static void store(void *at, uint64_t value)
{
	__atomic_store_n((uint64_t *)at, value, __ATOMIC_SEQ_CST);
}

/* Long enough that segments end in between. */
static uint64_t work(uint64_t seed)
{
	for (volatile int i = 0; i < 400; i++)
		seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed;
}

/* Each sees what is written through the other. */
static void go_to_and_fro(uint8_t *one, uint8_t *other, size_t size)
{
	uint64_t value = 1;
	unsigned wrong = 0;

	for (size_t i = 0; i < 64; i++) {
		size_t at = i * 264 % (size - 8) & ~(size_t)7;

		value = work(value);
		store(one + at, value);
		wrong += load(other + at) != value;
		store(other + at, ~value);
		wrong += load(one + at) != ~value;
	}
	CHECK(wrong == 0);
}

static void test_two(void)
{
	int fd = make_file(PAGES);
	uint8_t *one = map(fd, PAGES, PROT_READ | PROT_WRITE);
	uint8_t *other;

	store(one, 11);
	store(one + 2 * PAGE, 12);
	other = map(fd, PAGES, PROT_READ | PROT_WRITE);
	CHECK(load(other) == 11 && load(other + 2 * PAGE) == 12);
	go_to_and_fro(one, other, PAGES * PAGE);
	/* The first one goes, whole or in parts. */
	store(one + 3 * PAGE, 13);
	CHECK(!munmap(one + PAGE, PAGE));
	store(one, work(1));
	CHECK(load(other) == work(1));
	store(other + PAGE, 14);
	CHECK(!munmap(one, PAGES * PAGE));
	CHECK(load(other + 3 * PAGE) == 13 && load(other + PAGE) == 14);
	store(other, work(2));
	one = map(fd, PAGES, PROT_READ | PROT_WRITE);
	CHECK(load(one) == work(2) && load(one + PAGE) == 14);
	go_to_and_fro(other, one, PAGES * PAGE);
	CHECK(!munmap(other, PAGES * PAGE) && !munmap(one, PAGES * PAGE));
	one = map(fd, PAGES, PROT_READ | PROT_WRITE);
	CHECK(load(one + PAGE) != 0);
	store(one, 15);
	CHECK(load(one) == 15 && !munmap(one, PAGES * PAGE));
	close(fd);
}

/* Parts that overlap; files that are called alike. */
static void test_parts(void)
{
	int fd = make_file(8), other_fd = make_file(8);
	uint8_t *low = map_part(fd, 5, 0, PROT_READ | PROT_WRITE);
	uint8_t *high = map_part(fd, 5, 3, PROT_READ | PROT_WRITE);
	uint8_t *alike = map_part(other_fd, 8, 0, PROT_READ | PROT_WRITE);
	uint8_t *all;

	for (int i = 0; i < 5; i++) {
		store(low + i * PAGE, 100 + (uint64_t)i);
		store(high + i * PAGE + 8, 200 + (uint64_t)i);
	}
	CHECK(load(high) == 103 && load(high + PAGE) == 104);
	CHECK(load(low + 3 * PAGE + 8) == 200);
	all = map_part(fd, 8, 0, PROT_READ | PROT_WRITE);
	for (int i = 0; i < 5; i++) {
		CHECK(load(all + i * PAGE) == 100 + (uint64_t)i);
		CHECK(load(all + (i + 3) * PAGE + 8) == 200 + (uint64_t)i);
	}
	for (int i = 0; i < 8; i++)
		CHECK(load(alike + i * PAGE) == 0);
	/* What happens to one of them does not to the other. */
	CHECK(!ftruncate(other_fd, 2 * PAGE) && load(low + 4 * PAGE) == 104);
	CHECK(pwrite(other_fd, "alike", 5, 5 * PAGE) == 5);
	CHECK(!memcmp(alike + 5 * PAGE, "alike", 5));
	CHECK(load(all + 5 * PAGE) == 0 && !ftruncate(other_fd, 8 * PAGE));
	/* One in the place of another, of itself, and of its neighbour. */
	CHECK(mmap(all, 8 * PAGE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_FIXED, fd, 0) == all);
	CHECK(load(all + 4 * PAGE) == 104);
	CHECK(mmap(all, 2 * PAGE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_FIXED, fd, 6 * PAGE) == all);
	store(all, 300);
	CHECK(load(high + 3 * PAGE) == 300 && load(all + 6 * PAGE) == 300);
	CHECK(mmap(high, 5 * PAGE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_FIXED, other_fd, 0) == high);
	store(high, 400);
	CHECK(load(alike) == 400 && load(all + 6 * PAGE) == 300);
	CHECK(!munmap(low, 5 * PAGE) && !munmap(high, 5 * PAGE));
	CHECK(!munmap(all, 8 * PAGE) && !munmap(alike, 8 * PAGE));
	close(fd);
	close(other_fd);
}

/* A ring whose end is its beginning, so that what wraps is in a row. */
static void test_ring(void)
{
	size_t size = 2 * PAGE;
	int fd = make_file(2);
	uint8_t *ring = mmap(NULL, 2 * size, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned wrong = 0;
	char text[100];

	CHECK(mmap(ring, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		   fd, 0) == ring);
	CHECK(mmap(ring + size, size, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_FIXED, fd, 0) == ring + size);
	for (unsigned i = 0, at = 0; i < 300; i++) {
		int length = snprintf(text, sizeof(text),
				      "message number %u in the ring", i);

		memcpy(ring + at, text, (size_t)length + 1);
		wrong += strcmp((char *)ring + (at + size) % (2 * size),
				text) != 0 && at + (unsigned)length < size;
		wrong += strcmp((char *)ring + at, text) != 0;
		at = (at + (unsigned)length + 1) % size;
	}
	CHECK(wrong == 0);
	/* The kernel writes across the end. */
	CHECK(pread(fd, ring + size - 16, 32, 0) == 32);
	CHECK(!memcmp(ring, ring + size, size));
	CHECK(!munmap(ring, 2 * size));
	close(fd);
}

/* ------- code ------- */

static unsigned call(const uint8_t *at)
{
	unsigned (*function)(void);

	memcpy(&function, &at, sizeof(at));
	return function();
}

/* Written through one mapping, executed through the other. */
static void test_code(void)
{
	int fd = make_file(2);
	uint8_t *text = map(fd, 2, PROT_READ | PROT_EXEC);
	uint8_t *data = map(fd, 2, PROT_READ | PROT_WRITE);
	uint8_t code[ANSWER_SIZE];
	unsigned wrong = 0;

	for (unsigned i = 0; i < 200; i++) {
		write_answer(data + 64 * (i % 3), i);
		wrong += call(text + 64 * (i % 3)) != i;
		write_answer(data + PAGE - ANSWER_CUT, i + 7);
		wrong += call(text + PAGE - ANSWER_CUT) != i + 7;
	}
	CHECK(wrong == 0);
	/* By the kernel, and with the protection of the other changed. */
	write_answer(data + 512, 5);
	CHECK(call(text + 512) == 5);
	write_answer(code, 9);
	CHECK(pwrite(fd, code, sizeof(code), 512) == sizeof(code));
	CHECK(call(text + 512) == 9);
	CHECK(!mprotect(data, 2 * PAGE, PROT_READ));
	CHECK(call(text + 512) == 9);
	CHECK(!mprotect(data, 2 * PAGE, PROT_READ | PROT_WRITE));
	write_answer(data + 512, 10);
	CHECK(call(text + 512) == 10);
	CHECK(!mprotect(text, 2 * PAGE, PROT_NONE));
	write_answer(data + 512, 11);
	CHECK(!mprotect(text, 2 * PAGE, PROT_READ | PROT_EXEC));
	CHECK(call(text + 512) == 11);
	/* By another process; and looked at before it is executed. */
	for (unsigned i = 12; i < 16; i++) {
		pid_t pid = fork();

		if (!pid) {
			write_answer(data + 512, i);
			_exit(call(text + 512) != i);
		}
		CHECK(end_of(pid) == 0);
		write_answer(code, i);
		CHECK(i % 2 || !memcmp(data + 512, code, sizeof(code)));
		CHECK(call(text + 512) == i);
	}
	write_answer(data + 512, 11);
	CHECK(!munmap(data, 2 * PAGE));
	CHECK(call(text + 512) == 11);
	CHECK(!munmap(text, 2 * PAGE));
	close(fd);
}

/* ------- other ways to come by a twin ------- */

static void test_mremap(void)
{
	uint8_t *one = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint8_t *other, *moved;

	store(one + PAGE, 21);
	other = mremap(one, 0, PAGES * PAGE, MREMAP_MAYMOVE);
	CHECK(other != MAP_FAILED && other != one);
	CHECK(load(other + PAGE) == 21);
	go_to_and_fro(one, other, PAGES * PAGE);
	moved = mmap(NULL, PAGES * PAGE, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(mremap(one, PAGES * PAGE, PAGES * PAGE,
		     MREMAP_MAYMOVE | MREMAP_FIXED, moved) == moved);
	go_to_and_fro(moved, other, PAGES * PAGE);
	CHECK(mremap(other, PAGES * PAGE, 2 * PAGE, 0) == other);
	store(moved + 3 * PAGE, 22);
	go_to_and_fro(other, moved, 2 * PAGE);
	/* What is private cannot be had twice. */
	one = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(mremap(one, 0, PAGE, MREMAP_MAYMOVE) == MAP_FAILED);
	CHECK(errno == EINVAL);
	CHECK(!munmap(one, PAGE) && !munmap(other, 2 * PAGE));
	CHECK(load(moved + 3 * PAGE) == 22);
	CHECK(!munmap(moved, PAGES * PAGE));
}

/* Opened once for reading, once for writing; written to by calls. */
static void test_file(void)
{
	char name[] = "twins-XXXXXX";
	int fd = mkstemp(name), reading = open(name, O_RDONLY);
	const uint8_t *seen;
	uint8_t *at;

	CHECK(fd >= 0 && reading >= 0 && !unlink(name));
	CHECK(!ftruncate(fd, 2 * PAGE));
	seen = map(reading, 2, PROT_READ);
	CHECK(load(seen) == 0);
	at = map(fd, 2, PROT_READ | PROT_WRITE);
	store(at + PAGE, work(3));
	CHECK(load(seen + PAGE) == work(3));
	CHECK(pwrite(fd, "written!", 8, 16) == 8);
	CHECK(!memcmp(seen + 16, "written!", 8));
	CHECK(!memcmp(at + 16, "written!", 8));
	CHECK(pread(fd, at + PAGE + 64, 8, 16) == 8);
	CHECK(!memcmp(seen + PAGE + 64, "written!", 8));
	CHECK(pread(fd, (void *)(uintptr_t)seen, 8, 0) < 0 && errno == EFAULT);
	CHECK(!ftruncate(fd, PAGE) && !ftruncate(fd, 2 * PAGE));
	CHECK(load(seen + PAGE) == 0 && load(at + PAGE + 64) == 0);
	go_to_and_fro(at, at, PAGE);
	CHECK(!memcmp(seen, at, 2 * PAGE));
	CHECK(!munmap(at, 2 * PAGE));
	CHECK(pwrite(fd, "once more", 9, 0) == 9);
	CHECK(!memcmp(seen, "once more", 9));
	close(fd);
	close(reading);
}

/* ------- threads and processes ------- */

static uint32_t *word_one, *word_other;

static long futex(uint32_t *word, int command, uint32_t value)
{
	return syscall(SYS_futex, word, command, value, NULL, NULL, 0);
}

static void *answer(void *unused)
{
	for (uint32_t i = 0; i < 50; i++) {
		while (__atomic_load_n(word_other, __ATOMIC_SEQ_CST) !=
		       2 * i + 1)
			futex(word_other, FUTEX_WAIT, 2 * i);
		__atomic_store_n(word_other, 2 * i + 2, __ATOMIC_SEQ_CST);
		futex(word_other, FUTEX_WAKE, INT_MAX);
	}
	return unused;
}

static void ask(void)
{
	for (uint32_t i = 0; i < 50; i++) {
		__atomic_store_n(word_one, 2 * i + 1, __ATOMIC_SEQ_CST);
		futex(word_one, FUTEX_WAKE, INT_MAX);
		while (__atomic_load_n(word_one, __ATOMIC_SEQ_CST) !=
		       2 * i + 2)
			futex(word_one, FUTEX_WAIT, 2 * i + 1);
	}
}

static void test_threads_and_processes(void)
{
	int fd = make_file(2);
	pthread_t thread;
	pid_t pid;

	word_one = (uint32_t *)(void *)map(fd, 2, PROT_READ | PROT_WRITE);
	word_other = (uint32_t *)(void *)map(fd, 2, PROT_READ | PROT_WRITE);
	CHECK(!pthread_create(&thread, NULL, answer, NULL));
	ask();
	CHECK(!pthread_join(thread, NULL));
	*word_one = 0;
	pid = fork();
	if (!pid) {
		answer(NULL);
		word_other[700] = 31;
		word_one[1025] = 32;
		_exit(0);
	}
	ask();
	CHECK(end_of(pid) == 0);
	CHECK(word_one[700] == 31 && word_other[1025] == 32);
	CHECK(!munmap(word_one, 2 * PAGE));
	pid = fork();
	if (!pid) {
		uint32_t *again = (uint32_t *)(void *)map(
			fd, 2, PROT_READ | PROT_WRITE);

		again[3] = 33;
		_exit(word_other[3] != 33);
	}
	CHECK(end_of(pid) == 0);
	CHECK(word_other[3] == 33);
	CHECK(!munmap(word_other, 2 * PAGE));
	close(fd);
}

int main(void)
{
	test_two();
	test_parts();
	test_ring();
	test_code();
	test_mremap();
	test_file();
	test_threads_and_processes();
	return guest_end();
}
