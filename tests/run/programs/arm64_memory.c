/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arm64_memory.c - arithmetic, memory, files: what a program does as a rule */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

unsigned sum;

static __attribute__((noinline)) void add(unsigned value)
{
	sum += value;
}

static int compare(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

static void print_sorted(void)
{
	unsigned *numbers = malloc(10000 * sizeof(*numbers)), seed = 1;

	for (int i = 0; i < 10000; i++) {
		seed = seed * 1103515245 + 12345;
		numbers[i] = seed;
	}
	qsort(numbers, 10000, sizeof(*numbers), compare);
	printf("%u %u %u\n", numbers[0], numbers[5000], numbers[9999]);
	memset(numbers, 0, 10000 * sizeof(*numbers));
	for (int i = 0; i < 10000; i++)
		seed |= numbers[i];
	printf("%u\n", seed);
	free(numbers);
}

static void print_floats(void)
{
	double total = 0;

	for (int i = 1; i < 1000; i++)
		total += sqrt(i) / (i + 1.5) - (float)i / 3;
	printf("%.17g %a %Lg\n", total, total / 7, (long double)total / 3);
}

static void use_files(void)
{
	char name[] = "/tmp/cprec-arm64-XXXXXX", text[32] = "";
	int fd = mkstemp(name), folder;
	struct stat file;

	dprintf(fd, "%s\n", "some words");
	fstat(fd, &file);
	printf("%ld bytes, %o, %d link\n", (long)file.st_size, file.st_mode,
	       (int)file.st_nlink);
	lseek(fd, 5, SEEK_SET);
	printf("%d %s", (int)read(fd, text, sizeof(text) - 1), text);
	close(fd);
	folder = open(name, O_RDONLY | O_DIRECTORY);
	printf("a folder: %d\n", folder >= 0);
	unlink(name);
}

int main(int argc, char **argv)
{
	struct utsname about;

	for (unsigned i = 0; i < 1000; i++)
		add(i);
	for (int i = 1; i < argc; i++)
		printf("<%s>", argv[i]);
	uname(&about);
	printf(" on %s: %u\n", about.machine, sum);
	print_sorted();
	print_floats();
	use_files();
	return 42;
}
