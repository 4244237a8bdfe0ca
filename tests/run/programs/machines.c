/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machines.c - says how it was called, and executes the rest of its arguments
 *
 * "a b , c d": a is told b, and then executes c, which is told d.
 */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct utsname about;
	int i = 0;

	uname(&about);
	printf("%s:", about.machine);
	for (; i < argc && strcmp(argv[i], ",") != 0; i++)
		printf(" %s", argv[i]);
	printf("\n");
	fflush(stdout);
	if (i + 1 >= argc)
		return 0;
	execv(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 1;
}
