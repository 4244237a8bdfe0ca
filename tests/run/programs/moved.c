/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moved.c - writes one variable by an instruction, a string, the kernel, a call
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

long watched;
long others[64];

static __attribute__((noinline)) void by_instruction(long value)
{
	watched = value;
}

static __attribute__((noinline)) void by_string(const long *from)
{
	long *to = &watched, count = 1;

	__asm__ volatile("rep movsq" : "+S"(from), "+D"(to), "+c"(count)
			 : : "memory");
}

/* The kernel writes: no instruction of the program does. */
static __attribute__((noinline)) void by_kernel(int fd)
{
	if (pread(fd, &watched, sizeof(watched), 0) != sizeof(watched))
		_exit(1);
}

static __attribute__((noinline)) void not_at_all(long value)
{
	others[value % 64] += value;
}

int main(int argc, char **argv)
{
	int fd = open(argv[0], O_RDONLY);

	(void)argc;
	for (long i = 1; i <= 300; i++) {
		not_at_all(i);
		if (i % 3 == 0)
			by_instruction(i);
		if (i % 7 == 0)
			by_string(&others[i % 64]);
		if (i % 50 == 0)
			by_kernel(fd);
	}
	return 0;
}
