/* SPDX-License-Identifier: GPL-2.0-or-later */
/* maps.c - prints its own mappings, of several kinds */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char text[65536];

/* Reads all before it writes any of it: then it does not change. */
static void print_maps(void)
{
	int fd = open("/proc/self/maps", O_RDONLY);
	size_t size = 0;
	ssize_t got;

	while ((got = read(fd, text + size, sizeof(text) - size)) > 0)
		size += (size_t)got;
	close(fd);
	if (write(1, text, size) != (ssize_t)size)
		exit(1);
}

int main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_RDONLY);
	char *memory;

	print_maps();
	memory = mmap(NULL, 16 * 4096, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(memory + 4096, 4096, PROT_READ);
	mprotect(memory + 3 * 4096, 4096, PROT_NONE);
	munmap(memory + 6 * 4096, 4096);
	mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 4096);
	mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	     -1, 0);
	free(malloc(300000));
	memset(sbrk(100000), 1, 100000);
	print_maps();
	return 0;
}
