/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inlined.c - an allocator that begins with a function that is inlined in it
 */
#include <stddef.h>

static char room[256];
static size_t used;

static inline __attribute__((always_inline)) void *take(size_t size)
{
	void *block = room + used;

	used += size;
	return used <= sizeof(room) ? block : NULL;
}

__attribute__((noinline)) void *je_malloc(size_t size)
{
	return take(size);
}

__attribute__((noinline)) static char *middle(size_t size)
{
	char *block = je_malloc(size); /* allocated: block */

	*block = 1;
	return block;
}

int main(void)
{
	return !middle(24);
}
