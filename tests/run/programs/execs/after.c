/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * after.c - has a variable of the same name as before.c, and one of another;
 * becomes the program that its arguments name, if there are any
 */
#include <stdio.h>
#include <unistd.h>

char in_front[200] = "so that addresses differ";
volatile long both = 21;
volatile long only_after = 22;

int main(int argc, char **argv)
{
	both++;
	only_after += both + in_front[0];
	if (argc < 2)
		return 0;
	execv(argv[1], argv + 1);
	perror(argv[1]);
	return 1;
}
