/* SPDX-License-Identifier: GPL-2.0-or-later */
/* looks_arm64.c - in which ways each of its arguments is there */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char mark(int failed)
{
	return failed ? '-' : '+';
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char target[100] = "";
		struct stat file;

		printf("%s: stat%c", argv[i], mark(stat(argv[i], &file)));
		printf(" lstat%c", mark(lstat(argv[i], &file)));
		printf(" access%c", mark(access(argv[i], F_OK)));
		printf(" open%c", mark(open(argv[i], O_RDONLY) < 0));
		printf(" link%c", mark(readlink(argv[i], target,
						sizeof(target) - 1) < 0));
		printf("%s chdir%c\n", target, mark(chdir(argv[i])));
	}
	return 0;
}
