/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks.c - says which blocks it has, at several times
 *
 * Each line is "ADDRESS SIZE", and one that begins with '=' ends a list.  It
 * writes without a buffer, and so without any other block.  Threads allocate
 * and free at random, also each other's blocks; with an argument, there are
 * none.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS 300
#define THREADS 3

static struct {
	char *addr;
	size_t size;
} blocks[BLOCKS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static unsigned next(unsigned *random)
{
	*random = *random * 1664525 + 1013904223;
	return *random >> 8;
}

/* Mostly small ones. */
static size_t size_of(unsigned *random)
{
	unsigned shift = next(random) % 18;

	return next(random) % (1u << shift);
}

static char *allocate(unsigned how, size_t *size)
{
	void *addr = NULL;

	switch (how % 5) {
	case 0:
		*size *= 3;
		return calloc(3, *size / 3);
	case 1:
		return posix_memalign(&addr, 64, *size) ? NULL : addr;
	case 2:
		*size = (*size + 255) / 256 * 256;
		return aligned_alloc(256, *size);
	default:
		return malloc(*size);
	}
}

static void change(unsigned i, unsigned *random)
{
	size_t size = size_of(random);

	if (blocks[i].addr && next(random) % 3) {
		free(blocks[i].addr);
		blocks[i].addr = NULL;
		return;
	}
	if (blocks[i].addr)
		blocks[i].addr = realloc(blocks[i].addr, size += 1);
	else
		blocks[i].addr = allocate(next(random), &size);
	blocks[i].size = size;
	memset(blocks[i].addr, (int)i, size);
}

static void *work(void *seed)
{
	unsigned random = (unsigned)(uintptr_t)seed;

	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&mutex);
		change(next(&random) % BLOCKS, &random);
		pthread_mutex_unlock(&mutex);
		/* Not under the lock: others are in the allocator, too. */
		free(malloc(next(&random) % 500));
	}
	return NULL;
}

static void tell(void)
{
	char line[64];

	for (int i = 0; i < BLOCKS; i++)
		if (blocks[i].addr)
			write(1, line, (size_t)snprintf(
				line, sizeof(line), "%#lx %zu\n",
				(unsigned long)(uintptr_t)blocks[i].addr,
				blocks[i].size));
	write(1, "=\n", 2);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	unsigned random = 1;

	(void)argv;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 300; i++)
			change(next(&random) % BLOCKS, &random);
		tell();
	}
	for (uintptr_t i = 0; i < THREADS && argc == 1; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 7));
	for (int i = 0; i < THREADS && argc == 1; i++)
		pthread_join(threads[i], NULL);
	tell();
	return 0;
}
