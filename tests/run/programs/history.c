/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history.c - memory that is accessed in all ways: see history.py
 *
 * Each step prints a line before it, so that the test finds its time; the
 * places are static, or at fixed addresses.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACE ((volatile char *)0x10000000)
#define TWIN ((volatile char *)0x10100000)
#define PAGE 4096

static volatile int counter;
static char buffer[64], large[300000];
static volatile int by_threads[2];
static int outside[2];

static void *count(void *which)
{
	int *mine = (int *)which;

	for (int i = 0; i < 3; i++) {
		(*mine)++;
		usleep(1000);
	}
	return NULL;
}

static void kernel_writes(void)
{
	int fd = open("/proc/self/cmdline", O_RDONLY);

	buffer[0] = 'a';
	if (read(fd, buffer, 10) != 10)
		_exit(3);
	close(fd);
	fd = open("/dev/zero", O_RDONLY);
	memset(large, 'x', sizeof(large));
	if (read(fd, large + 100, sizeof(large) - 200) < 0)
		_exit(4);
	close(fd);
}

static void map_and_unmap(void)
{
	for (int i = 1; i < 3; i++) {
		mmap((void *)PLACE, PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		PLACE[8] = (char)i;
		munmap((void *)PLACE, PAGE);
	}
	mmap((void *)PLACE, PAGE, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	PLACE[8] = 7;
	madvise((void *)PLACE, PAGE, MADV_DONTNEED);
	PLACE[8] = 8;
	mremap((void *)PLACE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)TWIN);
	TWIN[8] = 9;
	munmap((void *)TWIN, PAGE);
}

/* One memory at two places. */
static void map_twice(void)
{
	mmap((void *)PLACE, PAGE, PROT_READ | PROT_WRITE,
	     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	mremap((void *)PLACE, 0, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)TWIN);
	PLACE[16] = 1;
	TWIN[16] = 2;
	PLACE[16] = 3;
}

static void fork_and_write(void)
{
	pid_t child = fork();

	if (!child) {
		outside[1] = 99;
		PLACE[24] = 5;
		_exit(0);
	}
	waitpid(child, NULL, 0);
	outside[0] = PLACE[24];
	PLACE[24] = 6;
}

int main(void)
{
	pthread_t threads[2];

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < 10; i++)
		counter = counter * 3 + i / 2;
	counter += 0;
	puts("kernel");
	kernel_writes();
	puts("map");
	map_and_unmap();
	puts("twice");
	map_twice();
	puts("fork");
	fork_and_write();
	puts("threads");
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, count,
			       (void *)(uintptr_t)&by_threads[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d %d %d\n", counter, by_threads[0], outside[0]);
	return 0;
}
