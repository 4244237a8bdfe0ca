/* SPDX-License-Identifier: GPL-2.0-or-later */
/* before.c - becomes the program that its arguments name, if there are any */
#include <stdio.h>
#include <unistd.h>

volatile long both = 11;
volatile long only_before = 12;

int main(int argc, char **argv)
{
	both++;
	only_before += both;
	if (argc < 2)
		return 0;
	execv(argv[1], argv + 1);
	perror(argv[1]);
	return 1;
}
