/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shown_twice.c - maps memory twice, where a program's start maps nothing */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE (1 << 16)	/* finds no room among what is mapped there */

static char *map(int fd)
{
	return mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

int main(void)
{
	int fd = memfd_create("shown", 0);
	char *one, *other;

	if (fd < 0 || ftruncate(fd, SIZE))
		return 1;
	one = map(fd);
	other = map(fd);
	if (one == MAP_FAILED || other == MAP_FAILED)
		return 1;
	memcpy(one, "shown", 6);
	puts(other);
	return 0;
}
